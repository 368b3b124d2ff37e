// SPDX-License-Identifier: Apache-2.0
// `sukima bench --nodes`: compares programs on several nodes of a cluster with one process that has all CPUs.
// With --hope they run under hierarchical omission, and some nodes are killed.
#pragma once

#include <CLI/CLI.hpp>

#include "bench/request.hpp"

namespace sukima::cli::bench {

/// Adds --nodes, --transport, --quota, --hope and --seed to the command.
void add_node_options(CLI::App& command, bench_options& options);

/// \throws usage_error if one of them contradicts another option
void check_node_options(const CLI::App& command);

/// Carries out a request with --nodes. \returns the exit code. \throws usage_error
int run_on_nodes(const bench_options& options);

}  // namespace sukima::cli::bench
