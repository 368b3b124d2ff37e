// SPDX-License-Identifier: Apache-2.0
// Converts exceptions to bytes and back, for messages between nodes.
#pragma once

#include "transport/transport.hpp"

#include <exception>

namespace sukima::cluster {

/// Writes an exception, for the content of a result or an entry.
/// \param node  the number of this node
bytes write_exception(const std::exception_ptr& thrown, node_id node);
/// Returns the exception to be thrown here. It has its own type if the program has registered that type with
/// SUKIMA_EXCEPTION; otherwise it is a sukima::cluster::remote_exception.
/// \param from  bytes from another node; they may be damaged
std::exception_ptr read_exception(byte_view from);

}  // namespace sukima::cluster
