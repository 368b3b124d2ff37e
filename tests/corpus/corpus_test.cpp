// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target on its stored inputs; see sukima_add_corpus_test.
#include "run_folder.hpp"

namespace {

TEST(corpus, every_input_keeps_the_promises) {
  EXPECT_GE(sukima::test::run_folder(SUKIMA_CORPUS), std::size_t{SUKIMA_CORPUS_FEWEST});
}

}  // namespace
