// SPDX-License-Identifier: Apache-2.0
// `sukima bench --nodes`: programs on several nodes of a cluster beside one process that has all CPUs, or
// with --hope under hierarchical omission, while some of the nodes are killed.
#pragma once

#include <CLI/CLI.hpp>

#include "bench/request.hpp"

namespace sukima::cli::bench {

/// Adds --nodes, --transport, --quota, --hope and --seed to the command.
void add_node_options(CLI::App& command, bench_options& options);

/// \throws usage_error one of them was given with another option that makes no sense then
void check_node_options(const CLI::App& command);

/// Carries out a request with --nodes. \returns the exit code. \throws usage_error
int run_on_nodes(const bench_options& options);

}  // namespace sukima::cli::bench
