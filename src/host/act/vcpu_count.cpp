// SPDX-License-Identifier: Apache-2.0
// Numbers of virtual CPUs as the values of acts; see vcpu_count.hpp.
#include "act/vcpu_count.hpp"

#include <fmt/format.h>
#include <base/shared/parse_number.hpp>

namespace sukima::host {

std::optional<unsigned> vcpu_count(const std::string& value) {
  const auto count = parse_number<unsigned>(value);
  return count && *count != 0 ? count : std::nullopt;
}

std::string none_is_unplugged(std::size_t present) {
  return fmt::format(
      "the machine has {} virtual CPUs, and none is unplugged; 'sukima guest' in it can switch "
      "some off",
      present);
}

}  // namespace sukima::host
