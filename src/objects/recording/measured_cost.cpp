// SPDX-License-Identifier: Apache-2.0
#include "recording/measured_cost.hpp"

#include <sukima/objects.hpp>

#include <algorithm>
#include <memory>
#include <vector>

#include "program/program_core.hpp"
#include "recording/recording.hpp"

namespace sukima::objects::detail {

namespace {

/// Messages of a run: enough for some hundred timed activations of each object.
constexpr int messages = 8192;

/// Returns a typical interval: the median, because interrupts lengthen some intervals.
double median(std::vector<double> intervals) {
  if (intervals.empty()) return 0;
  const auto middle = intervals.begin() + static_cast<std::ptrdiff_t>(intervals.size() / 2);
  std::nth_element(intervals.begin(), middle, intervals.end());
  return *middle;
}

/// Runs the program with a recording that keeps its intervals.
const recording& recorded_run(program& tiny) {
  program_core& core = core_of(tiny);
  core.recorded = std::make_unique<recording>();
  core.run();
  return *core.recorded;
}

/// Measures the cost of the two operations around an interval, without waits: one object fills a stream, then
/// the other one empties it. Each operation has half of the interval.
recording_cost cost_without_waits(runtime& on) {
  program tiny(on);
  const auto numbers = tiny.stream<int>("numbers", capacity{64});
  tiny.object(
      "sender",
      [](out<int> to) {
        for (int i = 0; i < messages; ++i) to.send(i);
      },
      numbers.out());
  tiny.object(
      "receiver",
      [](in<int> from) {
        while (from.receive()) {
        }
      },
      numbers.in());
  const recording& seen = recorded_run(tiny);
  return {.sending = median(seen.intervals(0)) / 2, .receiving = median(seen.intervals(1)) / 2};
}

/// Measures an interval that begins after a receive operation that has waited, and ends with a send
/// operation: two objects answer each other.
double interval_after_wait(runtime& on) {
  program tiny(on);
  const auto questions = tiny.stream<int>("questions", capacity{1});
  const auto answers = tiny.stream<int>("answers", capacity{1});
  tiny.object(
      "asks",
      [](out<int> to, in<int> from) {
        for (int i = 0; i < messages; ++i) {
          to.send(i);
          from.receive();
        }
      },
      questions.out(), answers.in());
  tiny.object(
      "answers",
      [](in<int> from, out<int> to) {
        while (const auto number = from.receive()) to.send(*number);
      },
      questions.in(), answers.out());
  return median(recorded_run(tiny).intervals(1, true));
}

}  // namespace

recording_cost measure_recording_cost(runtime& on) {
  recording_cost cost = cost_without_waits(on);
  cost.waiting = std::max(0.0, interval_after_wait(on) - cost.receiving - cost.sending);
  return cost;
}

}  // namespace sukima::objects::detail
