// SPDX-License-Identifier: Apache-2.0
// Parts of messages that both tasks and entries of the language use.
#pragma once

#include "transport/transport.hpp"

#include <tascell/shared/segments.hpp>

#include <cstddef>

namespace sukima::cluster {

inline constexpr std::size_t longest_file_name = 4096;

/// Whether a task type that can leave its node has been registered.
bool can_anything_leave() noexcept;

/// Appends how a segment has ended: normally, or with a tag, which is a number, and the place of the throw.
/// Ends the program if a goto out of a closure left the segment, because other nodes do not have its label.
void put_end(const detail::segment_end& end, bytes& to);
/// Reads the end of a segment from the front of the bytes. \throws std::length_error there are too few bytes
detail::segment_end get_end(byte_view& from);

}  // namespace sukima::cluster
