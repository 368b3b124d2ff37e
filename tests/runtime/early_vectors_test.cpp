// SPDX-License-Identifier: Apache-2.0
// A static initialiser that computes with AVX while fibers move, linked with the static library.
#include "early_vectors.hpp"

#include <gtest/gtest.h>

namespace {

const bool kept_before_main = !__builtin_cpu_supports("avx") || early_vectors::are_kept();

TEST(early_vectors, are_kept_before_main) {
  if (!__builtin_cpu_supports("avx")) GTEST_SKIP() << "no AVX here";
  EXPECT_TRUE(kept_before_main);
  EXPECT_TRUE(early_vectors::are_kept());
}

}  // namespace
