// SPDX-License-Identifier: Apache-2.0
// Figures as JSON lines and CSV, and files that are never half-written; see report.hpp.
#include "report.hpp"

#include <capacity/shared/output_file.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include <cli/shared/console.hpp>

namespace sukima::cli::bench {
namespace {

constexpr int digits = 6;

double rounded(double value) { return round_significant(value, digits); }

/// Whole numbers, such as bytes, without a decimal point.
nlohmann::ordered_json number(double value) {
  constexpr double exact = 9007199254740992.0;
  if (value == std::floor(value) && std::fabs(value) < exact) return static_cast<std::int64_t>(value);
  return rounded(value);
}

nlohmann::ordered_json optional_number(const std::optional<double>& value) {
  return value ? nlohmann::ordered_json(rounded(*value)) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json ratio_object(const interval& ratio) {
  return {{"ratio", rounded(ratio.estimate)}, {"low", rounded(ratio.low)}, {"high", rounded(ratio.high)}};
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + '"';
}

}  // namespace

std::string json_line(const summary& figures) {
  nlohmann::ordered_json line;
  line["benchmark"] = figures.task.benchmark;
  line["size"] =
      figures.task.size ? nlohmann::ordered_json(*figures.task.size) : nlohmann::ordered_json(nullptr);
  line["system"] = figures.task.system;
  line["compiler"] = figures.task.compiler.empty() ? nlohmann::ordered_json(nullptr)
                                                   : nlohmann::ordered_json(figures.task.compiler);
  line["scenario"] = figures.task.scenario;
  line["workers"] = figures.task.workers;
  if (figures.task.depth) line["depth"] = *figures.task.depth;
  if (figures.task.nodes != 0) line["nodes"] = figures.task.nodes;
  if (figures.task.hope) line["hope"] = *figures.task.hope;
  line["repetitions"] = figures.repetitions;
  line["seconds"] = {{"q1", rounded(figures.seconds.q1)},
                     {"median", rounded(figures.seconds.median)},
                     {"q3", rounded(figures.seconds.q3)},
                     {"max", rounded(figures.slowest)}};
  line["cpu_seconds"] = rounded(figures.cpu_seconds);
  line["ratio"] = optional_number(figures.ratio);
  line["cpu_ratio"] = optional_number(figures.cpu_ratio);
  if (figures.ideal) {
    line["ideal"] = rounded(figures.ideal->seconds.median);
    line["cpus"] = rounded(figures.ideal->cpus);
    line["over_ideal"] = ratio_object(figures.ideal->over);
    if (figures.ideal->own) {
      line["own_ideal"] = rounded(figures.ideal->own->seconds);
      line["over_own_ideal"] = ratio_object(figures.ideal->own->over);
    }
  }
  for (const auto& [name, value] : figures.more) {
    if (!line.contains(name)) line[name] = number(value);
  }
  for (const auto& [peer, ratio] : figures.paired) {
    line["paired"][peer] = ratio_object(ratio);
  }
  return line.dump();
}

std::string csv_text(std::span<const summary> figures, const lab::machine_facts& machine) {
  std::string text;
  for (const auto& [name, value] : machine) text += fmt::format("# {}: {}\n", name, value);
  text +=
      "benchmark,size,system,compiler,scenario,workers,repetitions,seconds_q1,seconds_median,seconds_q3,cpu_"
      "seconds,"
      "ratio";
  const bool ideals = std::ranges::any_of(figures, [](const summary& s) { return s.ideal.has_value(); });
  if (ideals) text += ",ideal,cpus";
  const bool depths = std::ranges::any_of(figures, [](const summary& s) { return s.task.depth.has_value(); });
  if (depths) text += ",depth";
  std::set<std::string> more;
  for (const summary& s : figures) {
    for (const auto& [name, value] : s.more) more.insert(name);
  }
  for (const std::string& name : more) text += "," + quoted(name);
  text += "\n";
  for (const summary& s : figures) {
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}", quoted(s.task.benchmark),
                        s.task.size ? std::to_string(*s.task.size) : "", quoted(s.task.system),
                        s.task.compiler, s.task.scenario, s.task.workers, s.repetitions,
                        rounded(s.seconds.q1), rounded(s.seconds.median), rounded(s.seconds.q3),
                        rounded(s.cpu_seconds), s.ratio ? fmt::format("{}", rounded(*s.ratio)) : "");
    if (ideals) {
      text += s.ideal ? fmt::format(",{},{}", rounded(s.ideal->seconds.median), rounded(s.ideal->cpus))
                      : std::string(",,");
    }
    if (depths) text += "," + (s.task.depth ? std::to_string(*s.task.depth) : "");
    for (const std::string& name : more) {
      const auto found = s.more.find(name);
      text += found == s.more.end() ? "," : "," + number(found->second).dump();
    }
    text += "\n";
  }
  return text;
}

output_file::output_file(std::filesystem::path path) : path_(std::move(path)) {
  const std::filesystem::path folder = path_.has_parent_path() ? path_.parent_path() : ".";
  const int error = path_.filename().empty() || path_ == "-" ? EISDIR : cap_output_check(path_.c_str());
  if (error == 0) return;
  if (error == EISDIR) {
    throw process::usage_error(
        fmt::format("'{}' does not name a file: give the name of one that can be written", path_.string()));
  }
  throw process::usage_error(fmt::format(
      "cannot write '{}': the folder '{}' {}; choose a folder that you can write to", path_.string(),
      folder.string(), error == ENOENT ? "does not exist" : std::strerror(error)));
}

void output_file::write(const std::string& text) const {
  cap_output_file file{};
  int error = cap_output_open(&file, path_.c_str());
  if (error == 0) {
    std::fwrite(text.data(), 1, text.size(), file.stream);
    error = cap_output_close(&file, true);
  }
  if (error != 0)
    throw std::runtime_error(fmt::format("cannot write '{}': {}", path_.string(), std::strerror(error)));
}

}  // namespace sukima::cli::bench
