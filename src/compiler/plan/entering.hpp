// SPDX-License-Identifier: Apache-2.0
// Functions through which plain C calls worker functions and worker closures by a pointer: they put the
// arguments in a frame and enter the runtime, which runs the call.
#pragma once

#include "plan/planner.hpp"

namespace sukima::language {

struct entering_function {
  std::string name;
  std::string words;       ///< in front of its declaration, with a blank at the end
  std::string parameters;  ///< separated by commas
  std::string members;     ///< of the frame, but for the result
  std::string values;      ///< that fill the frame
  std::string call;        ///< the statement with the call; `sukima_f` points to the frame
  clang::QualType result;  ///< which `call` stores as sukima_result
};

/// Prints it in front of the unit's text. \throws unprintable_type
void print_entering(planner& p, const entering_function& function);

}  // namespace sukima::language
