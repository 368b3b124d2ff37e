// SPDX-License-Identifier: Apache-2.0
// The story in words, and as JSON; see story.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "explain/story.hpp"

namespace sukima::cli::explain {
namespace {

using text_buffer = fmt::memory_buffer;

void line(text_buffer& out, fmt::string_view form, const auto&... values) {
  fmt::vformat_to(std::back_inserter(out), form, fmt::make_format_args(values...));
  out.push_back('\n');
}

/// The file's words without control characters, which a terminal would obey.
std::string printable(std::string words) {
  std::ranges::replace_if(words, [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; }, '?');
  return words;
}

/// A sentence in lines of some width at most, each with two blanks before it.
void write_sentence(text_buffer& out, std::string_view sentence) {
  constexpr std::size_t width = 100;
  while (!sentence.empty()) {
    std::size_t end = sentence.size();
    if (end > width) {
      end = sentence.rfind(' ', width);
      if (end == std::string_view::npos || end == 0) end = sentence.size();
    }
    line(out, "  {}", sentence.substr(0, end));
    sentence.remove_prefix(std::min(sentence.size(), end + 1));
  }
}

std::string count_text(std::uint64_t count, std::string_view one, std::string_view more) {
  return fmt::format("{} {}", count, count == 1 ? one : more);
}

void write_summary(text_buffer& out, const runtime_story& story, bool is_only_one) {
  if (!is_only_one) line(out, "Runtime {}", story.runtime);
  const double seconds = story.run.seconds();
  if (!(seconds > 0)) {
    line(out, "No work was done.");
    return;
  }
  const std::size_t seen = story.workers_seen();
  const std::string pauses =
      story.seconds_with_work < 0.999 * seconds
          ? fmt::format(" ({} with work, and pauses between)", time_text(story.seconds_with_work))
          : "";
  line(out, "The run took {}{}. {} used {:.3g} CPUs in the mean.", time_text(seconds), pauses,
       count_text(seen, "worker", "workers"), story.cpus);
}

std::string decision_text(const recorded_decision& d) {
  const std::string what = printable(d.what);
  if (what == "spinning")
    return d.after != 0 ? "idle workers look around again before they sleep"
                        : "idle workers sleep at once from now on";
  if (what == "assigned_cpu")
    return d.after != 0 ? "each worker stays on a CPU of its own from now on"
                        : "workers may move between CPUs again";
  if (d.before == d.after) return fmt::format("{} {}", d.after, what);
  return fmt::format("{} {} in place of {}", d.after, what, d.before);
}

void write_decisions(text_buffer& out, const runtime_story& story) {
  if (story.decisions.empty()) return;
  // Those before the first work are the runtime's start.
  const double start = story.run.from;
  line(out, "\nWhat the runtime decided:");
  for (const recorded_decision& d : story.decisions) {
    const std::string when =
        d.at <= start ? "at the start" : fmt::format("after {}", time_text(d.at - start));
    line(out, "  {:<14} {}: {}", when, decision_text(d), printable(d.reason));
  }
}

void write_workers(text_buffer& out, const runtime_story& story) {
  const double seconds = story.run.seconds();
  const auto share = [&](double part) { return fmt::format("{:.1f} %", 100 * part / seconds); };
  line(out, "\n{:<12}{:>9}{:>11}{:>10}{:>9}{:>9}{:>8}{:>7}", "", "working", "searching", "sleeping", "no CPU",
       "outside", "steals", "parks");
  for (const worker_story& w : story.workers) {
    line(out, "{:<12}{:>9}{:>11}{:>10}{:>9}{:>9}{:>8}{:>7}", fmt::format("worker {}", w.number),
         share(w.working), share(w.searching), share(w.sleeping), share(w.without_cpu), share(w.outside),
         w.all_steals(), w.parks);
  }
}

void write_steals(text_buffer& out, const runtime_story& story) {
  bool any = false;
  for (const worker_story& w : story.workers) {
    if (w.steals.empty()) continue;
    if (!any) line(out, "\nSteals:");
    any = true;
    std::string victims;
    for (const auto& [victim, count] : w.steals)
      victims += fmt::format("{}{} from worker {}", victims.empty() ? "" : ", ", count, victim);
    line(out, "  worker {} took {}", w.number, victims);
  }
  for (const worker_story& w : story.workers)
    if (w.suspensions != 0)
      line(out, "  worker {} suspended {}", w.number, count_text(w.suspensions, "fiber", "fibers"));
}

void write_longest(text_buffer& out, const runtime_story& story, std::string_view title,
                   const std::vector<long_period>& list) {
  if (list.empty()) return;
  std::string entries;
  for (const long_period& p : list)
    entries += fmt::format("{}worker {} for {} after {}", entries.empty() ? "" : "; ", p.worker,
                           time_text(p.when.seconds()), time_text(p.when.from - story.run.from));
  line(out, "{}: {}.", title, entries);
}

void write_conclusion(text_buffer& out, const runtime_story& story) {
  line(out, "\nOf the workers' {}:", time_text(story.seconds_of_workers));
  for (const loss& l : story.losses)
    line(out, "  {} ({:.1f} %): {}", time_text(l.seconds), 100 * l.share, l.reason);
  if (story.losses.empty()) line(out, "  nothing was lost");
  line(out, "\nTo try:");
  for (const std::string& sentence : story.advice) write_sentence(out, sentence);
}

nlohmann::json json_of(const long_period& p) {
  return {{"worker", p.worker}, {"at", p.when.from}, {"seconds", p.when.seconds()}};
}

nlohmann::json json_of(const worker_story& w) {
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
  return {{"at", d.at}, {"what", d.what}, {"before", d.before}, {"after", d.after}, {"reason", d.reason}};
}

nlohmann::json json_of(const loss& l) {
  return {{"kind", l.kind}, {"seconds", l.seconds}, {"share", l.share}, {"reason", l.reason}};
}

nlohmann::json json_of(const runtime_story& story);

template <class T> nlohmann::json json_list(const std::vector<T>& list) {
  nlohmann::json result = nlohmann::json::array();
  for (const T& entry : list) result.push_back(json_of(entry));
  return result;
}

nlohmann::json json_of(const runtime_story& story) {
  return {{"runtime", story.runtime},
          {"at", story.run.from},
          {"seconds", story.run.seconds()},
          {"seconds_with_work", story.seconds_with_work},
          {"seconds_of_workers", story.seconds_of_workers},
          {"cpus", story.cpus},
          {"workers_seen", story.workers_seen()},
          {"workers", json_list(story.workers)},
          {"decisions", json_list(story.decisions)},
          {"longest_without_cpu", json_list(story.longest_without_cpu)},
          {"longest_without_work", json_list(story.longest_without_work)},
          {"losses", json_list(story.losses)},
          {"advice", story.advice}};
}

}  // namespace

std::string time_text(double seconds) {
  if (seconds >= 0.9995) return fmt::format("{:.3g} s", seconds);
  if (seconds >= 0.9995e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} µs", seconds * 1e6);
}

std::string text_of(const std::vector<runtime_story>& stories) {
  text_buffer out;
  for (const runtime_story& story : stories) {
    if (&story != &stories.front()) out.push_back('\n');
    write_summary(out, story, stories.size() == 1);
    write_decisions(out, story);
    if (!(story.run.seconds() > 0)) continue;
    write_workers(out, story);
    write_steals(out, story);
    if (!story.longest_without_cpu.empty() || !story.longest_without_work.empty()) out.push_back('\n');
    write_longest(out, story, "Longest without a CPU", story.longest_without_cpu);
    write_longest(out, story, "Longest without work", story.longest_without_work);
    write_conclusion(out, story);
  }
  return fmt::to_string(out);
}

nlohmann::json json_of(const std::vector<runtime_story>& stories) {
  return {{"runtimes", json_list(stories)}};
}

}  // namespace sukima::cli::explain
