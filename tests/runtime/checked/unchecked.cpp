// SPDX-License-Identifier: Apache-2.0
// The part of checked_test that is compiled without checks.
#include "mixed.hpp"

static_assert(!SUKIMA_CHECKED);

namespace mixed {

long unchecked_fibonacci(sukima::context c, int n) {
  if (n < 2) return n;
  const auto [a, b] =
      sukima::fork2(c, fibonacci{n - 1, checked_fibonacci}, fibonacci{n - 2, checked_fibonacci});
  return a + b;
}

char* unchecked_second_context(sukima::context c) {
  return sukima::fork2(c, own_context{}, own_context{}).second;
}

}  // namespace mixed
