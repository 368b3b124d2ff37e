// SPDX-License-Identifier: Apache-2.0
#include "hope/named_task.hpp"

#define XXH_INLINE_ALL 1  // no library is linked for it
#include <xxhash.h>

#include <array>

namespace sukima::cluster::hope {

task_key key_of(std::uint64_t entry, std::uint32_t type, byte_view input) noexcept {
  // The hash of (entry, type) is the seed for the hash of the input. So nothing is copied, and the bytes of
  // the pair cannot be confused with the bytes of the input.
  std::array<unsigned char, 12> place;
  for (unsigned i = 0; i < 8; ++i) place[i] = static_cast<unsigned char>(entry >> (8 * i));
  for (unsigned i = 0; i < 4; ++i) place[8 + i] = static_cast<unsigned char>(type >> (8 * i));
  const XXH128_hash_t of_place = XXH3_128bits(place.data(), place.size());
  const XXH128_hash_t of_input = XXH3_128bits_withSeed(input.data(), input.size(), of_place.low64);
  // With the other half added, the names of one input at different places differ even if the seeds are equal.
  return {of_input.high64 + of_place.high64, of_input.low64};
}

}  // namespace sukima::cluster::hope
