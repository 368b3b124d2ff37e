// SPDX-License-Identifier: Apache-2.0
#include "driver/dependencies.hpp"

#include <base/shared/assert.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>

namespace sukima::language {

std::string quoted_for_make(const std::string& name) {
  std::string text;
  std::size_t backslashes = 0;  // before the character
  for (const char c : name) {
    // For make, a blank follows an odd number of backslashes, of which half belong to the name.
    if (c == ' ' || c == '\t') text.append(backslashes + 1, '\\');
    if (c == '#') text += '\\';
    if (c == '$') text += '$';
    text += c;
    backslashes = c == '\\' ? backslashes + 1 : 0;
  }
  return text;
}

namespace {

std::string dependency_rule(const command_line& line, const translation_result& files,
                            const std::string& object) {
  SUKIMA_ASSERT(files.files.size() == files.file_is_system.size(), "each file that was read is known");
  std::string rule;
  if (line.dependency_targets.empty()) rule = quoted_for_make(object);
  for (const std::string& target : line.dependency_targets) rule += (rule.empty() ? "" : " ") + target;
  rule += ":";
  std::size_t column = rule.size();
  std::set<std::string> seen;
  std::string phony;
  for (std::size_t k = 0; k < files.files.size(); ++k) {
    if ((files.file_is_system[k] && !line.system_dependencies) || !seen.insert(files.files[k]).second)
      continue;
    const std::string name =
        quoted_for_make(std::filesystem::path(files.files[k]).lexically_normal().string());
    if (column + name.size() > 76) {
      rule += " \\\n";
      column = 0;
    }
    rule += " " + name;
    column += name.size() + 1;
    if (k > 0) phony += name + ":\n";
  }
  return rule + "\n" + (line.phony_dependencies ? phony : "");
}

}  // namespace

bool write_dependencies(const command_line& line, const translation_result& files, const std::string& file,
                        const std::string& object) {
  const std::string rule = dependency_rule(line, files, object);
  if (file == "-") {
    std::cout << rule << std::flush;
    if (!std::cout) std::cerr << "sukima cc: the output could not be written to standard output\n";
    return std::cout.good();
  }
  std::ofstream out(file);
  out << rule;
  out.close();
  if (out) return true;
  std::cerr << "sukima cc: cannot write '" << file << "': " << std::strerror(errno) << '\n';
  return false;
}

std::string dependency_file(const command_line& line, const std::string& input) {
  if (!line.dependency_file.empty()) return line.dependency_file;
  const std::filesystem::path source(input);
  if (line.output.empty() || line.output == "-") return source.stem().string() + ".d";
  const std::filesystem::path output(line.output);
  if (line.wanted != goal::link) return std::filesystem::path(output).replace_extension(".d").string();
  return output.string() + "-" + source.stem().string() + ".d";
}

}  // namespace sukima::language
