// SPDX-License-Identifier: Apache-2.0
// Formats a report as text and as JSON; see report.hpp.
#include "run/report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>

#include "shared/console.hpp"

namespace sukima::cli::run {
namespace {

std::string threads_text(unsigned threads) {
  return fmt::format("{} thread{}", threads, threads == 1 ? "" : "s");
}

/// Returns a line for a shell's `eval` or for `env`.
std::string assignment(const variable& v) {
  const bool plain = v.value.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                         "_-+=:,./%@") == std::string::npos;
  if (plain) return fmt::format("{}={}", v.name, v.value);
  std::string quoted;
  for (const char c : v.value) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return fmt::format("{}='{}'", v.name, quoted);
}

/// Returns the text as lines that a shell ignores. It may contain values and paths of several lines.
std::string comment(std::string_view text) {
  std::string lines = "# ";
  for (const char c : printable(std::string(text), "\n"))
    lines += c == '\n' ? std::string("\n# ") : std::string(1, c);
  return lines + "\n";
}

std::string waiting_text(const run_plan& plan) {
  return plan.decision.spinning ? "idle threads may spin, because CPU is plentiful"
                                : "idle threads sleep, because CPU is short";
}

std::string end_text(const run_record& record) {
  const std::string how =
      record.end.signal != 0
          ? fmt::format("was killed by signal {} ({})", record.end.signal, strsignal(record.end.signal))
          : fmt::format("ended with exit code {}", record.end.exit_code);
  const double cpus = record.seconds > 0 ? record.cpu_seconds / record.seconds : 0;
  return fmt::format("{} after {:.2f} s; it used {:.2f} s of CPU, {:.2f} CPUs on average", how,
                     record.seconds, record.cpu_seconds, cpus);
}

std::string preload_text(const run_plan& plan) {
  if (!plan.library.empty()) return {};
  return fmt::format("nothing is preloaded, because {}: only the variables apply", plan.obstacle);
}

nlohmann::json json_of(const std::vector<variable>& variables) {
  nlohmann::json object = nlohmann::json::object();
  for (const variable& v : variables) object[v.name] = v.value;
  return object;
}

}  // namespace

std::vector<late_decision> read_log(std::string_view text, std::uint64_t start) {
  std::vector<late_decision> decisions;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    double at = 0;
    late_decision one;
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos || !(words >> at >> one.process) || words.get() != ' ') continue;
    const auto name_begin = static_cast<std::size_t>(words.tellg());
    if (name_begin >= colon) continue;
    one.seconds = std::max(at - static_cast<double>(start) * 1e-9, 0.0);
    one.program = line.substr(name_begin, colon - name_begin);
    one.text = line.substr(colon + 2);
    decisions.push_back(std::move(one));
  }
  return decisions;
}

std::string plan_text(const run_plan& plan) {
  std::string text =
      comment(fmt::format("{}: {}", threads_text(plan.decision.threads), plan.decision.reason)) +
      comment(waiting_text(plan));
  if (const std::string line = preload_text(plan); !line.empty()) text += comment(line);
  if (!plan.pinned.empty()) text += comment("pinned to the CPUs " + plan.pinned);
  for (const variable& v : plan.variables.set) text += assignment(v) + "\n";
  for (const variable& v : plan.variables.kept)
    text += comment(fmt::format("unchanged, because you have set it: {} ({})", assignment(v), v.reader));
  if (!plan.library.empty())
    text += fmt::format("{}\n{}\n", assignment({"LD_PRELOAD", preloaded_libraries(plan), ""}),
                        assignment({PRELOAD_VARIABLE, plan.settings, ""}));
  return text;
}

std::string text_of(const run_record& record) {
  const run_plan& plan = record.plan;
  std::string text;
  // Names and values come from the user's environment and from the program's log.
  const auto add = [&text](std::string line) { text += printable(std::move(line)) + "\n"; };
  add(fmt::format("sukima run: {}: {}", threads_text(plan.decision.threads), plan.decision.reason));
  add("  " + waiting_text(plan));
  if (const std::string line = preload_text(plan); !line.empty()) add("  " + line);
  if (!plan.pinned.empty()) add("  pinned to the CPUs " + plan.pinned);
  for (const variable& v : plan.variables.kept)
    add(fmt::format("  {} is unchanged, because you have set it ({})", assignment(v), v.reader));
  for (const late_decision& d : record.decisions)
    add(fmt::format("  {:8.2f} s  {} ({}): {}", d.seconds, d.program, d.process, d.text));
  add(fmt::format("  '{}' {}", record.program.front(), end_text(record)));
  return text;
}

nlohmann::json json_of(const run_record& record) {
  const run_plan& plan = record.plan;
  nlohmann::json object{
      {"program", record.program},
      {"threads", plan.decision.threads},
      {"fixed", plan.decision.fixed},
      {"usable", plan.decision.usable},
      {"cap", plan.cap},
      {"basis", plan.basis},
      {"reason", plan.decision.reason},
      {"passive_waiting", !plan.decision.spinning},
      {"variables", json_of(plan.variables.set)},
      {"kept", json_of(plan.variables.kept)},
      {"preloaded", !plan.library.empty()},
      {"pinned", plan.pinned},
      {"decisions", nlohmann::json::array()},
      {"exit_code", record.end.exit_code},
      {"signal", record.end.signal},
      {"seconds", record.seconds},
      {"cpu_seconds", record.cpu_seconds},
  };
  if (plan.library.empty()) object["why_not_preloaded"] = plan.obstacle;
  for (const late_decision& d : record.decisions)
    object["decisions"].push_back(
        {{"seconds", d.seconds}, {"process", d.process}, {"program", d.program}, {"text", d.text}});
  return object;
}

}  // namespace sukima::cli::run
