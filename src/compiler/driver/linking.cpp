// SPDX-License-Identifier: Apache-2.0
#include "driver/linking.hpp"

#include <algorithm>
#include <iostream>
#include <regex>
#include <set>
#include <string_view>

namespace sukima::language {

namespace {

std::string without_execution(const std::string& task) {
  return "task '" + task + "' has no 'task_exec'; write 'task_exec " + task +
         " { … }' in one of the program's files";
}

/// Returns whether the command line adds code that this run did not translate and that may use the language.
bool has_other_code(const command_line& line) {
  for (const word& w : line.words) {
    const std::string& text = w.text.front();
    if (w.use == word_use::input && w.language != "tc" && w.language != "c" && !text.ends_with(".c"))
      return true;
    if (w.use != word_use::link) continue;
    const std::string all = text + (w.text.size() > 1 ? w.text[1] : "");
    static const std::set<std::string_view> of_c{"-lm", "-lc", "-lpthread", "-ldl", "-lrt"};
    if (text.starts_with("-l") ? !of_c.contains(all)
                               : text.starts_with("-Wl,") || text == "-shared" || text == "-r")
      return true;
  }
  return line.no_libraries;
}

}  // namespace

bool check_executions(const command_line& line, const std::vector<translation_result>& files) {
  if (has_other_code(line)) return true;
  std::set<std::string> known;
  for (const translation_result& file : files)
    known.insert(file.executed_tasks.begin(), file.executed_tasks.end());
  bool complete = true;
  for (const translation_result& file : files)
    for (const handled_task& handled : file.handled_tasks) {
      if (!known.insert(handled.task).second) continue;
      std::cerr << handled.place << ": error: " << without_execution(handled.task) << '\n';
      complete = false;
    }
  return complete;
}

std::string explained(const std::string& message) {
  static const std::regex cluster(
      "(undefined reference to|undefined symbol:) ?[`'\"]?"
      "(sukima_cluster_(enter|nodes?|given)|sukima_register_travelling)");
  if (std::regex_search(message, cluster))
    return message +
           "\nsukima cc: error: the program has a 'cluster worker' function; add '--cluster' to link it";
  static const std::regex symbol(
      "(undefined reference to|undefined symbol:|multiple definition of) ?[`'\"]?"
      "(?:sukima_exec_([A-Za-z0-9_]+)|([A-Za-z0-9_]+)\\.worker)");
  std::smatch found;
  if (!std::regex_search(message, found, symbol)) return message;
  const std::string task = found[2];
  const std::string function = found[3];
  const bool missing = found[1].str().front() == 'u';
  std::string meaning;
  if (!task.empty())
    meaning = missing ? without_execution(task)
                      : "task '" + task + "' has a 'task_exec' in two files; remove one of them";
  else
    meaning = "worker function '" + function +
              (missing ? "' is defined nowhere, or only as a plain function; define it with 'worker'"
                       : "' is defined twice; remove one of the definitions");
  return message + "\nsukima cc: error: " + meaning;
}

}  // namespace sukima::language
