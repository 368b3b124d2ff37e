// SPDX-License-Identifier: Apache-2.0
// Shows the events of workers to a profiler that listens to ITT, Intel's instrumentation interface: VTune.
//
// Events come from worker::note and worker::enter_state, as for a trace (trace.hpp). Without a profiler a
// worker has no trace_buffer, so an event costs no more than without a trace.
#pragma once

#include <cstdint>

namespace sukima::detail {

enum class trace_kind : std::uint32_t;

/// The events of one worker in the profiler. Only the worker's thread uses it.
class itt_worker {
 public:
  /// Shows an event. A state becomes a task that lasts until the next state. Other events become tasks
  /// without a duration, with their argument.
  void shows(trace_kind kind, std::uint32_t argument) noexcept;

 private:
  [[maybe_unused]] bool is_in_task_ = false;  // unused in builds without ITT
};

#if defined(SUKIMA_ITT)
/// Whether a profiler listens, that is, has named its library in INTEL_LIBITTNOTIFY64. The variable is read
/// once.
bool itt_listens() noexcept;
/// Names the calling thread.
void itt_names_thread(const char* name) noexcept;
#else
inline bool itt_listens() noexcept { return false; }
inline void itt_names_thread(const char* /*name*/) noexcept {}
inline void itt_worker::shows(trace_kind /*kind*/, std::uint32_t /*argument*/) noexcept {}
#endif

}  // namespace sukima::detail
