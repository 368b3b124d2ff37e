// SPDX-License-Identifier: Apache-2.0
// The translator: runs the stages from one .tc file to standard C.
#pragma once

#include <string>
#include <vector>

namespace sukima::language {

/// A macro without parameters whose value is a number, or empty.
struct predefined_macro {
  std::string name;
  std::string value;
};

struct translation_request {
  std::string file;                  ///< as the user wrote it; "-": stdin
  std::vector<std::string> options;  ///< for the preprocessor and the dialect, in Clang's syntax
  std::string output;                ///< the C file to write
  bool sequential = false;           ///< omit the parallel half of the constructs
  bool check_closures = false;           ///< -fcheck-closures
  bool unwind_closures = false;          ///< -fclosures=unwind or exceptions
  bool land_closures = false;            ///< -fclosures=exceptions
  bool debuggable = false;               ///< -g without optimisation
  bool clones = true;                    ///< not --no-clones
  bool line_directives = true;
  bool only_lists_files = false;         ///< -M, -MM: preprocess only, without an output
  std::string input_charset;             ///< of the files; empty: UTF-8. The output is UTF-8
  std::string exec_charset;              ///< of the program's strings; empty: UTF-8
  bool lists_missing_files = false;      ///< -MG: a header that is not found is listed, too
  std::vector<predefined_macro> macros;  ///< those of the C compiler, for the user's files
};

/// A construct that hands out tasks.
struct handled_task {
  std::string task;
  std::string place;  ///< FILE:LINE:COLUMN
};

struct translation_result {
  bool successful = false;
  std::vector<std::string> files;    ///< all files read, the main one first, and those that -MG lists
  std::vector<bool>
      file_is_system;  ///< parallel to `files`: found in a folder of system headers, or missing in <…>
  std::vector<handled_task> handled_tasks;
  bool has_cluster = false;  ///< the file has a `cluster worker`
  std::vector<std::string> executed_tasks;  ///< tasks with a `task_exec` in this file
};

/// Returns whether the C library can convert between this character set and UTF-8.
bool is_known_charset(const std::string& name);

/// Translates a file. Prints errors and warnings to stderr in Clang's style. After an error there is no
/// output.
translation_result translate(const translation_request& request);

}  // namespace sukima::language
