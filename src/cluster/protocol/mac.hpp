// SPDX-License-Identifier: Apache-2.0
// Message authentication by HMAC-SHA256 (RFC 2104, FIPS 180-4) of nettle, and random numbers from the kernel.
#pragma once

#include <nettle/hmac.h>

#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>

namespace sukima::cluster {

using digest = std::array<std::byte, 32>;

/// The HMAC-SHA256 of parts that become known one after the other.
class running_mac {
 public:
  explicit running_mac(std::span<const std::byte> key) noexcept;
  /// Complexity: linear in the length of the part.
  void add(std::span<const std::byte> part) noexcept;
  /// Returns the code of all parts. Must be called once, last.
  digest end() noexcept;

 private:
  hmac_sha256_ctx state_;
};

/// Returns the HMAC-SHA256 of the concatenated parts. Complexity: linear in their lengths.
digest mac(std::span<const std::byte> key, std::initializer_list<std::span<const std::byte>> parts);
/// Whether two codes have the same length and content. The time does not depend on where they differ.
bool same_secret(std::span<const std::byte> a, std::span<const std::byte> b) noexcept;
/// Returns random bytes from the kernel. \throws std::system_error the kernel has none
digest random_bytes();

}  // namespace sukima::cluster
