// SPDX-License-Identifier: Apache-2.0
// Collects and writes a run's timeline.
#include "observe/trace.hpp"

#include "constants.hpp"
#include "observe/traced_clones.hpp"
#include "shared/bad_setting.hpp"

#include <capacity/shared/output_file.h>
#include <base/shared/plain_numbers.hpp>
#include <sukima/detail/ticks.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

namespace sukima::detail {

trace_buffer::~trace_buffer() {
  for (trace_event* c : chunks_) delete[] c;
}

void trace_buffer::add(trace_kind kind, std::uint64_t tick, std::uint32_t argument) noexcept {
  if (is_shown_) shown_.shows(kind, argument);
  if (!is_written_) return;
  const std::size_t i = size_.load(std::memory_order_relaxed);
  if (i == chunk * chunks) return;
  trace_event*& events = chunks_[i / chunk];
  if (events == nullptr && (events = new (std::nothrow) trace_event[chunk]) == nullptr) return;
  events[i % chunk] = {tick, kind, argument};
  size_.store(i + 1, std::memory_order_release);
}

const char* name_of(trace_kind kind) noexcept {
  static constexpr std::array<const char*, trace_kinds> names{
      "working", "searching", "sleeping",   "outside",         "steal",   "park", "suspend", "abort",
      "split",   "exchange",  "taken back", "taken elsewhere", "at home", "away", "no place"};
  return names[static_cast<std::size_t>(kind)];
}

std::string quoted_for_trace(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out;
}

namespace {

struct traced_worker {
  std::uint64_t runtime;
  unsigned number;
  trace_buffer events{true};
};
struct traced_wait {
  std::uint64_t runtime;
  unsigned worker;
  std::uint64_t from;
  std::uint64_t to;
  std::uint64_t waited_ns;
};
struct traced_decision {
  std::uint64_t runtime;
  decision made;
  std::uint64_t tick;
};

/// All records, of all runtimes of the process. Never destroyed, because workers may outlive static objects.
class trace_log {
 public:
  explicit trace_log(std::string file) : file_(std::move(file)) {
    if (const int error = cap_output_check(file_.c_str()))
      throw_bad_setting("SUKIMA_TRACE='" + file_ + "' cannot be written: " + std::strerror(error) +
                        "; give the name of a file in a directory where files can be made");
    std::atexit([] { write_trace(); });
  }

  /// False in a child after fork(): the file is its parent's, and a thread that does not exist in the child
  /// may hold the lock. No handler of fork() takes the lock, because a thread may wait for it while it holds
  /// the default runtime's lock.
  bool is_of_this_process() const noexcept { return getpid() == process_; }

  trace_buffer* add_worker(std::uint64_t runtime, unsigned number) {
    const std::lock_guard hold(lock_);
    workers_.emplace_back(std::make_unique<traced_worker>());
    workers_.back()->runtime = runtime;
    workers_.back()->number = number;
    return &workers_.back()->events;
  }
  void add(const traced_wait& wait) {
    const std::lock_guard hold(lock_);
    waits_.push_back(wait);
  }
  void add(traced_decision&& made) {
    const std::lock_guard hold(lock_);
    decisions_.push_back(std::move(made));
  }
  traced_clones* add_clones(const char* name) {
    const std::lock_guard hold(lock_);
    return &clones_.emplace_back(shown_place(name));
  }

