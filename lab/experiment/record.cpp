// SPDX-License-Identifier: Apache-2.0
// Records of runs; see record.hpp.
#include "shared/record.hpp"

#include <base/shared/assert.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "experiment/json_place.hpp"

namespace sukima::lab {
namespace {

constexpr double most_rounds = 1e6, most_use = 65536;
constexpr std::size_t most_text = 4000;
constexpr const char* record_name = "the record";

double read_seconds(const place& from) {
  if (from.value().is_null()) return std::numeric_limits<double>::infinity();
  return from.number(0, longest_time);
}

/// Whether a byte of UTF-8 continues the previous character.
bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

}  // namespace

std::string on_one_line(const std::string& any) {
  // Replaces invalid UTF-8 first, because that makes the text longer.
  const std::string quoted = json(any).dump(-1, ' ', false, json::error_handler_t::replace);
  std::string text = json::parse(quoted).get<std::string>();
  std::size_t end = std::min(text.size(), most_text);
  while (end < text.size() && end > 0 && continues_character(text[end])) --end;
  text.resize(end);
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return text;
}

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
    if (!one.use.empty()) line["use"] = one.use;
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
  root.expect_members({"experiment", "program", "setting", "environment", "round", "seconds", "use",
                       "failure", "wall_seconds", "result"});
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
  if (root.has("use")) {
    root.member("use").each([&](const place& one) { result.use.push_back(one.number(0, most_use)); });
    if (result.use.size() != result.seconds.size())
      root.member("use").fail("must have one for each of 'seconds'");
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

double mean_seconds(const record& one, double stopped) {
  SUKIMA_ASSERT(!one.seconds.empty() && one.failure.empty(), "a run that has a mean did not fail");
  double sum = 0;
  for (const double seconds : one.seconds) sum += std::isfinite(seconds) ? seconds : stopped;
  return sum / static_cast<double>(one.seconds.size());
}

measured::measured(const experiment& experiment, const std::vector<record>& records) {
  for (const record& one : records) {
    if (one.experiment != experiment.name) continue;
    entry& into = cells_[{one.program, one.setting, one.environment}];
    if (one.failure.empty()) {
      into.seconds[one.round] = mean_seconds(one);
      into.least[one.round] = mean_seconds(one, experiment.limit_seconds);
      into.failed.erase(one.round);
      into.use.erase(one.round);
      if (!one.use.empty())
        into.use[one.round] =
            std::accumulate(one.use.begin(), one.use.end(), 0.0) / static_cast<double>(one.use.size());
    } else if (!into.seconds.contains(one.round)) {
      into.failed.insert(one.round);
      into.failure = one.failure;
    }
    SUKIMA_ASSERT(into.seconds.size() == into.least.size() && into.use.size() <= into.seconds.size() &&
                      into.seconds.contains(one.round) != into.failed.contains(one.round),
                  "each recorded round has either failed or its times");
  }
}

const measured::entry& measured::at(const std::string& program, const std::string& setting,
                                    const std::string& environment) const {
  static const entry none;
  const auto found = cells_.find({program, setting, environment});
  return found == cells_.end() ? none : found->second;
}

const rounds& measured::of(const std::string& program, const std::string& setting,
                           const std::string& environment) const {
  return at(program, setting, environment).seconds;
}

const rounds& measured::least_of(const std::string& program, const std::string& setting,
                                 const std::string& environment) const {
  return at(program, setting, environment).least;
}

const rounds& measured::use_of(const std::string& program, const std::string& setting,
                               const std::string& environment) const {
  return at(program, setting, environment).use;
}

std::string measured::failure(const std::string& program, const std::string& setting,
                              const std::string& environment) const {
  const entry& found = at(program, setting, environment);
  return found.failed.empty() ? "" : found.failure;
}

std::size_t measured::failures() const {
  return std::accumulate(cells_.begin(), cells_.end(), std::size_t{0},
                         [](std::size_t sum, const auto& one) { return sum + one.second.failed.size(); });
}

bool measured::done(const std::string& program, const std::string& setting, const std::string& environment,
                    unsigned round) const {
  return of(program, setting, environment).contains(round);
}

}  // namespace sukima::lab
