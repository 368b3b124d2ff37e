// SPDX-License-Identifier: Apache-2.0
// Figures as JSON lines and CSV, and files that are never half-written; see report.hpp.
#include "report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <system_error>

#include "console.hpp"

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

std::string json_line(const summary& s) {
  nlohmann::ordered_json line;
  line["benchmark"] = s.what.benchmark;
  line["size"] = s.what.size ? nlohmann::ordered_json(*s.what.size) : nlohmann::ordered_json(nullptr);
  line["system"] = s.what.system;
  line["compiler"] =
      s.what.compiler.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(s.what.compiler);
  line["scenario"] = s.what.scenario;
  line["workers"] = s.what.workers;
  line["repetitions"] = s.repetitions;
  line["seconds"] = {
      {"q1", rounded(s.seconds.q1)}, {"median", rounded(s.seconds.median)}, {"q3", rounded(s.seconds.q3)}};
  line["cpu_seconds"] = rounded(s.cpu_seconds);
  line["ratio"] = s.ratio ? nlohmann::ordered_json(rounded(*s.ratio)) : nlohmann::ordered_json(nullptr);
  if (s.ideal) {
    line["ideal"] = rounded(s.ideal->seconds.median);
    line["cpus"] = rounded(s.ideal->cpus);
    line["over_ideal"] = {{"ratio", rounded(s.ideal->over.estimate)},
                          {"low", rounded(s.ideal->over.low)},
                          {"high", rounded(s.ideal->over.high)}};
  }
  for (const auto& [name, value] : s.more) {
    if (!line.contains(name)) line[name] = number(value);
  }
  for (const auto& [peer, ratio] : s.paired) {
    line["paired"][peer] = {
        {"ratio", rounded(ratio.estimate)}, {"low", rounded(ratio.low)}, {"high", rounded(ratio.high)}};
  }
  return line.dump();
}

std::string csv_text(std::span<const summary> figures, const machine_facts& machine) {
  std::string text;
  for (const auto& [name, value] : machine) text += fmt::format("# {}: {}\n", name, value);
  text +=
      "benchmark,size,system,compiler,scenario,workers,repetitions,seconds_q1,seconds_median,seconds_q3,cpu_"
      "seconds,"
      "ratio";
  const bool ideals = std::ranges::any_of(figures, [](const summary& s) { return s.ideal.has_value(); });
  if (ideals) text += ",ideal,cpus";
  std::set<std::string> more;
  for (const summary& s : figures) {
    for (const auto& [name, value] : s.more) more.insert(name);
  }
  for (const std::string& name : more) text += "," + quoted(name);
  text += "\n";
  for (const summary& s : figures) {
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}", quoted(s.what.benchmark),
                        s.what.size ? std::to_string(*s.what.size) : "", quoted(s.what.system),
                        s.what.compiler, s.what.scenario, s.what.workers, s.repetitions,
                        rounded(s.seconds.q1), rounded(s.seconds.median), rounded(s.seconds.q3),
                        rounded(s.cpu_seconds), s.ratio ? fmt::format("{}", rounded(*s.ratio)) : "");
    if (ideals) {
      text += s.ideal ? fmt::format(",{},{}", rounded(s.ideal->seconds.median), rounded(s.ideal->cpus))
                      : std::string(",,");
    }
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
  std::error_code ignored;
  if (path_.filename().empty() || std::filesystem::is_directory(path_, ignored)) {
    throw usage_error(
        fmt::format("'{}' does not name a file: give the name of one that can be written", path_.string()));
  }
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    throw usage_error(fmt::format(
        "cannot write '{}': the folder '{}' {}; choose a folder that you can write to", path_.string(),
        folder.string(), errno == ENOENT ? "does not exist" : std::strerror(errno)));
  }
}

void output_file::write(const std::string& text) const {
  std::filesystem::path unfinished = path_;
  unfinished += fmt::format(".{}.tmp", getpid());
  std::ofstream stream(unfinished);
  stream << text;
  stream.close();
  std::error_code error;
  if (!stream) {
    const std::string reason = std::strerror(errno);
    std::filesystem::remove(unfinished, error);
    throw std::runtime_error(fmt::format("cannot write '{}': {}", path_.string(), reason));
  }
  std::filesystem::rename(unfinished, path_, error);
  if (error) {
    std::filesystem::remove(unfinished);
    throw std::runtime_error(fmt::format("cannot write '{}': {}", path_.string(), error.message()));
  }
}

}  // namespace sukima::cli::bench
