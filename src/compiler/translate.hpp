// SPDX-License-Identifier: Apache-2.0
// The compiler proper: one file of the language in, standard C out.
#pragma once

#include <string>
#include <vector>

namespace sukima::language {

struct translation_request {
  std::string file;                  ///< as the user wrote it; "-" is stdin
  std::vector<std::string> options;  ///< of the preprocessor and the dialect, as for clang
  std::string output;                ///< the C file to write
  bool sequential = false;           ///< leave the constructs' parallel half out
  bool check_closures = false;           ///< calls of closures whose function has returned end the program
  bool unwind_closures = false;          ///< where that can be, closures' variables live in registers
  bool land_closures = false;            ///< then: functions that wait are unwound by landing pads
  bool line_directives = true;
};

struct translation_result {
  bool successful = false;
  std::vector<std::string> files;    ///< that were read, the main one first
  std::vector<bool> file_is_system;  ///< found in a folder of system headers
};

/// Translates a file. Errors and warnings go to stderr in Clang's style; after an error nothing is written.
translation_result translate(const translation_request& request);

}  // namespace sukima::language
