// SPDX-License-Identifier: Apache-2.0
// Parses results, times and counts of nodes; see node_output.hpp.
#include "node_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

namespace sukima::cli::bench {
namespace {

struct node_report {
  double seconds = 0;
  double tasks = 0;  ///< given
  double cpu_seconds = 0;
};

/// "0.512000 s, 9 tasks given, 7 received; node 1: 0.498000 s of CPU", perhaps after a node's tag.
std::optional<std::pair<int, node_report>> read_report(const std::string& line) {
  std::istringstream in(line);
  node_report report;
  int node = 0;
  char colon = 0;
  std::string s, tasks, given, received, word, of, cpu;
  std::uint64_t taken = 0;
  in >> report.seconds >> s >> report.tasks >> tasks >> given >> taken >> received >> word >> node >> colon >>
      report.cpu_seconds >> s >> of >> cpu;
  if (!in || given != "given," || word != "node" || colon != ':' || cpu != "CPU") return std::nullopt;
  return std::pair(node, report);
}

/// The counts of a node's units.
struct unit_report {
  double published = 0;
  double omitted = 0;  ///< unrun
  double cut = 0;
  double yielded = 0;
  double notes = 0;
};

/// "node 1: 12 units published, 30 omitted, 2 cut, 1 yielded, 240 notes sent"
std::optional<std::pair<int, unit_report>> read_units(const std::string& line) {
  std::istringstream in(line);
  unit_report report;
  int node = 0;
  std::string word, colon, units, published, omitted, cut, yielded, notes, sent;
  in >> word >> node >> colon >> report.published >> units >> published >> report.omitted >> omitted >>
      report.cut >> cut >> report.yielded >> yielded >> report.notes >> notes >> sent;
  if (!in || word != "node" || colon != ":" || published != "published," || sent != "sent")
    return std::nullopt;
  return std::pair(node, report);
}

/// Reads the result, which all lines on stdout repeat. \returns the reason if there is none
std::optional<run_failure> read_result(const std::string& output, std::string& result) {
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {  // an MPI gives that of all nodes
    if (!result.empty() && line != result)
      return run_failure{fmt::format("has the result '{}' on one node and '{}' on another", result, line)};
    result = line;
  }
  if (result.empty()) return run_failure{"printed no result"};
  return std::nullopt;
}

template <class Report>
std::map<int, Report> reports_in(const std::string& errors,
                                 std::optional<std::pair<int, Report>> (*read)(const std::string& line)) {
  std::map<int, Report> reports;
  std::istringstream lines(errors);
  for (std::string line; std::getline(lines, line);)
    if (const auto report = read(line)) reports.insert(*report);
  return reports;
}

}  // namespace

outcome parse_node_output(const process::child_result& result, int nodes) {
  measurement read;
  if (auto failure = read_result(result.output, read.result)) return *std::move(failure);
  const auto reports = reports_in(result.errors, read_report);
  const int expected = std::max(nodes, 1);
  if (static_cast<int>(reports.size()) != expected || reports.rbegin()->first != expected - 1)
    return run_failure{fmt::format("{} of {} nodes reported their time", reports.size(), expected)};
  read.seconds = reports.at(0).seconds;
  for (const auto& [node, report] : reports) {
    read.cpu_seconds += report.cpu_seconds;
    read.more["tasks"] += report.tasks;
  }
  if (nodes < 2 || !(read.cpu_seconds > 0)) return read;
  double least = 1;
  for (const auto& [node, report] : reports) {
    const double share = report.cpu_seconds / read.cpu_seconds;
    read.more[fmt::format("share_{}", node)] = share;
    least = std::min(least, share);
  }
  read.more["share_least"] = least;
  return read;
}

outcome parse_hope_output(const process::child_result& result, int nodes,
                          const std::vector<node_death>& deaths) {
  measurement read;
  if (auto failure = read_result(result.output, read.result)) return *std::move(failure);
  const auto reports = reports_in(result.errors, read_report);
  auto units = reports_in(result.errors, read_units);
  // A node that is killed between its two lines has reported its units, but not its time.
  for (const node_death& death : deaths) units.erase(death.node);
  const std::size_t living = static_cast<std::size_t>(nodes) - deaths.size();
  for (const auto& [figure, count] : {std::pair("time", reports.size()), std::pair("units", units.size())})
    if (count != living)
      return run_failure{fmt::format("{} of {} nodes reported their {}", count, living, figure)};
  read.seconds = std::numeric_limits<double>::infinity();
  for (const auto& [node, report] : reports) {
    read.seconds = std::min(read.seconds, report.seconds);
    read.cpu_seconds += report.cpu_seconds;
    double& last = read.more["last_seconds"];
    last = std::max(last, report.seconds);
  }
  for (const node_death& death : deaths) {
    read.cpu_seconds += death.cpu_seconds;
    read.deaths.push_back(death.seconds);
  }
  for (const auto& [node, report] : units) {
    read.more["published"] += report.published;
    read.more["omitted"] += report.omitted + report.cut;
    read.more["twice"] += report.cut + report.yielded;
    read.more["messages"] += report.notes;
  }
  return read;
}

bool has_reported_time(const process::child_result& result, int node) {
  return reports_in(result.errors, read_report).contains(node);
}

}  // namespace sukima::cli::bench
