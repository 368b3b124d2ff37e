// SPDX-License-Identifier: Apache-2.0
#include "protocol/mac.hpp"

#include <nettle/memops.h>
#include <sys/random.h>

#include <cerrno>
#include <system_error>

namespace sukima::cluster {

namespace {

const std::uint8_t* octets(std::span<const std::byte> view) noexcept {
  return reinterpret_cast<const std::uint8_t*>(view.data());
}

}  // namespace

running_mac::running_mac(std::span<const std::byte> key) noexcept {
  hmac_sha256_set_key(&state_, key.size(), octets(key));
}

void running_mac::add(std::span<const std::byte> part) noexcept {
  if (!part.empty()) hmac_sha256_update(&state_, part.size(), octets(part));
}

digest running_mac::end() noexcept {
  digest result;
  hmac_sha256_digest(&state_, result.size(), reinterpret_cast<std::uint8_t*>(result.data()));
  return result;
}

digest mac(std::span<const std::byte> key, std::initializer_list<std::span<const std::byte>> parts) {
  running_mac code(key);
  for (const auto part : parts) code.add(part);
  return code.end();
}

bool same_secret(std::span<const std::byte> a, std::span<const std::byte> b) noexcept {
  return a.size() == b.size() && memeql_sec(a.data(), b.data(), a.size()) != 0;
}

digest random_bytes() {
  digest result;
  std::size_t got = 0;
  while (got < result.size()) {
    const ssize_t more = getrandom(result.data() + got, result.size() - got, 0);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0)
      throw std::system_error(errno, std::generic_category(), "sukima: the kernel gives no random numbers");
    got += static_cast<std::size_t>(more);
  }
  return result;
}

}  // namespace sukima::cluster
