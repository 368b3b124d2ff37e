// SPDX-License-Identifier: Apache-2.0
// What a profiler sees of the workers that listens to ITT, Intel's instrumentation interface: VTune.
//
// Events come from worker::note and worker::enter_state, as those of a trace do (trace.hpp). Without a
// profiler a worker has no trace_buffer, so an event costs what it costs without a trace.
#pragma once

#include <cstdint>

namespace sukima::detail {

enum class trace_kind : std::uint32_t;

/// One worker in the profiler. Its thread alone uses it.
class itt_worker {
 public:
  /// A state becomes a task that lasts until the next one. Other events are tasks without a duration, with
  /// their argument.
  void shows(trace_kind kind, std::uint32_t argument) noexcept;

 private:
  bool is_in_task_ = false;
};

#if defined(SUKIMA_ITT)
/// Whether a profiler listens: it has named its library in INTEL_LIBITTNOTIFY64. The variable is read once.
bool itt_listens() noexcept;
/// Names the calling thread.
void itt_names_thread(const char* name) noexcept;
#else
inline bool itt_listens() noexcept { return false; }
inline void itt_names_thread(const char* /*name*/) noexcept {}
inline void itt_worker::shows(trace_kind /*kind*/, std::uint32_t /*argument*/) noexcept {}
#endif

}  // namespace sukima::detail
