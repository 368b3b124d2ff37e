// SPDX-License-Identifier: Apache-2.0
// The name of an entry's function. The result of an entry carries it, because a node in another entry must
// not take that result.
#pragma once

#include "transport/transport.hpp"

#include <sukima/cluster.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace sukima::cluster {

/// The function, the types of its arguments and of its result, as the compiler writes them.
std::string name_of(const detail::cluster_entry& called);

/// Appends a name, before the content of a message.
void put_name(bytes& to, std::string_view name);
/// Takes a name from the front. Nothing: there is none.
std::optional<std::string> take_name(byte_view& from);

struct named_call {
  std::string_view name;
  node_id node;  ///< where it is called
};
/// The sentence for two nodes that call different functions in one entry.
std::string sentence_of_difference(std::uint64_t entry, named_call one, named_call other);

}  // namespace sukima::cluster