  void write() {
    const std::lock_guard hold(lock_);
    const plain_numbers here;
    cap_output_file file{};
    if (const int error = cap_output_open(&file, file_.c_str())) return complain(error);
    std::FILE* const out = file.stream;
    const std::uint64_t now = ticks();
    microseconds_per_tick_ = seconds_per_tick() * 1e6;
    std::fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[", out);
    std::fprintf(out, "\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":\"sukima\"}}",
                 process_);
    for (const auto& w : workers_) write(out, *w, now);
    for (const traced_wait& w : waits_) write(out, w);
    for (const traced_decision& d : decisions_) write(out, d);
    for (const traced_clones& c : clones_) c.write(out, process_, microseconds_per_tick_ * 1e3);
    std::fputs("\n]}\n", out);
    if (const int error = cap_output_close(&file, true)) complain(error);
  }

 private:
  void complain(int error) const {
    std::fprintf(stderr, "sukima: the trace '%s' could not be written: %s\n", file_.c_str(),
                 std::strerror(error));
  }
  double microseconds(std::uint64_t tick) const {
    return tick <= first_tick_ ? 0.0 : static_cast<double>(tick - first_tick_) * microseconds_per_tick_;
  }
  /// All runtimes and their workers share the process's list of threads.
  static unsigned thread_of(std::uint64_t runtime, unsigned worker) {
    return static_cast<unsigned>(runtime) * 10'000 + worker;
  }

  void write(std::FILE* out, const traced_worker& traced, std::uint64_t now) const {
    const unsigned thread = thread_of(traced.runtime, traced.number);
    std::fprintf(
        out,
        ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%d,\"tid\":%u,\"args\":{\"name\":\"worker %u\","
        "\"runtime\":%llu,\"full\":%s}}",
        process_, thread, traced.number, static_cast<unsigned long long>(traced.runtime),
        traced.events.is_full() ? "true" : "false");
    const trace_event* state = nullptr;
    const auto end_state = [&](std::uint64_t until) {
      if (state == nullptr || state->kind == trace_kind::outside) return;
      std::fprintf(out, ",\n{\"ph\":\"X\",\"name\":\"%s\",\"pid\":%d,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f}",
                   name_of(state->kind), process_, thread, microseconds(state->tick),
                   microseconds(until) - microseconds(state->tick));
    };
    const std::size_t count = traced.events.size();
    for (std::size_t i = 0; i < count; ++i) {
      const trace_event& e = traced.events[i];
      if (e.kind <= trace_kind::outside) {
        end_state(e.tick);
        state = &e;
      } else {
        std::fprintf(out, ",\n{\"ph\":\"i\",\"s\":\"t\",\"name\":\"%s\",\"pid\":%d,\"tid\":%u,\"ts\":%.3f",
                     name_of(e.kind), process_, thread, microseconds(e.tick));
        if (e.kind == trace_kind::steal) std::fprintf(out, ",\"args\":{\"victim\":%u}", e.argument);
        if (e.kind == trace_kind::split) std::fprintf(out, ",\"args\":{\"depth\":%u}", e.argument);
        if (e.kind >= trace_kind::exchange) std::fprintf(out, ",\"args\":{\"place\":%u}", e.argument);
        std::fputs("}", out);
      }
    }
    // Workers that still run may have added a state after `now` was read.
    if (state != nullptr)
      end_state(traced.events.is_full() ? traced.events[count - 1].tick : std::max(now, state->tick));
  }

  void write(std::FILE* out, const traced_wait& w) const {
    // The kernel reports how long the thread waited, not when. So the wait is shown at the end of the sample
    // in which it was accounted.
    const double waited = static_cast<double>(w.waited_ns) * 1e-3;
    const double end = microseconds(w.to);
    std::fprintf(
        out,
        ",\n{\"ph\":\"X\",\"cat\":\"cpu\",\"name\":\"no CPU\",\"pid\":%d,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f,"
        "\"args\":{\"sample_from\":%.3f,\"worker\":%u}}",
        process_, thread_of(w.runtime, w.worker) + 5'000, end > waited ? end - waited : 0.0, waited,
        microseconds(w.from), w.worker);
  }

  void write(std::FILE* out, const traced_decision& d) const {
    std::fprintf(
        out,
        ",\n{\"ph\":\"i\",\"s\":\"p\",\"cat\":\"decision\",\"name\":\"%s: %u to %u\",\"pid\":%d,\"tid\":%u,"
        "\"ts\":%.3f,\"args\":{\"what\":\"%s\",\"before\":%u,\"after\":%u,\"reason\":\"%s\"}}",
        d.made.setting.c_str(), d.made.before, d.made.after, process_, thread_of(d.runtime, 0),
        microseconds(d.tick), d.made.setting.c_str(), d.made.before, d.made.after,
        quoted_for_trace(d.made.reason).c_str());
  }

  const std::string file_;
  const int process_ = getpid();
  const std::uint64_t first_tick_ = ticks();
  double microseconds_per_tick_ = 0;  ///< set when the trace is written
  std::mutex lock_;
  std::vector<std::unique_ptr<traced_worker>> workers_;
  std::deque<traced_wait> waits_;
  std::deque<traced_decision> decisions_;
  std::deque<traced_clones> clones_;
};

/// Returns the whole path of a file, because the program may have changed its folder when the trace is
/// written.
std::string from_here(const char* file) {
  const std::unique_ptr<char, decltype(&std::free)> folder(*file == '/' ? nullptr : getcwd(nullptr, 0),
                                                           std::free);
  return folder == nullptr ? file : std::string(folder.get()) + "/" + file;
}

/// Null: nothing is traced, or the trace belongs to the process that has forked this one. The variable is
/// read once.
trace_log* the_log() {
  static trace_log* const log = []() -> trace_log* {
    const char* file = std::getenv("SUKIMA_TRACE");
    return file == nullptr || *file == '\0' ? nullptr : new trace_log(from_here(file));
  }();
  return log != nullptr && log->is_of_this_process() ? log : nullptr;
}

/// The buffers of all workers whose events only a profiler gets. They live until the process ends. A child of
/// fork() can add to the list at any time.
struct unwritten {
  trace_buffer events{false};
  unwritten* next = nullptr;
};
std::atomic<unwritten*> all_unwritten{nullptr};  // no partner: no thread follows the list

trace_buffer* add_unwritten() {
  auto* const added = new unwritten;
  added->next = all_unwritten.load(std::memory_order_relaxed);
  while (!all_unwritten.compare_exchange_weak(added->next, added, std::memory_order_relaxed)) {
  }
  return &added->events;
}

}  // namespace

bool tracing() { return the_log() != nullptr; }

trace_buffer* trace_worker(std::uint64_t runtime_serial, unsigned worker) {
  trace_log* const log = the_log();
  if (log != nullptr) return log->add_worker(runtime_serial, worker);
  return itt_listens() ? add_unwritten() : nullptr;
}

void trace_no_cpu(std::uint64_t runtime_serial, unsigned worker, std::uint64_t from, std::uint64_t to,
                  std::uint64_t waited_ns) {
  if (trace_log* const log = the_log()) log->add({runtime_serial, worker, from, to, waited_ns});
}

void trace_decision(std::uint64_t runtime_serial, const decision& made, std::uint64_t tick) {
  if (trace_log* const log = the_log()) log->add({runtime_serial, made, tick});
}

traced_clones* trace_clones(const char* name) noexcept {
  try {
    trace_log* const log = the_log();
    return log == nullptr ? nullptr : log->add_clones(name);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void write_trace() noexcept {
  try {
    if (trace_log* const log = the_log()) log->write();
  } catch (...) {  // NOLINT(bugprone-empty-catch): a trace that cannot be written must not end the program
  }
}

}  // namespace sukima::detail
