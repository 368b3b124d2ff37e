// SPDX-License-Identifier: Apache-2.0
// Message authentication: HMAC-SHA256 (RFC 2104, FIPS 180-4) by nettle, and random numbers of the kernel.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>

namespace sukima::cluster {

using digest = std::array<std::byte, 32>;

/// HMAC-SHA256 of the parts, one after the other. Linear in their lengths.
digest mac(std::span<const std::byte> key, std::initializer_list<std::span<const std::byte>> parts);
/// Whether two codes are equal; codes of different lengths are not. Takes the same time wherever they differ.
bool same_secret(std::span<const std::byte> a, std::span<const std::byte> b) noexcept;
/// \throws std::system_error the kernel has none
digest random_bytes();

}  // namespace sukima::cluster
