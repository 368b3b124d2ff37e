// SPDX-License-Identifier: Apache-2.0
// Computes the workers of a run from the events of its trace; see trace_file.hpp.
#include "explain/trace_file.hpp"

#include <base/shared/assert.hpp>

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "explain/trace_events.hpp"
#include "shared/console.hpp"

namespace sukima::cli::explain {
namespace {

/// The runtime records the periods without a CPU under thread numbers that are higher by this amount.
constexpr std::uint64_t lane_of_cpu = 5'000;
/// Times above this many microseconds (30 years) mean that the file is damaged.
constexpr double latest = 1e15;

struct state_event {
  period when;
  activity kind;
};

/// The events of one thread of the trace.
struct thread_events {
  bool is_worker = false;
  recorded_worker worker;
  std::vector<state_event> states;
};

/// Sorts the events by thread.
class collector {
 public:
  explicit collector(std::string_view name) : name_(name) {}

  void take(event& e) {
    ++count_;
    if (e.ph == "M") {
      if (e.name == "thread_name" && e.tid && e.runtime) name_thread(e);
      if (e.name == "clones") take_clones(e);
      if (e.name == "clone_polls") take_clone_polls(e);
    } else if (e.ph == "X") {
      take_period(e);
    } else if (e.ph == "i") {
      take_instant(e);
    }
  }

  recorded_trace result() {
    recorded_trace trace;
    for (auto& [tid, thread] : threads_) {
      if (!thread.is_worker) continue;
      const auto lane = threads_.find(tid + lane_of_cpu);
      if (lane != threads_.end())
        thread.worker.without_cpu = merged(std::move(lane->second.worker.without_cpu));
      split_by_activity(thread);
      trace.workers.push_back(std::move(thread.worker));
    }
    if (trace.workers.empty())
      throw process::usage_error(fmt::format("'{}' is not a trace of Sukima: it names no worker", name_));
    std::ranges::sort(trace.workers, [](const recorded_worker& a, const recorded_worker& b) {
      return std::pair(a.runtime, a.number) < std::pair(b.runtime, b.number);
    });
    for (auto& [tid, made] : decisions_) {
      const auto thread = threads_.find(tid);
      if (thread == threads_.end() || !thread->second.is_worker) continue;
      made.runtime = thread->second.worker.runtime;
      trace.decisions.push_back(std::move(made));
    }
    // Among decisions with equal times, the runtime wrote the earlier one first.
    if (!std::ranges::is_sorted(trace.decisions, {}, &recorded_decision::at))
      std::ranges::sort(trace.decisions, {}, &recorded_decision::at);
    trace.clones = std::move(clones_);
    return trace;
  }

 private:
  [[noreturn]] void damaged(std::string_view problem) const {
    throw process::usage_error(fmt::format("'{}' is damaged: event {} {}", name_, count_, problem));
  }

  double seconds(const std::optional<double>& microseconds, std::string_view problem) const {
    if (!microseconds || !(*microseconds >= 0 && *microseconds <= latest)) damaged(problem);
    return *microseconds * 1e-6;
  }

  thread_events& thread_of(const event& e) {
    if (!e.tid) damaged("has no thread");
    if (last_ == nullptr || last_tid_ != *e.tid) {
      last_ = &threads_[*e.tid];
      last_tid_ = *e.tid;
    }
    return *last_;
  }

  void name_thread(const event& e) {
    constexpr std::string_view prefix = "worker ";
    thread_events& thread = thread_of(e);
    const std::string_view name = e.shown_name;
    if (!name.starts_with(prefix) || name.size() == prefix.size()) return;
    std::uint64_t number = 0;
    for (const char digit : name.substr(prefix.size())) {
      if (digit < '0' || digit > '9' || number > 1'000'000) damaged("names a worker without a number");
      number = 10 * number + static_cast<std::uint64_t>(digit - '0');
    }
    thread.is_worker = true;
    thread.worker.number = number;
    thread.worker.runtime = *e.runtime;
    thread.worker.is_full = e.full;
  }

  // Two instances of a template may have the same place.
  void take_clones(const event& e) {
    constexpr std::uint64_t deepest = 1'000'000;
    if (e.place.empty() || !e.depth || *e.depth > deepest || !e.expected_ns || !e.clones)
      damaged("counts clones without saying which");
    recorded_calls& calls = clones_[e.place].at[*e.depth];
    calls.expected = std::max(calls.expected, static_cast<double>(*e.expected_ns) * 1e-9);
    calls.clones += *e.clones;
  }
  void take_clone_polls(const event& e) {
    if (e.place.empty() || !e.served || !e.left_for_work || !e.left_for_abort)
      damaged("counts polls of clones without saying which");
    recorded_clones& clones = clones_[e.place];
    clones.served += *e.served;
    clones.left_for_work += *e.left_for_work;
    clones.left_for_abort += *e.left_for_abort;
  }

