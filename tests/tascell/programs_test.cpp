// SPDX-License-Identifier: Apache-2.0
// Hand-emitted programs of the papers give the same results with any number of workers.
#include "emitted/emitted.h"
#include "language_support.hpp"

#include <gtest/gtest.h>

namespace {

using programs = language_test::with_workers;

TEST_P(programs, fib) { EXPECT_EQ(emitted_fib(27), 196418); }

TEST_P(programs, queens) {
  EXPECT_EQ(emitted_queens(6), 4);
  EXPECT_EQ(emitted_queens(10), 724);
}

TEST_P(programs, pentomino) { EXPECT_EQ(emitted_pentomino(1), 1456); }

INSTANTIATE_TEST_SUITE_P(language, programs, language_test::worker_counts(), language_test::name_of_count);

}  // namespace
