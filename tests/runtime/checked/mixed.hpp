// SPDX-License-Identifier: Apache-2.0
// Functions that sources with and without checks (sukima/detail/checks.hpp) instantiate with the same types.
#pragma once

#include <sukima/sukima.hpp>

namespace mixed {

/// n-th Fibonacci number; every other level is computed by the sources of the other mode.
struct fibonacci {
  int n;
  long (*other)(sukima::context, int);
  long operator()(sukima::context c) const { return other(c, n); }
};

/// A branch that says which context it got.
struct own_context {
  char* operator()(sukima::context c) const { return c.top; }
};

long checked_fibonacci(sukima::context c, int n);
long unchecked_fibonacci(sukima::context c, int n);
/// The context of the second of two `own_context` branches.
char* unchecked_second_context(sukima::context c);

}  // namespace mixed
