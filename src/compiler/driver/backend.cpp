// SPDX-License-Identifier: Apache-2.0
#include "driver/backend.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <string_view>

#include <base/shared/errors.hpp>
#include "driver/run_program.hpp"

namespace sukima::language {
namespace {

bool begins_with_one_of(std::string_view text, std::initializer_list<std::string_view> beginnings) {
  return std::ranges::any_of(beginnings, [text](std::string_view one) { return text.starts_with(one); });
}

/// Returns whether an option does not change predefined macros, or would write files.
bool is_beside_the_point(std::string_view option) {
  return option == "-v" ||
         begins_with_one_of(option, {"-D", "-U", "-I", "-i", "-save-temps", "--save-temps", "-fdump", "-dump",
                                     "-aux-info", "-time", "-ftime", "-fdiagnostics"});
}

/// Parses `#define NAME VALUE` if the value is a number or empty.
bool read_macro(const std::string& line, predefined_macro& macro) {
  constexpr std::string_view begin = "#define ";
  if (!line.starts_with(begin)) return false;
  const std::size_t end = line.find(' ', begin.size());
  if (end == std::string::npos) return false;
  macro = {line.substr(begin.size(), end - begin.size()), line.substr(end + 1)};
  const auto is_part = [](unsigned char c) { return std::isalnum(c) != 0; };
  return std::ranges::all_of(macro.value, is_part) &&
         (macro.value.empty() || std::isdigit(macro.value[0]) != 0) &&
         macro.name.find('(') == std::string::npos;
}

/// Returns whether a macro describes a type. Clang defines such macros for its own types.
bool is_about_a_type(std::string_view name) {
  return begins_with_one_of(name, {"__FLT", "__DEC", "__BFLT", "__SIZEOF_"});
}

}  // namespace

std::vector<predefined_macro> macros_of_backend(const command_line& line, const toolchain& tools,
                                                const std::string& folder) {
  std::vector<std::string> command{line.backend};
  for (const word& w : line.words)
    if (w.use == word_use::compile && !is_beside_the_point(w.text.front()))
      command.insert(command.end(), w.text.begin(), w.text.end());
  command.insert(command.end(), tools.compile.begin(), tools.compile.end());
  const std::string file = folder + "/predefined";
  for (const char* const one : {"-w", "-E", "-dM", "-x", "c", "/dev/null", "-o"}) command.emplace_back(one);
  command.push_back(file);
  std::vector<predefined_macro> macros;
  try {
    if (run_program(command, {}, true) != 0) return macros;
  } catch (const process::usage_error&) {
    if (line.launcher.empty()) throw;  // a launcher may find a compiler that this machine does not have
    return macros;
  }
  std::ifstream answer(file);
  predefined_macro macro;
  for (std::string text; std::getline(answer, text);)
    if (read_macro(text, macro) && !is_about_a_type(macro.name)) macros.push_back(macro);
  return macros;
}

void keep_object(const command_line& line, const std::string& object, const std::string& prefix) {
  const bool is_wanted = std::ranges::any_of(line.words, [](const word& w) {
    return w.use == word_use::compile && begins_with_one_of(w.text.front(), {"-save-temps", "--save-temps"});
  });
  std::error_code ignored;  // after an error or in a dry run there is no object
  if (is_wanted)
    std::filesystem::copy_file(object, prefix + std::filesystem::path(object).filename().string(),
                               std::filesystem::copy_options::overwrite_existing, ignored);
}

std::vector<std::string> names_beside(const command_line& line, const std::string& program) {
  bool writes_more = false;
  for (const word& w : line.words) {
    const std::string& o = w.text.front();
    if (o == "-dumpdir" || o == "-dumpbase") return {};
    writes_more |= w.use == word_use::compile &&
                   begins_with_one_of(
                       o, {"--coverage", "-coverage", "-ftest-coverage", "-fprofile", "-save-temps",
                           "--save-temps", "-fstack-usage", "-gsplit-dwarf", "-fdump-", "-fcallgraph-info"});
  }
  if (!writes_more) return {};
  return {"-dumpdir", (program == "a.out" ? "a" : program) + "-"};
}

std::string mapped_name(const command_line& line, const std::string& file) {
  std::string result = file;
  for (const word& w : line.words)
    for (const std::string_view option : {"-ffile-prefix-map=", "-fdebug-prefix-map="}) {
      const std::string& text = w.text.front();
      const std::size_t equal = text.find('=', option.size());
      if (!text.starts_with(option) || equal == std::string::npos) continue;
      const std::string old = text.substr(option.size(), equal - option.size());
      if (file.starts_with(old)) result = text.substr(equal + 1) + file.substr(old.size());
    }
  return result;
}

}  // namespace sukima::language
