// SPDX-License-Identifier: Apache-2.0
// Records of runs; see record.hpp.
#include "shared/record.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "experiment/json_place.hpp"

namespace sukima::lab {
namespace {

constexpr double most_rounds = 1e6, longest_time = 1e9;
constexpr std::size_t most_text = 4000;
constexpr const char* record_name = "the record";

double read_seconds(const place& from) {
  if (from.value().is_null()) return std::numeric_limits<double>::infinity();
  return from.number(0, longest_time);
}

/// A text without what would end a line of a table.
std::string on_one_line(std::string text) {
  if (text.size() > most_text) text.resize(most_text);
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return text;
}

}  // namespace

std::string record_line(const record& one) {
  nlohmann::ordered_json line = {{"experiment", one.experiment},
                                 {"program", one.program},
                                 {"setting", one.setting},
                                 {"environment", one.environment},
                                 {"round", one.round}};
  if (one.failure.empty()) {
    line["seconds"] = json::array();
    for (const double seconds : one.seconds)
      line["seconds"].push_back(std::isfinite(seconds) ? nlohmann::ordered_json(seconds) : nullptr);
  } else {
    line["failure"] = on_one_line(one.failure);
  }
  line["wall_seconds"] = one.wall_seconds;
  if (!one.result.empty()) line["result"] = on_one_line(one.result);
  return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

record parse_record(std::string_view line) {
  const json document = parse_json<experiment_error>(line, record_name);
  const place root(document, "", record_name);
  root.expect_members({"experiment", "program", "setting", "environment", "round", "seconds", "failure",
                       "wall_seconds", "result"});
  record result;
  result.experiment = root.member("experiment").name();
  result.program = root.member("program").name();
  result.setting = root.member("setting").name();
  result.environment = root.member("environment").name();
  result.round = static_cast<unsigned>(root.member("round").whole(0, most_rounds));
  if (root.has("seconds") == root.has("failure")) root.fail("give either 'seconds' or 'failure'");
  if (root.has("failure")) {
    result.failure = root.member("failure").text(most_text);
  } else {
    root.member("seconds").each([&](const place& one) { result.seconds.push_back(read_seconds(one)); });
    if (result.seconds.empty()) root.member("seconds").fail("must not be empty");
  }
  result.wall_seconds = root.member("wall_seconds").number(0, longest_time);
  if (root.has("result")) result.result = root.member("result").text(most_text);
  return result;
}

std::vector<record> parse_records(std::string_view text, const std::string& name) {
  std::vector<record> records;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;
    try {
      records.push_back(parse_record(text.substr(0, end)));
    } catch (const experiment_error& error) {
      throw experiment_error(name + ", line " + std::to_string(number) + ": " + error.what());
    }
    text.remove_prefix(end + 1);
  }
  return records;
}

double mean_seconds(const record& one) {
  return std::accumulate(one.seconds.begin(), one.seconds.end(), 0.0) /
         static_cast<double>(one.seconds.size());
}

measured::measured(const std::string& experiment, const std::vector<record>& records) {
  for (const record& one : records) {
    if (one.experiment != experiment) continue;
    entry& into = cells_[{one.program, one.setting, one.environment}];
    if (one.failure.empty()) {
      into.seconds[one.round] = mean_seconds(one);
    } else {
      into.failure = one.failure;
      ++failures_;
    }
  }
}

const rounds& measured::of(const std::string& program, const std::string& setting,
                           const std::string& environment) const {
  static const rounds none;
  const auto found = cells_.find({program, setting, environment});
  return found == cells_.end() ? none : found->second.seconds;
}

std::string measured::failure(const std::string& program, const std::string& setting,
                              const std::string& environment) const {
  const auto found = cells_.find({program, setting, environment});
  return found == cells_.end() ? "" : found->second.failure;
}

bool measured::done(const std::string& program, const std::string& setting, const std::string& environment,
                    unsigned round) const {
  return of(program, setting, environment).contains(round);
}

}  // namespace sukima::lab
