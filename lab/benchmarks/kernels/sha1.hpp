// SPDX-License-Identifier: Apache-2.0
// SHA-1 (FIPS 180-4) of messages of at most 13 words, which fit in one block: the UTS trees need no more. It
// is written out here, because the cost of a digest is the cost of a node there, and must be the same in C++
// and in Rust.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace kernels {

using sha1_digest = std::array<std::uint32_t, 5>;

/// Returns the digest of a message of N big-endian 32-bit words.
template <std::size_t N>
constexpr sha1_digest sha1_of_words(const std::array<std::uint32_t, N>& message) {
  static_assert(N <= 13, "one block holds 13 words, the padding bit and the length");
  std::uint32_t w[16] = {};  // the last 16 words of the schedule, as a ring
  for (std::size_t t = 0; t < N; ++t) w[t] = message[t];
  w[N] = 0x8000'0000U;
  w[15] = 32 * N;

  constexpr sha1_digest start{0x67452301U, 0xefcdab89U, 0x98badcfeU, 0x10325476U, 0xc3d2e1f0U};
  std::uint32_t a = start[0], b = start[1], c = start[2], d = start[3], e = start[4];
  const auto round = [&](std::size_t t, std::uint32_t f, std::uint32_t k) __attribute__((always_inline)) {
    std::uint32_t& word = w[t % 16];
    if (t >= 16) word = std::rotl(w[(t + 13) % 16] ^ w[(t + 8) % 16] ^ w[(t + 2) % 16] ^ word, 1);
    const std::uint32_t next = std::rotl(a, 5) + f + e + k + word;
    e = d, d = c, c = std::rotl(b, 30), b = a, a = next;
  };
  // Unrolled, so that the schedule and the five words stay in registers. With g++ that is four times as fast.
#pragma GCC unroll 20
  for (std::size_t t = 0; t < 20; ++t) round(t, ((c ^ d) & b) ^ d, 0x5a827999U);
#pragma GCC unroll 20
  for (std::size_t t = 20; t < 40; ++t) round(t, b ^ c ^ d, 0x6ed9eba1U);
#pragma GCC unroll 20
  for (std::size_t t = 40; t < 60; ++t) round(t, ((b | c) & d) | (b & c), 0x8f1bbcdcU);
#pragma GCC unroll 20
  for (std::size_t t = 60; t < 80; ++t) round(t, b ^ c ^ d, 0xca62c1d6U);
  return {start[0] + a, start[1] + b, start[2] + c, start[3] + d, start[4] + e};
}

// The digest of "abcd", compared with sha1sum.
static_assert(sha1_of_words<1>({0x61626364U}) ==
              sha1_digest{0x81fe8bfeU, 0x87576c3eU, 0xcb22426fU, 0x8e578473U, 0x82917acfU});

}  // namespace kernels
