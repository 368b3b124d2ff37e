// SPDX-License-Identifier: Apache-2.0
// A message that is not plain data and has its own codec.
#pragma once

#include <sukima/transfer.hpp>

#include <cstring>
#include <string>

struct text {
  std::string value;
};

template <> struct sukima::codec<text> {
  static void encode(const text& t, std::vector<std::byte>& to) {
    const std::size_t before = to.size();
    to.resize(before + t.value.size());
    if (!t.value.empty()) std::memcpy(to.data() + before, t.value.data(), t.value.size());
  }
  static text decode(std::span<const std::byte> from) {
    return {std::string(reinterpret_cast<const char*>(from.data()), from.size())};
  }
};
