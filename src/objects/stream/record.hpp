// SPDX-License-Identifier: Apache-2.0
// Drops records of a full stream. Sending and receiving are in sukima/objects/records.hpp.
#pragma once

#include <cstddef>
#include <vector>

namespace sukima::objects::detail {

struct stream_core;

/// Takes the oldest record out, if there is one. \param scratch receives it
void drop_record(stream_core& s, std::vector<std::byte>& scratch);

}  // namespace sukima::objects::detail
