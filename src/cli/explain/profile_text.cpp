// SPDX-License-Identifier: Apache-2.0
// Profiles as text and as JSON; see run_profile.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "explain/run_profile.hpp"
#include "shared/console.hpp"

namespace sukima::cli::explain {
namespace {

using text_buffer = fmt::memory_buffer;

void line(text_buffer& out, fmt::string_view form, const auto&... values) {
  fmt::vformat_to(std::back_inserter(out), form, fmt::make_format_args(values...));
  out.push_back('\n');
}

std::string count_text(std::uint64_t count, std::string_view one, std::string_view more) {
  return fmt::format("{} {}", count, count == 1 ? one : more);
}

void write_summary(text_buffer& out, const runtime_profile& profile, bool is_only_one) {
  if (!is_only_one) line(out, "Runtime {}", profile.runtime);
  const double seconds = profile.run.seconds();
  if (!(seconds > 0)) {
    line(out, "No work was done.");
    return;
  }
  const std::size_t seen = profile.workers_seen();
  const std::string pauses =
      profile.seconds_with_work < 0.999 * seconds
          ? fmt::format(" ({} with work, and pauses between)", time_text(profile.seconds_with_work))
          : "";
  line(out, "The run took {}{}. {} used {:.3g} CPUs on average.", time_text(seconds), pauses,
       count_text(seen, "worker", "workers"), profile.cpus);
}

std::string decision_text(const recorded_decision& d) {
  const std::string setting = printable(d.setting);
  if (setting == "spinning")
    return d.after != 0 ? "idle workers search again before they sleep"
                        : "idle workers sleep at once from now on";
  if (setting == "assigned_cpu")
    return d.after != 0 ? "each worker stays on a CPU of its own from now on"
                        : "workers may move between CPUs again";
  if (d.before == d.after) return fmt::format("{} {}", d.after, setting);
  return fmt::format("{} {} instead of {}", d.after, setting, d.before);
}

void write_decisions(text_buffer& out, const runtime_profile& profile) {
  if (profile.decisions.empty()) return;
  // Decisions before the first work belong to the runtime's start.
  const double start = profile.run.from;
  line(out, "\nWhat the runtime decided:");
  for (const recorded_decision& d : profile.decisions) {
    const std::string when =
        d.at <= start ? "at the start" : fmt::format("after {}", time_text(d.at - start));
    line(out, "  {:<14} {}: {}", when, decision_text(d), printable(d.reason));
  }
}

void write_workers(text_buffer& out, const runtime_profile& profile) {
  const double seconds = profile.run.seconds();
  const auto share = [&](double part) { return fmt::format("{:.1f} %", 100 * part / seconds); };
  line(out, "\n{:<12}{:>9}{:>11}{:>10}{:>9}{:>9}{:>8}{:>7}", "", "working", "searching", "sleeping", "no CPU",
       "outside", "steals", "parks");
  for (const worker_profile& w : profile.workers) {
    line(out, "{:<12}{:>9}{:>11}{:>10}{:>9}{:>9}{:>8}{:>7}", fmt::format("worker {}", w.number),
         share(w.working), share(w.searching), share(w.sleeping), share(w.without_cpu), share(w.outside),
         w.all_steals(), w.parks);
  }
}

void write_steals(text_buffer& out, const runtime_profile& profile) {
  bool any = false;
  for (const worker_profile& w : profile.workers) {
    if (w.steals.empty()) continue;
    if (!any) line(out, "\nSteals:");
    any = true;
    std::string victims;
    for (const auto& [victim, count] : w.steals)
      victims += fmt::format("{}{} from worker {}", victims.empty() ? "" : ", ", count, victim);
    line(out, "  worker {} took {}", w.number, victims);
  }
  if (const wait_summary& waits = profile.thief_waits; waits.count != 0)
    line(out, "  thieves waited {} (median), {} (99th percentile), {} at most", time_text(waits.median),
         time_text(waits.p99), time_text(waits.longest));
  for (const worker_profile& w : profile.workers)
    if (w.suspensions != 0)
      line(out, "  worker {} suspended {}", w.number, count_text(w.suspensions, "fiber", "fibers"));
}

void write_longest(text_buffer& out, const runtime_profile& profile, std::string_view title,
                   const std::vector<long_period>& list) {
  if (list.empty()) return;
  std::string entries;
  for (const long_period& p : list)
    entries += fmt::format("{}worker {} for {} after {}", entries.empty() ? "" : "; ", p.worker,
                           time_text(p.when.seconds()), time_text(p.when.from - profile.run.from));
  line(out, "{}: {}.", title, entries);
}

void write_diagnosis(text_buffer& out, const runtime_profile& profile) {
  line(out, "\nLost of the workers' {}:", time_text(profile.seconds_of_workers));
  for (const loss& l : profile.losses)
    line(out, "  {} ({:.1f} %): {}", time_text(l.seconds), 100 * l.share, l.reason);
  if (profile.losses.empty()) line(out, "  nothing was lost");
  line(out, "\nTo try:");
  for (const std::string& sentence : profile.advice) out.append(in_lines(sentence));
}

nlohmann::json json_of(const long_period& p) {
  return {{"worker", p.worker}, {"at", p.when.from}, {"seconds", p.when.seconds()}};
}

nlohmann::json json_of(const worker_profile& w) {
  nlohmann::json steals = nlohmann::json::array();
  for (const auto& [victim, count] : w.steals) steals.push_back({{"from", victim}, {"count", count}});
  return {{"worker", w.number},
          {"seconds",
           {{"working", w.working},
            {"searching", w.searching},
            {"sleeping", w.sleeping},
            {"no_cpu", w.without_cpu},
            {"outside", w.outside}}},
          {"steals", steals},
          {"parks", w.parks},
          {"suspensions", w.suspensions},
          {"full", w.is_full}};
}

nlohmann::json json_of(const recorded_decision& d) {
  return {{"at", d.at}, {"what", d.setting}, {"before", d.before}, {"after", d.after}, {"reason", d.reason}};
}

nlohmann::json json_of(const wait_summary& w) {
  return {{"count", w.count}, {"median", w.median}, {"p99", w.p99}, {"longest", w.longest}};
}

nlohmann::json json_of(const loss& l) {
  return {{"kind", l.kind}, {"seconds", l.seconds}, {"share", l.share}, {"reason", l.reason}};
}

nlohmann::json json_of(const runtime_profile& profile);

template <class T> nlohmann::json json_list(const std::vector<T>& list) {
  nlohmann::json result = nlohmann::json::array();
  for (const T& entry : list) result.push_back(json_of(entry));
  return result;
}

nlohmann::json json_of(const runtime_profile& profile) {
  return {{"runtime", profile.runtime},
          {"at", profile.run.from},
          {"seconds", profile.run.seconds()},
          {"seconds_with_work", profile.seconds_with_work},
          {"seconds_of_workers", profile.seconds_of_workers},
          {"cpus", profile.cpus},
          {"workers_seen", profile.workers_seen()},
          {"workers", json_list(profile.workers)},
          {"decisions", json_list(profile.decisions)},
          {"thief_waits", json_of(profile.thief_waits)},
          {"longest_without_cpu", json_list(profile.longest_without_cpu)},
          {"longest_without_work", json_list(profile.longest_without_work)},
          {"losses", json_list(profile.losses)},
          {"advice", profile.advice}};
}

}  // namespace

std::string in_lines(std::string_view sentence) {
  constexpr std::size_t width = 100;
  std::string text;
  while (!sentence.empty()) {
    std::size_t end = sentence.size();
    if (end > width) {
      end = sentence.rfind(' ', width);
      if (end == std::string_view::npos || end == 0) end = sentence.size();
    }
    text += fmt::format("  {}\n", sentence.substr(0, end));
    sentence.remove_prefix(std::min(sentence.size(), end + 1));
  }
  return text;
}

std::string time_text(double seconds) {
  if (seconds >= 0.9995) return fmt::format("{:.3g} s", seconds);
  if (seconds >= 0.9995e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} µs", seconds * 1e6);
}

std::string text_of(const std::vector<runtime_profile>& profiles) {
  text_buffer out;
  for (const runtime_profile& profile : profiles) {
    if (&profile != &profiles.front()) out.push_back('\n');
    write_summary(out, profile, profiles.size() == 1);
    write_decisions(out, profile);
    if (!(profile.run.seconds() > 0)) continue;
    write_workers(out, profile);
    write_steals(out, profile);
    if (!profile.longest_without_cpu.empty() || !profile.longest_without_work.empty()) out.push_back('\n');
    write_longest(out, profile, "Longest without a CPU", profile.longest_without_cpu);
    write_longest(out, profile, "Longest without work", profile.longest_without_work);
    write_diagnosis(out, profile);
  }
  return fmt::to_string(out);
}

nlohmann::json json_of(const std::vector<runtime_profile>& profiles) { return json_list(profiles); }

}  // namespace sukima::cli::explain
