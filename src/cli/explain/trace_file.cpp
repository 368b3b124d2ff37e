// SPDX-License-Identifier: Apache-2.0
// Reading a trace event by event, without a tree of the whole file in memory; see trace_file.hpp.
#include "explain/trace_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>

#include "console.hpp"

namespace sukima::cli::explain {
namespace {

/// The runtime draws the periods without a CPU on threads of their own, numbered so much higher.
constexpr std::uint64_t lane_of_cpu = 5'000;
/// Times beyond this many microseconds (30 years) are damage.
constexpr double latest = 1e15;

/// The members of an event and of its `args` that matter.
enum class member {
  other,
  ph,
  name,
  category,
  tid,
  ts,
  dur,
  args,
  runtime,
  full,
  victim,
  what,
  before,
  after,
  reason
};

/// One event as it stands in the file.
struct event {
  std::string ph, name, category;
  std::optional<std::uint64_t> tid;
  std::optional<double> ts, dur;
  std::string shown_name, what, reason;  // of args
  std::optional<std::uint64_t> runtime, victim, before, after;
  bool full = false;

  void clear() {
    for (std::string* text : {&ph, &name, &category, &shown_name, &what, &reason}) text->clear();
    tid.reset();
    ts.reset();
    dur.reset();
    for (auto* number : {&runtime, &victim, &before, &after}) number->reset();
    full = false;
  }
};

struct state_event {
  period when;
  activity what;
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
      throw usage_error(fmt::format("'{}' is not a trace of Sukima: it names no worker", name_));
    std::ranges::sort(trace.workers, [](const recorded_worker& a, const recorded_worker& b) {
      return std::pair(a.runtime, a.number) < std::pair(b.runtime, b.number);
    });
    for (auto& [tid, made] : decisions_) {
      const auto thread = threads_.find(tid);
      if (thread == threads_.end() || !thread->second.is_worker) continue;
      made.runtime = thread->second.worker.runtime;
      trace.decisions.push_back(std::move(made));
    }
    // Of equal times the runtime wrote the earlier one first.
    if (!std::ranges::is_sorted(trace.decisions, {}, &recorded_decision::at))
      std::ranges::sort(trace.decisions, {}, &recorded_decision::at);
    return trace;
  }

 private:
  [[noreturn]] void damaged(std::string_view what) const {
    throw usage_error(fmt::format("'{}' is damaged: event {} {}", name_, count_, what));
  }

  double seconds(const std::optional<double>& microseconds, std::string_view what) const {
    if (!microseconds || !(*microseconds >= 0 && *microseconds <= latest)) damaged(what);
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

  void take_period(const event& e) {
    const double from = seconds(e.ts, "has no time");
    // A program that ends while its workers run may leave a state that began after the last moment: it is
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
      if (!e.tid || !e.before || !e.after || e.what.empty()) damaged("is a decision without its figures");
      decisions_.push_back({*e.tid, {0, at, std::move(e.what), *e.before, *e.after, std::move(e.reason)}});
    } else if (e.name == "steal") {
      if (!e.victim) damaged("is a steal without a victim");
      ++thread_of(e).worker.steals[*e.victim];
    } else if (e.name == "park") {
      ++thread_of(e).worker.parks;
    } else if (e.name == "suspend") {
      ++thread_of(e).worker.suspensions;
    }
  }

  /// What overlaps an earlier state (as rounded times may) is cut off, so that the sums come out even.
  static void split_by_activity(thread_events& thread) {
    const auto when = [](const state_event& s) { return std::pair(s.when.from, s.when.to); };
    if (!std::ranges::is_sorted(thread.states, {}, when)) std::ranges::sort(thread.states, {}, when);
    std::array<periods, activities> during;
    double end = 0;
    for (const state_event& s : thread.states) {
      during[static_cast<std::size_t>(s.what)].push_back({std::max(s.when.from, end), s.when.to});
      end = std::max(end, s.when.to);
    }
    for (std::size_t i = 0; i < activities; ++i) thread.worker.during[i] = merged(std::move(during[i]));
    thread.states = {};
  }

  std::string_view name_;
  std::uint64_t count_ = 0;
  std::unordered_map<std::uint64_t, thread_events> threads_;  // its elements stay where they are
  thread_events* last_ = nullptr;
  std::uint64_t last_tid_ = 0;
  std::vector<std::pair<std::uint64_t, recorded_decision>> decisions_;
};

/// Puts events together from what the JSON parser finds, and hands them on.
class event_reader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  event_reader(collector& to, std::string_view name, std::size_t size) : to_(to), name_(name), size_(size) {}

  /// Did the text have a list of events?
  bool has_events() const { return has_events_; }

