// SPDX-License-Identifier: Apache-2.0
// The environment variables that tell parallel runtimes their number of threads or how to wait.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "capacity/decision.hpp"

namespace sukima::cli::run {

/// A variable for the program.
struct variable {
  std::string name;
  std::string value;
  std::string reader;  ///< names of the runtimes that read it, for people
};

/// The variables for a program, and those that remain unchanged.
struct variable_plan {
  std::vector<variable> set;
  std::vector<variable> kept;  ///< variables that the user has set, with the user's values
};

/// Returns the value of an environment variable, or nullptr if it is not set.
using environment_reader = const char* (*)(const char* name);

/// Returns the variables that implement a decision. A variable that the user has set remains unchanged, and
/// so do its synonyms for the same runtime (OMP_WAIT_POLICY, GOMP_SPINCOUNT and KMP_BLOCKTIME, for example).
/// \param preloaded the library is preloaded. It passes the number to the JVM, which would print a line for
///                  each variable that it reads.
variable_plan plan_variables(const start_decision& decision, bool preloaded, environment_reader read);

/// Returns whether the user has given OpenMP a number of threads.
bool user_sets_openmp(environment_reader read);

/// Returns whether the user has set how OpenMP's idle threads wait.
bool user_sets_waiting(environment_reader read);

}  // namespace sukima::cli::run
