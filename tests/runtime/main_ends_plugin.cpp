// SPDX-License-Identifier: Apache-2.0
// A plug-in of main_ends_program with its own copy of the library, whose workers stay.
#include <sukima/sukima.hpp>

extern "C" long sum_up_to(int n) {
  return sukima::run([n](sukima::context c) {
    return sukima::parallel_reduce(c, 0, n + 1, 0L, [](int i) { return static_cast<long>(i); }, std::plus{});
  });
}
