// SPDX-License-Identifier: Apache-2.0
// The timeline of a run, written in Chrome's trace format where SUKIMA_TRACE says.
#pragma once

#include "observe/itt.hpp"

#include <sukima/runtime.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

namespace sukima::detail {

struct traced_clones;

/// What happened. The first four are the states of a worker, in the order of worker_state; each lasts until
/// the next. So do the last three: where the worker is, as seen from its fiber's place.
enum class trace_kind : std::uint32_t {
  working,
  searching,
  sleeping,
  outside,
  steal,
  park,
  suspend,
  abort,
  split,
  exchange,
  taken_back,
  taken_elsewhere,
  at_home,
  away,
  no_place
};
inline constexpr std::size_t trace_kinds = static_cast<std::size_t>(trace_kind::no_place) + 1;
/// Its name in the file, and in a profiler.
const char* name_of(trace_kind kind) noexcept;

struct trace_event {
  std::uint64_t tick;
  trace_kind kind;
  std::uint32_t argument;  ///< steal: the victim's number; split: the depth; from exchange on: the place's
};

/// One worker's events. Only its own thread adds; any thread may read the events that were added before.
class trace_buffer {
 public:
  /// \param is_written  they are kept for the trace's file; else only a profiler sees them
  explicit trace_buffer(bool is_written) : is_written_(is_written) {}
  ~trace_buffer();
  trace_buffer(const trace_buffer&) = delete;
  trace_buffer& operator=(const trace_buffer&) = delete;

  /// Shows the event to a profiler that listens, and keeps it. Forgets it if memory runs out, or if there are
  /// a million of them already.
  void add(trace_kind kind, std::uint64_t tick, std::uint32_t argument = 0) noexcept;
  /// How many events may be read. Any thread.
  std::size_t size() const noexcept { return size_.load(std::memory_order_acquire); }
  const trace_event& operator[](std::size_t i) const noexcept { return chunks_[i / chunk][i % chunk]; }
  bool is_full() const noexcept { return size() == chunk * chunks; }

 private:
  static constexpr std::size_t chunk = 4096;
  static constexpr std::size_t chunks = 256;
  const bool is_written_;
  const bool is_shown_ = itt_listens();
  itt_worker shown_;
  std::array<trace_event*, chunks> chunks_{};  ///< released with size_
  std::atomic<std::size_t> size_{0};  ///< pairs with: add, size
};

/// Whether a trace is wanted. \throws bad_setting if SUKIMA_TRACE names a file that cannot be written
bool tracing();
/// A buffer for a new worker of a runtime; null without a trace and a profiler. Lives until the process ends.
trace_buffer* trace_worker(std::uint64_t runtime_serial, unsigned worker);
/// Notes how long that worker's thread waited for a CPU, at some time between these ticks.
void trace_no_cpu(std::uint64_t runtime_serial, unsigned worker, std::uint64_t from, std::uint64_t to,
                  std::uint64_t waited_ns);
/// Counters for a place where clones begin; null without a trace, or if memory ran out. Live until the
/// process ends. \param name the compiler's (name_of_place)
traced_clones* trace_clones(const char* name) noexcept;
void trace_decision(std::uint64_t runtime_serial, const decision& made, std::uint64_t tick);
/// Writes everything so far. Also done when the process ends.
void write_trace() noexcept;
/// A text inside JSON's quotes.
std::string quoted_for_trace(const std::string& text);

}  // namespace sukima::detail
