// SPDX-License-Identifier: Apache-2.0
// Runs the fuzz target of experiments on the installed experiments, with every compiler.
#include <corpus/run_folder.hpp>

namespace {

TEST(corpus, every_installed_experiment_keeps_the_promises) {
  EXPECT_GE(sukima::test::run_folder(SUKIMA_EXPERIMENTS), 1u);
}

}  // namespace
