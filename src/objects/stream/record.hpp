// SPDX-License-Identifier: Apache-2.0
// Drops records of a full stream. Sending and receiving are in sukima/objects/records.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sukima::objects::detail {

struct stream_core;

/// Takes the oldest record out if the stream still has fewer free slots than wanted.
/// \param scratch receives it
void drop_record(stream_core& s, std::vector<std::byte>& scratch, std::uint64_t wanted);

}  // namespace sukima::objects::detail
