// SPDX-License-Identifier: Apache-2.0
// The timeline of a run, written in Chrome's trace format to the file that SUKIMA_TRACE names.
#pragma once

#include "observe/itt.hpp"

#include <sukima/runtime.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

namespace sukima::detail {

struct traced_clones;

/// The kinds of events. The first four are the states of a worker, in the order of worker_state; each lasts
/// until the next one. So does each of the last three: where the worker is, relative to its fiber's place.
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
/// The name of a kind in the file, and in a profiler.
const char* name_of(trace_kind kind) noexcept;

struct trace_event {
  std::uint64_t tick;
  trace_kind kind;
  std::uint32_t argument;  ///< steal: the victim's number; split: the depth; from exchange on: the place's
};

/// One worker's events. Only the worker's thread adds events; any thread may read events that were added
/// before.
class trace_buffer {
 public:
  /// \param is_written  whether events are kept for the trace's file; otherwise only a profiler gets them
  explicit trace_buffer(bool is_written) : is_written_(is_written) {}
  ~trace_buffer();
  trace_buffer(const trace_buffer&) = delete;
  trace_buffer& operator=(const trace_buffer&) = delete;

  /// Shows the event to a profiler that listens, and keeps it. Drops it if memory runs out, or if there are a
  /// million events already.
  void add(trace_kind kind, std::uint64_t tick, std::uint32_t argument = 0) noexcept;
  /// How many events may be read. May be called by any thread.
  std::size_t size() const noexcept { return size_.load(std::memory_order_acquire); }
  const trace_event& operator[](std::size_t i) const noexcept { return chunks_[i / chunk][i % chunk]; }
  bool is_full() const noexcept { return size() == chunk * chunks; }

 private:
  static constexpr std::size_t chunk = 4096;
  static constexpr std::size_t chunks = 256;
  const bool is_written_;
  const bool is_shown_ = itt_listens();
  itt_worker shown_;
  std::array<trace_event*, chunks> chunks_{};  ///< published by size_
  std::atomic<std::size_t> size_{0};  ///< pairs with: add, size
};

/// Whether a trace is wanted. \throws bad_setting if SUKIMA_TRACE names a file that cannot be written
bool tracing();
/// Returns a buffer for a new worker of a runtime; null without a trace and a profiler. It lives until the
/// process ends.
trace_buffer* trace_worker(std::uint64_t runtime_serial, unsigned worker);
/// Records how long that worker's thread waited for a CPU, at some time between these ticks.
void trace_no_cpu(std::uint64_t runtime_serial, unsigned worker, std::uint64_t from, std::uint64_t to,
                  std::uint64_t waited_ns);
/// Returns counters for a place where clones begin; null without a trace, or if memory ran out. They live
/// until the process ends. \param name  the compiler's name for the place (name_of_place)
traced_clones* trace_clones(const char* name) noexcept;
void trace_decision(std::uint64_t runtime_serial, const decision& made, std::uint64_t tick);
/// Writes all records so far. Also called when the process ends.
void write_trace() noexcept;
/// Returns a text for use inside JSON's quotes.
std::string quoted_for_trace(const std::string& text);

}  // namespace sukima::detail
