// SPDX-License-Identifier: Apache-2.0
// Exceptions as bytes, for messages between nodes.
#pragma once

#include "transport/transport.hpp"

#include <exception>

namespace sukima::cluster {

/// An exception, for the content of a result or an entry.
/// \param node  this one
bytes write_exception(const std::exception_ptr& thrown, node_id node);
/// Returns the exception to be thrown here: of its own type if the program has registered that with
/// SUKIMA_EXCEPTION, or else a sukima::cluster::remote_exception.
/// \param from  bytes of another node, in any state
std::exception_ptr read_exception(byte_view from);

}  // namespace sukima::cluster
