// SPDX-License-Identifier: Apache-2.0
// The name of an entry's function. The result of an entry contains this name, so that a node that runs
// another entry does not take that result.
#pragma once

#include "transport/transport.hpp"

#include <sukima/cluster.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace sukima::cluster {

/// Returns the function with the types of its arguments and of its result, as the compiler writes them.
std::string name_of(const detail::cluster_entry& called);

/// Appends a name; the content of the message follows it.
void put_name(bytes& to, std::string_view name);
/// Removes a name from the front of a message. Nothing: there is no complete name.
std::optional<std::string> take_name(byte_view& from);

struct named_call {
  std::string_view name;
  node_id node;  ///< the node that calls it
};
/// Returns the sentence to print if two nodes call different functions in one entry.
std::string sentence_of_difference(std::uint64_t entry, named_call one, named_call other);

}  // namespace sukima::cluster
