// SPDX-License-Identifier: Apache-2.0
// Writes command lines; see benchmark_call.hpp.
#include "shared/benchmark_call.hpp"

#include <algorithm>

namespace sukima::lab {

std::vector<std::string> benchmark_arguments(const std::string& benchmark, std::optional<std::int64_t> size,
                                             unsigned workers, unsigned repetitions) {
  std::vector<std::string> arguments{benchmark};
  if (size) arguments.insert(arguments.end(), {"--size", std::to_string(*size)});
  arguments.insert(arguments.end(),
                   {"--workers", std::to_string(workers), "--repetitions", std::to_string(repetitions)});
  return arguments;
}

std::string fill_in(std::string_view text, const marked_values& values) {
  std::string filled;
  while (!text.empty()) {
    const auto here =
        std::ranges::find_if(values, [&](const auto& one) { return text.starts_with(one.first); });
    if (here == values.end()) {
      filled += text.front();
      text.remove_prefix(1);
    } else {
      filled += here->second;
      text.remove_prefix(here->first.size());
    }
  }
  return filled;
}

}  // namespace sukima::lab
