// SPDX-License-Identifier: Apache-2.0
// Functions through which plain C calls worker functions and worker closures by a pointer. They put the
// arguments in a frame and enter the runtime, which runs the call.
#pragma once

#include "plan/planner.hpp"

namespace sukima::language {

struct entering_function {
  std::string name;
  std::string words;       ///< text before its declaration, with a blank at the end
  std::string parameters;  ///< separated by commas
  std::string members;     ///< the members of the frame without the result
  std::string values;      ///< the values for the frame
  std::string call;        ///< the statement with the call; `sukima_f` points to the frame
  clang::QualType result;  ///< type of the result that `call` stores as sukima_result
};

/// Prints the function before the unit's text. \throws unprintable_type
void print_entering(planner& p, const entering_function& function);

}  // namespace sukima::language
