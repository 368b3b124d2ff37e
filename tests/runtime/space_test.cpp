// SPDX-License-Identifier: Apache-2.0
// The space that futures need: at most that of the sequential program, for each worker.
#include "support.hpp"

#include <atomic>
#include <cstdint>
#include <vector>

namespace {

using sukima::context;

/// Counts the calls of a program that have begun and not ended: its space, in frames.
class frames {
 public:
  class one {
   public:
    explicit one(frames& of) noexcept : of_(of) {
      const int now = of_.now_.fetch_add(1, std::memory_order_relaxed) + 1;
      int seen = of_.peak_.load(std::memory_order_relaxed);
      while (seen < now && !of_.peak_.compare_exchange_weak(seen, now, std::memory_order_relaxed)) {
      }
    }
    one(const one&) = delete;
    one& operator=(const one&) = delete;
    ~one() { of_.now_.fetch_sub(1, std::memory_order_relaxed); }

   private:
    frames& of_;
  };
  int peak() const noexcept { return peak_; }

 private:
  std::atomic<int> now_{0};
  std::atomic<int> peak_{0};
};

/// A place for each subtree. A core that this machine does not have counts as any.
sukima::place place_of_path(std::uint64_t path) {
  return sukima::place(static_cast<sukima_place>(1 + path * 0x9E3779B97F4A7C15u % 4));
}

/// The paper's sum-up: a future for the left subtree, a call for the right one, and only then the touch.
std::int64_t sum_up(context c, int depth, std::uint64_t path, frames& all, bool hinted) {
  const frames::one mine(all);
  if (depth == 0) return 1;
  const auto left = [&all, depth, path, hinted](context b) {
    return sum_up(b, depth - 1, 2 * path, all, hinted);
  };
  const auto finish = [&](auto& future) {
    const std::int64_t right = sum_up(c, depth - 1, 2 * path + 1, all, hinted);
    return future.touch(c) + right;
  };
  if (hinted) {
    sukima::future<std::int64_t> f(c, left, sukima::on(place_of_path(2 * path)));
    return finish(f);
  }
  sukima::future<std::int64_t> f(c, left);
  return finish(f);
}

class space : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(workers, space, testing::Values(1u, 2u, 4u, 8u, 16u, 32u, 64u),
                         [](const auto& workers) { return std::to_string(workers.param) + "_workers"; });

TEST_P(space, of_futures_is_that_of_the_sequential_program_for_each_worker) {
  constexpr int depth = support::sanitized ? 10 : 14;
  constexpr int sequential = depth + 1;
  for (const bool hinted : {false, true}) {
    sukima::settings chosen = support::with_workers(GetParam());
    chosen.hint_threshold_ns = 0;
    sukima::runtime runtime(chosen);
    frames all;
    EXPECT_EQ(runtime.run([&](context c) { return sum_up(c, depth, 1, all, hinted); }),
              std::int64_t{1} << depth);
    EXPECT_LE(all.peak(), static_cast<int>(GetParam()) * sequential);
    if (GetParam() == 1) {
      EXPECT_EQ(all.peak(), sequential);
    }
  }
}

/// Any number of futures are launched and touched by their launcher: the handles keep the results, and no
/// stack is kept.
TEST(space_of_launched_futures, is_that_of_their_results) {
  constexpr int many = support::sanitized ? 20'000 : 1'000'000;
  sukima::runtime runtime(support::with_workers(2));
  runtime.run([](context c) {
    std::vector<sukima::shared_future<int>> all;
    all.reserve(many);
    for (int i = 0; i < many; ++i) all.push_back(sukima::launch([i] { return i; }));
    std::int64_t sum = 0;
    for (const auto& one : all) sum += one.touch(c);
    EXPECT_EQ(sum, std::int64_t{many} * (many - 1) / 2);
  });
  EXPECT_LE(runtime.statistics().fibers_peak, 16u);
}

}  // namespace
