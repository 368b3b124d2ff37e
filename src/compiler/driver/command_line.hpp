// SPDX-License-Identifier: Apache-2.0
// A command line as gcc and clang take it, and what of it concerns us.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace sukima::language {

/// One sentence for the user; exit code 2.
struct command_line_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What is to come out.
enum class goal { link, object, assembly, preprocessed, syntax, dependencies, translated };

enum class word_use {
  input,     ///< a file that is compiled or linked
  compile,   ///< an option for compiling (and for linking: gcc wants some there, too)
  link,      ///< an option for linking only
  ours,      ///< an option that the compiler behind must not see
  output,    ///< -o and its file
  goal,      ///< -c, -S, -E …
  depend,    ///< -MD and its kin
};

/// An option with its argument, or an input.
struct word {
  word_use use;
  std::vector<std::string> text;
  std::string language;   ///< of an input: "tc", or what -x said, or empty
  bool in_front = false;  ///< Clang's front end needs it, too
};

struct command_line {
  std::vector<word> words;
  goal wanted = goal::link;
  std::string output;  ///< empty: not given
  std::string backend;
  bool sequential = false;
  bool check_closures = false;
  bool unwind_closures = false;
  bool land_closures = false;
  bool verbose = false;
  bool dry_run = false;   ///< -###
  bool information =
      false;  ///< --version and --help of the compiler behind, -print-…, -dump…: nothing to translate
  bool help = false;
  bool version = false;
  bool no_libraries = false;     ///< -nostdlib, -nodefaultlibs, -r
  bool list_dependencies = false;       ///< -MD, -MMD
  bool system_dependencies = true;
  bool phony_dependencies = false;      ///< -MP
  std::string dependency_file;          ///< -MF
  std::string database_file;  ///< -MJ: an entry of a compile database for each source
  std::vector<std::string> arguments;  ///< all of them, without -MJ
  std::vector<std::string> dependency_targets;  ///< -MT, and -MQ quoted for make

  std::vector<const word*> inputs() const;
  bool has_translations() const;
};

/// \throws command_line_error
command_line read_command_line(const std::vector<std::string>& arguments);

}  // namespace sukima::language
