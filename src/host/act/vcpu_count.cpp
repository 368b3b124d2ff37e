// SPDX-License-Identifier: Apache-2.0
// Numbers of virtual CPUs as the values of acts; see vcpu_count.hpp.
#include "act/vcpu_count.hpp"

#include <fmt/format.h>

#include <charconv>

namespace sukima::host {

std::optional<unsigned> vcpu_count(const std::string& value) {
  unsigned count = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), count);
  if (error != std::errc() || end != value.data() + value.size() || count == 0) return std::nullopt;
  return count;
}

std::string none_is_unplugged(std::size_t present) {
  return fmt::format(
      "the machine has {} virtual CPUs, and none is unplugged; 'sukima guest' in it can switch "
      "some off",
      present);
}

}  // namespace sukima::host