  void take_period(const event& e) {
    const double from = seconds(e.ts, "has no time");
    // If a program ends while its workers run, a state may begin after the last moment. Such a state is
    // empty.
    const bool ends_before = e.dur && *e.dur < 0;
    const period when{from, from + (ends_before ? 0.0 : seconds(e.dur, "has no duration"))};
    if (e.category == "cpu") {
      thread_of(e).worker.without_cpu.push_back(when);
    } else if (e.name == "working") {
      thread_of(e).states.push_back({when, activity::working});
    } else if (e.name == "searching") {
      thread_of(e).states.push_back({when, activity::searching});
    } else if (e.name == "sleeping") {
      thread_of(e).states.push_back({when, activity::sleeping});
    }
  }

  void take_instant(event& e) {
    const double at = seconds(e.ts, "has no time");
    if (e.category == "decision") {
      if (!e.tid || !e.before || !e.after || e.setting.empty()) damaged("is a decision without its figures");
      decisions_.push_back({*e.tid, {0, at, std::move(e.setting), *e.before, *e.after, std::move(e.reason)}});
    } else if (e.name == "steal") {
      if (!e.victim) damaged("is a steal without a victim");
      thread_of(e).worker.steals.push_back({at, *e.victim});
    } else if (e.name == "park") {
      ++thread_of(e).worker.parks;
    } else if (e.name == "suspend") {
      ++thread_of(e).worker.suspensions;
    }
  }

  /// Cuts off the part that overlaps an earlier state (rounded times may overlap), so that the sums are
  /// exact.
  static void split_by_activity(thread_events& thread) {
    const auto when = [](const state_event& s) { return std::pair(s.when.from, s.when.to); };
    if (!std::ranges::is_sorted(thread.states, {}, when)) std::ranges::sort(thread.states, {}, when);
    std::array<periods, activities> during;
    double end = 0;
    for (const state_event& s : thread.states) {
      during[static_cast<std::size_t>(s.kind)].push_back({std::max(s.when.from, end), s.when.to});
      end = std::max(end, s.when.to);
    }
    for (std::size_t i = 0; i < activities; ++i) thread.worker.during[i] = merged(std::move(during[i]));
    SUKIMA_ASSERT(
        std::ranges::all_of(thread.worker.during,
                            [end](const periods& list) { return list.empty() || list.back().to <= end; }),
        "the states of a worker end with the last one");
    thread.states = {};
  }

  std::string_view name_;
  std::uint64_t count_ = 0;
  std::unordered_map<std::uint64_t, thread_events> threads_;  // adding an element does not move the others
  thread_events* last_ = nullptr;
  std::uint64_t last_tid_ = 0;
  std::vector<std::pair<std::uint64_t, recorded_decision>> decisions_;
  std::map<std::string, recorded_clones> clones_;
};

}  // namespace

std::uint64_t recorded_clones::clones() const {
  return std::accumulate(at.begin(), at.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& entry) { return sum + entry.second.clones; });
}

recorded_trace parse_trace(std::string_view text, std::string_view name) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    throw process::usage_error(fmt::format("'{}' is empty: trace a run with SUKIMA_TRACE={}", name, name));
  collector events(name);
  read_events(text, name, [&](event& e) { events.take(e); });
  return events.result();
}

std::string read_text_to_explain(const std::string& file) {
  const auto refuse = [&](int reason) {
    throw process::usage_error(fmt::format("'{}' cannot be read: {}", file, std::strerror(reason)));
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(file.c_str(), "re"), std::fclose);
  if (stream == nullptr) refuse(errno);
  if (struct stat status; fstat(fileno(stream.get()), &status) == 0 && S_ISCHR(status.st_mode))
    throw process::usage_error(
        fmt::format("'{}' cannot be read: it is a device, which may have no end; give a file", file));
  std::string text;
  constexpr std::size_t step = std::size_t{1} << 20;
  for (std::size_t count = step; count == step;) {
    const std::size_t before = text.size();
    text.resize(before + step);
    errno = 0;
    count = std::fread(text.data() + before, 1, step, stream.get());
    text.resize(before + count);
    if (std::ferror(stream.get()) != 0) refuse(errno);
  }
  if (text.starts_with("\177ELF") || text.starts_with("#!"))
    throw process::usage_error(
        fmt::format("'{}' is a program, not a trace; to run it: sukima explain -- {}", file, file));
  return text;
}

}  // namespace sukima::cli::explain
