// SPDX-License-Identifier: Apache-2.0
// The options of `sukima bench --nodes` in a build without the cluster; see nodes.hpp.
#include "nodes.hpp"

#include <base/shared/errors.hpp>

namespace sukima::cli::bench {

void add_node_options(CLI::App& command, bench_options& options) {
  command.add_option("--nodes", options.nodes, "Not in this build: it was configured without the cluster")
      ->type_name("N,...")
      ->delimiter(',')
      ->allow_extra_args(false);
}

void check_node_options(const CLI::App& /*command*/) {}

int run_on_nodes(const bench_options& /*options*/) {
  throw process::usage_error(
      "--nodes needs the cluster, which this build leaves out: configure it with SUKIMA_BUILD_CLUSTER=ON");
}

}  // namespace sukima::cli::bench