  bool null() override { return true; }
  bool boolean(bool value) override {
    if (depth_ == in_args && member_ == member::full) event_.full = value;
    return true;
  }
  bool number_integer(number_integer_t) override { return true; }  // a negative one: nothing that matters is
  bool number_unsigned(number_unsigned_t value) override {
    if (depth_ == in_args) {
      if (std::optional<std::uint64_t>* place = number_of_args()) *place = value;
    } else if (depth_ == in_event && skipped_ == 0 && member_ == member::tid) {
      event_.tid = value;
    } else {
      take_time(static_cast<double>(value));
    }
    return true;
  }
  bool number_float(number_float_t value, const string_t&) override {
    take_time(value);
    return true;
  }
  bool string(string_t& value) override {
    if (std::string* place = text_place()) *place = value;
    return true;
  }
  bool binary(binary_t&) override { return true; }
  bool key(string_t& name) override {
    if (depth_ == 1) is_event_list_ = name == "traceEvents";
    if (depth_ == in_event || depth_ == in_args) member_ = member_called(name);
    return true;
  }
  bool start_object(std::size_t) override {
    const bool is_event = depth_ == 2 && in_list_;
    const bool is_args = depth_ == in_event && member_ == member::args;
    ++skipped_or_depth(is_event || is_args || depth_ == 0);
    if (is_event) event_.clear();
    return true;
  }
  bool end_object() override {
    if (skipped_ != 0) {
      --skipped_;
      return true;
    }
    if (depth_ == in_event) to_.take(event_);
    --depth_;
    member_ = member::other;
    return true;
  }
  bool start_array(std::size_t) override {
    const bool is_list = depth_ == 1 && is_event_list_;
    ++skipped_or_depth(is_list);
    if (is_list && skipped_ == 0) in_list_ = has_events_ = true;
    return true;
  }
  bool end_array() override {
    if (skipped_ != 0) {
      --skipped_;
      return true;
    }
    --depth_;
    in_list_ = is_event_list_ = false;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    if (position > size_ && position > 1)
      throw usage_error(fmt::format("'{}' is cut off: its JSON does not end", name_));
    throw usage_error(fmt::format("'{}' is not JSON (byte {})", name_, position));
  }

 private:
  static constexpr unsigned in_event = 3;  // within the list within the outermost object
  static constexpr unsigned in_args = 4;

  /// Whatever else is nested somewhere is skipped as a whole.
  unsigned& skipped_or_depth(bool known) { return known && skipped_ == 0 ? depth_ : skipped_; }

  static member member_called(std::string_view name) {
    static constexpr std::pair<std::string_view, member> members[] = {
        {"ph", member::ph},         {"name", member::name},       {"cat", member::category},
        {"tid", member::tid},       {"ts", member::ts},           {"dur", member::dur},
        {"args", member::args},     {"runtime", member::runtime}, {"full", member::full},
        {"victim", member::victim}, {"what", member::what},       {"before", member::before},
        {"after", member::after},   {"reason", member::reason},
    };
    const auto* const found = std::ranges::find(members, name, &std::pair<std::string_view, member>::first);
    return found == std::end(members) ? member::other : found->second;
  }

  void take_time(double value) {
    if (depth_ != in_event || skipped_ != 0) return;
    if (member_ == member::ts) event_.ts = value;
    if (member_ == member::dur) event_.dur = value;
  }

  std::optional<std::uint64_t>* number_of_args() {
    if (skipped_ != 0) return nullptr;
    switch (member_) {
      case member::runtime:
        return &event_.runtime;
      case member::victim:
        return &event_.victim;
      case member::before:
        return &event_.before;
      case member::after:
        return &event_.after;
      default:
        return nullptr;
    }
  }

  std::string* text_place() {
    if (skipped_ != 0) return nullptr;
    if (depth_ == in_args) {
      switch (member_) {
        case member::name:
          return &event_.shown_name;
        case member::what:
          return &event_.what;
        case member::reason:
          return &event_.reason;
        default:
          return nullptr;
      }
    }
    if (depth_ != in_event) return nullptr;
    switch (member_) {
      case member::ph:
        return &event_.ph;
      case member::name:
        return &event_.name;
      case member::category:
        return &event_.category;
      default:
        return nullptr;
    }
  }

  collector& to_;
  std::string_view name_;
  std::size_t size_;
  event event_;
  member member_ = member::other;
  unsigned depth_ = 0;
  unsigned skipped_ = 0;
  bool is_event_list_ = false;
  bool in_list_ = false;
  bool has_events_ = false;
};

}  // namespace

recorded_trace parse_trace(std::string_view text, std::string_view name) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    throw usage_error(fmt::format("'{}' is empty: trace a run with SUKIMA_TRACE={}", name, name));
  collector events(name);
  event_reader reader(events, name, text.size());
  nlohmann::json::sax_parse(text.begin(), text.end(), &reader);
  if (!reader.has_events())
    throw usage_error(fmt::format("'{}' is JSON but not a trace: it has no list 'traceEvents'", name));
  return events.result();
}

recorded_trace read_trace(const std::string& file) {
  const auto refuse = [&](int reason) {
    throw usage_error(fmt::format("'{}' cannot be read: {}", file, std::strerror(reason)));
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(file.c_str(), "re"), std::fclose);
  if (stream == nullptr) refuse(errno);
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
    throw usage_error(
        fmt::format("'{}' is a program, not a trace; to run it: sukima explain -- {}", file, file));
  return parse_trace(text, file);
}

}  // namespace sukima::cli::explain
