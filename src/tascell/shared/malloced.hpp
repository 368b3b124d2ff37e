// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <memory>

namespace sukima::detail {

struct freeing {
  void operator()(char* memory) const noexcept { std::free(memory); }
};

/// Memory from malloc that a program of the language may receive. The program then frees it.
using malloced = std::unique_ptr<char, freeing>;

}  // namespace sukima::detail
