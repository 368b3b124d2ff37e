// SPDX-License-Identifier: Apache-2.0
// The command line, in the syntax of gcc and clang.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace sukima::language {

/// A message for the user, in one sentence; exit code 2.
struct command_line_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The output to produce.
enum class goal { link, object, assembly, preprocessed, syntax, dependencies, translated };

enum class word_use {
  input,     ///< a file that is compiled or linked
  compile,   ///< an option for compiling (and for linking: gcc needs some there, too)
  warn,      ///< an option about warnings, for the C that the user wrote
  link,      ///< an option for linking only
  own,       ///< an option of sukima cc, which the C compiler must not see
  output,    ///< -o and its file
  goal,      ///< -c, -S, -E …
  depend,    ///< -MD and its relatives
};

/// An option with its argument, or an input.
struct word {
  word_use use;
  std::vector<std::string> text;
  std::string language;   ///< of an input: "tc", or the argument of -x, or empty
  bool in_front = false;  ///< Clang's front end also needs it
};

struct command_line {
  std::vector<word> words;
  goal wanted = goal::link;
  std::string output;  ///< empty: not given
  std::string backend;
  std::vector<std::string> launcher;  ///< program that starts the C compiler, such as ccache
  bool sequential = false;
  bool clones = true;
  bool cluster = false;  ///< link the libraries that programs with `cluster worker` need
  bool check_closures = false;
  bool unwind_closures = false;
  bool land_closures = false;
  bool verbose = false;
  bool dry_run = false;   ///< -###
  bool information = false;  ///< -print-…, -dump…, --help=…: the C compiler answers; nothing is translated
  bool help = false;
  bool version = false;
  bool no_libraries = false;     ///< -nostdlib, -nodefaultlibs, -r
  bool list_dependencies = false;       ///< -MD, -MMD
  bool system_dependencies = true;
  bool phony_dependencies = false;      ///< -MP
  bool missing_dependencies = false;    ///< -MG
  std::string dependency_file;          ///< -MF
  std::string database_file;  ///< -MJ: an entry of a compile database for each source
  std::vector<std::string> arguments;  ///< the whole command line, without -MJ
  std::string input_charset;  ///< -finput-charset; empty: UTF-8
  std::string exec_charset;   ///< -fexec-charset; empty: UTF-8
  std::vector<std::string> dependency_targets;  ///< -MT, and -MQ quoted for make

  std::vector<const word*> inputs() const;
  bool has_translations() const;
  /// Returns whether the C compiler compiles some input exactly as the user wrote it.
  bool compiles_c() const;

  const char* violated_invariant() const;  ///< of a line that was read
};

/// Returns whether the C compiler compiles a source exactly as the user wrote it.
bool is_c_source(const word& input);

/// \throws command_line_error
command_line read_command_line(const std::vector<std::string>& arguments);

}  // namespace sukima::language
