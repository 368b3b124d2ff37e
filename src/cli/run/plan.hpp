// SPDX-License-Identifier: Apache-2.0
// Everything that `sukima run` prepares for a program before it starts.
#pragma once

#include <preload/shared/settings.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "capacity/decision.hpp"
#include "run/variables.hpp"

namespace sukima::cli::run {

/// The user's options.
struct run_options {
  thread_policy policy;
  preload_resize resize = preload_resize_never;
  bool preload = true;
  bool pin = false;
};

/// The preparations for starting a program.
struct run_plan {
  start_decision decision;
  unsigned cap = 1;
  unsigned ranks = 1;  ///< MPI ranks of this machine that share the CPU
  std::string basis;  ///< of the estimate: facts, tree, blind, ...
  variable_plan variables;
  std::filesystem::path library;  ///< that is preloaded; empty: none
  std::string obstacle;           ///< why none is
  std::string settings;           ///< for the library, without its log
  std::string pinned;             ///< list of CPUs; empty: not pinned
};

/// Decides for a program; "" if only the variables are of interest.
/// \throws usage_error if the user's SUKIMA_CPUS is not a number
run_plan make_plan(const run_options& options, const std::string& program);

/// LD_PRELOAD for the program: the user's libraries, then the plan's, which there is.
std::string preloaded_libraries(const run_plan& plan);

/// The environment for the program, NAME=VALUE, as far as it differs from this process's.
/// \param log file for the library's decisions; "": none
std::vector<std::string> changed_variables(const run_plan& plan, const std::string& log);

}  // namespace sukima::cli::run
