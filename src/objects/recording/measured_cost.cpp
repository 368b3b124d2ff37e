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

/// Enough for some hundred timed activations of each object.
constexpr int messages = 8192;

/// Half of a typical interval: an interval has two ends. The median, because an interrupt lengthens some.
double half_of_median(std::vector<double> intervals) {
  if (intervals.empty()) return 0;
  const auto middle = intervals.begin() + static_cast<std::ptrdiff_t>(intervals.size() / 2);
  std::nth_element(intervals.begin(), middle, intervals.end());
  return *middle / 2;
}

}  // namespace

recording_cost measure_recording_cost(runtime& on) {
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
  program_core& core = core_of(tiny);
  core.recorded = std::make_unique<recording>();
  core.run();
  return {half_of_median(core.recorded->intervals(0)), half_of_median(core.recorded->intervals(1))};
}

}  // namespace sukima::objects::detail
