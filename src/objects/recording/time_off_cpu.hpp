// SPDX-License-Identifier: Apache-2.0
// Measures the part of a long interval in which the thread had no CPU.
//
// An interval of a recorded object ends at its next operation on a stream. If the kernel runs another thread
// in between, the interval grows by milliseconds, though the object computes for microseconds; one such
// interval among a thousand timed ones doubles the mean. A thread that sleeps in the kernel uses no CPU, so
// other threads can run on the CPU. Neither time is computing.
//
// Reading these clocks takes about a microsecond. They are read at the end of a long interval, and between
// two intervals if the last reading is old. So nearly all time that the thread lost since the last reading,
// it lost in that interval.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "schedule/slice.hpp"

namespace sukima::objects::detail {

/// The clocks of a thread and of its process at one moment.
struct thread_clocks : clock_reading {
  std::uint64_t process_ns = 0;  ///< CPU time of all threads
  std::int64_t sleeps = 0;  ///< how often this thread gave up its CPU by itself
};

/// Reads the clocks of this thread.
thread_clocks read_thread_clocks() noexcept;

/// Ticks of an interval that are not computing.
struct lost_time {
  double preempted = 0;  ///< the kernel ran other threads
  double blocked = 0;  ///< the thread slept in the kernel, and no other thread of the process worked
};

/// Measures the lost time of intervals.
class time_off_cpu {
 public:
/// Ticks, about 0.05 ms and 0.1 ms.
  static constexpr std::uint64_t long_interval = 150'000, old_reading = 300'000;

  /// Called before an interval begins. \param now in ticks \param read returns thread_clocks
  template <class Read> void before_interval(std::uint64_t now, Read read) noexcept {
    if (!last_ || now - last_->ticks > old_reading) last_ = read();
  }

  /// Called after an interval. \param passed its ticks \param read returns thread_clocks
  /// \returns its ticks that are not computing
  template <class Read> lost_time after_interval(std::uint64_t passed, Read read) noexcept {
    if (passed < long_interval) return {};
    const thread_clocks now = read();
    const std::optional<thread_clocks> before = std::exchange(last_, now);
    // If another thread made the earlier reading, its CPU time is useless here.
    if (!before || before->thread != now.thread || now.wall_ns <= before->wall_ns) return {};
    const double ticks_a_ns =
        static_cast<double>(now.ticks - before->ticks) / static_cast<double>(now.wall_ns - before->wall_ns);
    const double used_ns = static_cast<double>(now.cpu_ns - before->cpu_ns);
    const double off_ns = static_cast<double>(now.wall_ns - before->wall_ns) - used_ns;
    const double others_ns = static_cast<double>(now.process_ns - before->process_ns) - used_ns;
    const auto ticks_of = [&](double ns) {
      return std::clamp(ticks_a_ns * ns, 0.0, static_cast<double>(passed));
    };
    if (now.sleeps == before->sleeps) return {.preempted = ticks_of(off_ns), .blocked = 0};
    // Other threads of the process run tasks that the object has forked.
    return {.preempted = 0, .blocked = ticks_of(off_ns - std::max(0.0, others_ns))};
  }

 private:
  std::optional<thread_clocks> last_;
};

}  // namespace sukima::objects::detail
