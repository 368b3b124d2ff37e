// SPDX-License-Identifier: Apache-2.0
// The translator: runs the stages from one .tc file to standard C.
#pragma once

#include <string>
#include <vector>

namespace sukima::language {

struct translation_request {
  std::string file;                  ///< as the user wrote it; "-" is stdin
  std::vector<std::string> options;  ///< for the preprocessor and the dialect, in Clang's syntax
  std::string output;                ///< the C file to write
  bool sequential = false;           ///< omit the parallel half of the constructs
  bool check_closures = false;           ///< -fcheck-closures
  bool unwind_closures = false;          ///< -fclosures=unwind or exceptions
  bool land_closures = false;            ///< -fclosures=exceptions
  bool line_directives = true;
};

struct translation_result {
  bool successful = false;
  std::vector<std::string> files;    ///< all files read, the main one first
  std::vector<bool> file_is_system;  ///< parallel to `files`: found in a folder of system headers
};

/// Translates a file. Errors and warnings go to stderr in Clang's style. After an error there is no output.
translation_result translate(const translation_request& request);

}  // namespace sukima::language
