// SPDX-License-Identifier: Apache-2.0
// The environment variables by which parallel runtimes take a number of threads or a way of waiting.
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
  std::string reader;  ///< the runtimes that read it, for people
};

/// The variables for a program, and those that stay unchanged.
struct variable_plan {
  std::vector<variable> set;
  std::vector<variable> kept;  ///< the user has set them, with the user's values
};

/// The value of an environment variable, nullptr if it is not set.
using environment_reader = const char* (*)(const char* name);

/// The variables that implement a decision. A variable that the user has set stays unchanged, and so do its
/// synonyms for the same runtime (OMP_WAIT_POLICY, GOMP_SPINCOUNT and KMP_BLOCKTIME, for example).
/// \param preloaded the library is preloaded: the JVM, which prints a line for each variable that it reads,
///                  gets its number from there
variable_plan plan_variables(const start_decision& decision, bool preloaded, environment_reader read);

/// Whether the user has given OpenMP a number of threads.
bool user_sets_openmp(environment_reader read);

/// Whether the user has set how OpenMP's idle threads wait.
bool user_sets_waiting(environment_reader read);

}  // namespace sukima::cli::run
