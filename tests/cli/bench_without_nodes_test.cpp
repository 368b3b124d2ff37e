// SPDX-License-Identifier: Apache-2.0
// `sukima bench --nodes` in a build without the cluster, such as that of `make demo`.
#include <gtest/gtest.h>
#include <CLI/CLI.hpp>

#include <base/shared/errors.hpp>
#include "bench/nodes.hpp"

namespace sukima::cli::bench {
namespace {

TEST(BenchWithoutNodes, NamesTheOptionOfTheBuild) {
  CLI::App command;
  bench_options options;
  add_node_options(command, options);
  command.parse("--nodes 1,2");
  check_node_options(command);
  EXPECT_EQ(options.nodes.size(), 2u);
  try {
    run_on_nodes(options);
    ADD_FAILURE() << "it ran on nodes";
  } catch (const process::usage_error& error) {
    EXPECT_NE(std::string(error.what()).find("SUKIMA_BUILD_CLUSTER=ON"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace sukima::cli::bench
