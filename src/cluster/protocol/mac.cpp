// SPDX-License-Identifier: Apache-2.0
#include "protocol/mac.hpp"

#include <nettle/hmac.h>
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

digest mac(std::span<const std::byte> key, std::initializer_list<std::span<const std::byte>> parts) {
  hmac_sha256_ctx context;
  hmac_sha256_set_key(&context, key.size(), octets(key));
  for (const auto part : parts)
    if (!part.empty()) hmac_sha256_update(&context, part.size(), octets(part));
  digest result;
  hmac_sha256_digest(&context, result.size(), reinterpret_cast<std::uint8_t*>(result.data()));
  return result;
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
    if (more <= 0) throw std::system_error(errno, std::generic_category(), "sukima: no random numbers");
    got += static_cast<std::size_t>(more);
  }
  return result;
}

}  // namespace sukima::cluster
