// SPDX-License-Identifier: Apache-2.0
// Ratios and counts under hierarchical omission; see hope_figures.hpp.
#include "hope_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include <cli/shared/console.hpp>

namespace sukima::cli::bench {
namespace {

/// A figure of one round, computed from two rows.
using pair_value = std::function<double(const measurement&, const measurement&)>;

/// The successful rows of one benchmark. Each has a sample of each round.
class measured_rows {
 public:
  explicit measured_rows(const std::vector<row>& rows) {
    for (const row& r : rows)
      if (!r.failure) rows_.push_back(&r);
  }

  const row* find(const std::string& scenario) const {
    const auto found =
        std::ranges::find_if(rows_, [&](const row* r) { return r->task.scenario == scenario; });
    return found == rows_.end() ? nullptr : *found;
  }
  /// The reference of a single node.
  const row* one() const {
    for (const char* name : {one_node_row, one_process_row, sequential_row})
      if (const row* const found = find(name)) return found;
    return nullptr;
  }

 private:
  std::vector<const row*> rows_;
};

std::vector<double> by_round(const row& r, const row& other, const pair_value& value) {
  std::vector<double> values;
  for (std::size_t round = 0; round < r.samples.size(); ++round)
    values.push_back(value(r.samples[round].measured, other.samples[round].measured));
  return values;
}

/// The reference seconds of a run with deaths, by round.
std::vector<double> allowed_seconds(const row& r, const row& one, const row& all, const node_cpus& cpus) {
  std::vector<double> seconds;
  for (std::size_t round = 0; round < r.samples.size(); ++round) {
    const allowed_time allowed{cpus, r.task.nodes, one.samples[round].measured.seconds,
                               all.samples[round].measured.seconds};
    seconds.push_back(allowed.with(r.samples[round].measured.deaths));
  }
  return seconds;
}

void compare(summary& figures, const row& measured, const measured_rows& rows, const node_cpus& cpus) {
  const row* const one = rows.one();
  const row* const stealing = rows.find(stealing_row);
  std::string name;
  std::vector<double> ratios;
  const auto over = [](const measurement& a, const measurement& b) { return a.seconds / b.seconds; };
  if (measured.task.deaths != 0) {
    if (one == nullptr || stealing == nullptr) return;
    name = allowed_reference;
    const std::vector<double> allowed = allowed_seconds(measured, *one, *stealing, cpus);
    for (std::size_t round = 0; round < allowed.size(); ++round)
      ratios.push_back(measured.samples[round].measured.seconds / allowed[round]);
  } else {
    const row* const reference = measured.task.nodes == 1 ? one : stealing;
    if (reference == nullptr) return;
    name = reference->task.scenario;
    ratios = by_round(measured, *reference, over);
  }
  const interval ratio = bootstrap_median(ratios);
  figures.ratio = ratio.estimate;
  figures.paired.emplace(name, ratio);
}

void add_lost(summary& s, const row& r, const row& undisturbed) {
  const double shares = r.task.deaths * r.task.workers;
  const interval lost =
      bootstrap_median(by_round(r, undisturbed, [shares](const measurement& a, const measurement& b) {
        return 1e3 * (a.cpu_seconds - b.cpu_seconds) / shares;
      }));
  s.more["lost_ms"] = lost.estimate;
  s.more["lost_ms_low"] = lost.low;
  s.more["lost_ms_high"] = lost.high;
}

std::string count_of(const summary& s, const char* name) {
  const auto found = s.more.find(name);
  return found == s.more.end() ? "-" : fmt::format("{:.0f}", found->second);
}

std::string line_of(const summary& s) {
  const auto paired = s.paired.begin();
  const bool is_compared = paired != s.paired.end();
  std::string line = fmt::format(
      "{:<12}{:>8}{:>10.3f}  {:<19}{:>9}  {:<16}{:>7}{:>11}{:>9}{:>7}{:>10}  {}", s.task.scenario,
      s.task.workers, s.seconds.median, fmt::format("[{:.3f} - {:.3f}]", s.seconds.q1, s.seconds.q3),
      s.ratio ? fmt::format("{:.3f}", *s.ratio) : "-",
      is_compared ? fmt::format("[{:.3f}, {:.3f}]", paired->second.low, paired->second.high) : "",
      s.cpu_ratio ? fmt::format("{:.3f}", *s.cpu_ratio) : "-", count_of(s, "published"),
      count_of(s, "omitted"), count_of(s, "twice"), count_of(s, "messages"),
      is_compared ? paired->first : "");
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

std::vector<summary> hope_figures(const std::vector<row>& rows, const node_cpus& cpus) {
  const measured_rows measured(rows);
  const row* const sequential = measured.find(sequential_row);
  const row* const undisturbed = measured.find("none");
  std::vector<summary> figures = summarise(rows);
  for (summary& s : figures) {
    const row& r = *measured.find(s.task.scenario);
    s.ratio.reset();
    s.cpu_ratio.reset();
    if (sequential != nullptr) {
      const auto over = [](const measurement& a, const measurement& b) {
        return a.cpu_seconds / b.cpu_seconds;
      };
      s.cpu_ratio = s.more["work"] = median_of(by_round(r, *sequential, over));
    }
    if (!s.task.hope.value_or(false)) continue;
    compare(s, r, measured, cpus);
    if (s.task.deaths != 0 && undisturbed != nullptr) add_lost(s, r, *undisturbed);
  }
  return figures;
}

std::string hope_table(const std::vector<summary>& figures, const std::string& heading, bool colour) {
  std::string text = heading + "\n";
  text += styled(fmt::format("{:<12}{:>8}{:>10}  {:<19}{:>9}  {:<16}{:>7}{:>11}{:>9}{:>7}{:>10}  {}",
                             "scenario", "workers", "median s", "[q1 - q3]", "ratio", "[95 %]", "work",
                             "published", "omitted", "twice", "messages", "the ratio is to"),
                 "2", colour);
  for (const summary& s : figures) text += "\n" + line_of(s);
  for (const summary& s : figures) {
    const auto lost = s.more.find("lost_ms");
    if (lost == s.more.end()) continue;
    text += fmt::format("\n{}: {:.0f} ms [{:.0f}, {:.0f}] of CPU time lost by a death, a worker",
                        s.task.scenario, lost->second, s.more.at("lost_ms_low"), s.more.at("lost_ms_high"));
  }
  return text + "\n";
}

}  // namespace sukima::cli::bench
