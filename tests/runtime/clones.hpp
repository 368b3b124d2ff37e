// SPDX-License-Identifier: Apache-2.0
// Shared parts of the tests of sequential clones.
#pragma once

#include "support.hpp"

#include <atomic>
#include <string>
#include <thread>
#include <tuple>

namespace support {

inline constexpr unsigned second_ns = 1'000'000'000;

inline sukima::settings with_clones(unsigned workers, unsigned clones_ns) {
  sukima::settings s = with_workers(workers);
  s.clones_ns = clones_ns;
  return s;
}

/// Tests with several numbers of workers and several limits for short calls: no call is short, many calls of
/// the tests are, or nearly all are.
class with_clone_settings : public testing::TestWithParam<std::tuple<unsigned, unsigned>> {
 public:
  static auto all() {
    return testing::Combine(testing::Values(1u, 2u, 8u), testing::Values(0u, 1u, 2'000u, second_ns));
  }
  static std::string name(const testing::TestParamInfo<ParamType>& chosen) {
    return std::to_string(std::get<0>(chosen.param)) + "_workers_" +
           std::to_string(std::get<1>(chosen.param)) + "_ns";
  }

 protected:
  sukima::runtime runtime{with_clones(std::get<0>(GetParam()), std::get<1>(GetParam()))};
  /// Early calls are timed; later calls may run as clones.
  static constexpr int times = 20;

  bool are_off() const { return std::get<1>(GetParam()) == 0; }
  bool are_on_for_all() const { return std::get<1>(GetParam()) == second_ns; }
  /// Expects that clones ran exactly if they are on for all short calls.
  /// \param again  repeats the calls that may run as clones; if the timed calls were interrupted for long,
  /// more calls are necessary
  template <class F> void expect_clones(F again) {
    while (are_on_for_all() && runtime.statistics().clones == 0) again();
    if (!are_off()) return;
    EXPECT_EQ(runtime.statistics().clones, 0u);
  }
  /// Calls endless(context), which never ends by itself, and cancels it from another thread.
  template <class F> void expect_to_be_left_when_cancelled(F endless) {
    const must_end watch("a clone that is cancelled");
    std::atomic<bool> began = false;
    runtime.run([&](sukima::context c) {
      std::thread other;
      const auto done = sukima::cancellable(c, [&](sukima::context k, const sukima::canceller& cancel) {
        other = std::thread([&began, cancel] {
          while (!began) std::this_thread::yield();
          cancel.cancel();
        });
        began = true;
        return endless(k);
      });
      other.join();
      EXPECT_FALSE(done.has_value());
    });
  }
};

/// Counts how often each version of a generic callable ran.
struct versions {
  std::atomic<int> tracked = 0;
  std::atomic<int> parallel = 0;
  std::atomic<int> clone = 0;

  template <class C> void note(C) {
    if constexpr (std::is_same_v<C, sukima::tracked_context>)
      ++tracked;
    else if constexpr (std::is_same_v<C, sukima::parallel_context>)
      ++parallel;
    else if constexpr (!std::is_same_v<C, sukima::context>)
      ++clone;
  }
};

}  // namespace support
