// SPDX-License-Identifier: Apache-2.0
// The preparations of `sukima run` for a program before it starts.
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
  std::string basis;  ///< basis of the estimate: facts, tree, blind, ...
  variable_plan variables;
  std::filesystem::path library;  ///< the library to preload; empty: none
  std::string obstacle;           ///< the reason why no library is preloaded
  std::string settings;           ///< settings for the library, without its log
  std::string pinned;             ///< list of CPUs; empty: not pinned
};

/// Makes the plan for a program; "" if only the variables are needed.
/// \throws usage_error if the user's SUKIMA_CPUS is not a number
run_plan make_plan(const run_options& options, const std::string& program);

/// Returns LD_PRELOAD for the program: the user's libraries, then the plan's. \pre the plan has a library
std::string preloaded_libraries(const run_plan& plan);

/// Returns the variables of the program's environment, NAME=VALUE, that differ from this process's.
/// \param log file for the library's decisions; "": none
std::vector<std::string> changed_variables(const run_plan& plan, const std::string& log);

}  // namespace sukima::cli::run
