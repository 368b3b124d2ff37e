// SPDX-License-Identifier: Apache-2.0
// Futures in the queues of their places (placement_policy::queue), on made-up machines: which worker computes
// them, what happens to them without a worker, and how many of them wait.
#include "fiber/switch.hpp"
#include "future/future.hpp"
#include "join/join_parts.hpp"
#include "place/hints.hpp"

#include "hinted.hpp"
#include "support.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace {

using sukima::context;
using sukima::place;
using support::cpus;
using support::poll_until;

std::size_t queued() {
  return sukima::detail::parts_of<sukima::detail::join_parts>(*sukima::detail::running_fiber())
      .launched.queued();
}

class place_queues : public support::hinted {
 protected:
  static sukima::settings settings_of(unsigned workers) {
    sukima::settings s = hinted::settings_of(workers);
    s.placement = sukima::placement_policy::queue;
    return s;
  }
  /// A runtime that has followed a hint, and each of its workers has begun something since: so it was seen.
  sukima::runtime& start(unsigned workers) {
    hinted::start(settings_of(workers));
    runtime().run([&](context c) {
      std::atomic<unsigned> begun{0};
      sukima::on(c, core(0), [&](context b) { begin_all(b, workers, begun, workers); });
    });
    return runtime();
  }

 private:
  static void begin_all(context c, unsigned count, std::atomic<unsigned>& begun, unsigned all) {
    if (count == 1) {
      ++begun;
      EXPECT_TRUE(poll_until(c, [&] { return begun == all; }));
      return;
    }
    sukima::fork2(
        c, [&](context b) { begin_all(b, count / 2, begun, all); },
        [&](context b) { begin_all(b, count - count / 2, begun, all); });
  }
};

TEST_F(place_queues, are_served_in_their_order_and_by_workers_of_the_place_only) {
  constexpr int many = 3000;  // more than may wait in the list of all others
  start(3);
  std::array<std::vector<int>, 3> computed_by;
  runtime().run([&](context c) {
    std::vector<sukima::shared_future<void>> all;
    for (int i = 0; i < many; ++i)
      all.push_back(sukima::launch(
          [&computed_by, i] { computed_by[static_cast<unsigned>(sukima::worker_id())].push_back(i); },
          sukima::on(core(i % 3))));
    for (const auto& f : all) f.touch(c);
  });
  for (int worker = 0; worker < 3; ++worker) {
    const auto& its = computed_by[static_cast<unsigned>(worker)];
    EXPECT_EQ(its.size(), many / 3u);
    EXPECT_TRUE(std::ranges::is_sorted(its));
    EXPECT_TRUE(std::ranges::all_of(its, [&](int i) { return i % 3 == worker; }));
  }
}

TEST_F(place_queues, are_without_a_bound) {
  constexpr std::size_t many = 3000;
  start(1);
  runtime().run([&](context c) {
    std::vector<sukima::shared_future<void>> all;
    for (std::size_t i = 0; i < many; ++i) {
      all.push_back(sukima::launch([] {}, sukima::on(core(0))));
      EXPECT_EQ(queued(), i + 1);
    }
    for (const auto& f : all) f.touch(c);
    EXPECT_EQ(queued(), 0u);
  });
  EXPECT_EQ(runtime().statistics().launched_peak, many);
}

/// A hint for any place, for the whole machine, for a place that the machine does not have, an inherited one.
TEST_F(place_queues, take_only_futures_with_a_hint_of_their_own) {
  start(1);
  const place nowhere(sukima_place{999});
  runtime().run([&](context c) {
    for (const place p : {place{}, of(0, sukima::place_level::machine), nowhere}) {
      const auto f = sukima::launch([] { return queued(); }, sukima::on(p));
      EXPECT_EQ(queued(), 0u);
      EXPECT_EQ(f.touch(c), 0u);
    }
    sukima::on(c, core(3), [&](context b) {
      const auto f = sukima::launch([] {});
      EXPECT_EQ(queued(), 0u);
      f.touch(b);
    });
  });
}

TEST_F(place_queues, give_cancelled_futures_back) {
  start(1);
  runtime().run([&](context c) {
    const auto kept = std::make_shared<int>(0);
    const auto f = sukima::launch([kept] { ++*kept; }, sukima::on(core(0)));
    EXPECT_EQ(queued(), 1u);
    f.cancel();
    EXPECT_EQ(queued(), 0u);
    EXPECT_EQ(kept.use_count(), 1);
    EXPECT_THROW(f.touch(c), sukima::cancelled);
    EXPECT_EQ(*kept, 0);
  });
}

TEST_F(place_queues, are_emptied_when_the_runtime_ends) {
  hinted::start(settings_of(1));
  std::vector<sukima::shared_future<void>> all;
  const auto kept = std::make_shared<int>(0);
  runtime().run([&] {
    for (int cpu = 0; cpu < 8; ++cpu)
      all.push_back(sukima::launch([kept] { ++*kept; }, sukima::on(core(cpu))));
    all.push_back(sukima::launch([kept] { ++*kept; }));
    EXPECT_EQ(queued(), 8u);
  });
  runtime().shutdown();
  EXPECT_EQ(kept.use_count(), 1);
  EXPECT_EQ(*kept, 0) << "cancelled, not computed";
  for (const auto& f : all) EXPECT_TRUE(f.is_done());
}

TEST_F(place_queues, of_places_without_a_worker_are_served_from_around) {
  start(2);
  cpus[0] = 4;  // of the same cache as CPU 5, which has no worker
  runtime().run([&](context c) {
    sukima::on(c, core(4), [&](context b) {
      const auto f = sukima::launch([] { return sukima::worker_id(); }, sukima::on(core(5)));
      EXPECT_EQ(f.touch(b), 0);
    });
  });
}

/// Others sleep when the last worker of the place leaves, and know nothing of its queue.
TEST_F(place_queues, without_their_last_worker_are_served_by_others) {
  start(4);
  for (int i = 0; i < 20; ++i) {
    sukima::shared_future<int> left;
    runtime().run([&] { left = sukima::launch([] { return sukima::worker_id(); }, sukima::on(core(0))); });
    sukima::detail::check_at_rest_if_built(runtime());
    ASSERT_TRUE(left.is_done());
    EXPECT_EQ(left.touch(), 1) << "the other worker at the same cache";
  }
}

/// The branch that a thread-bound fiber waits for waits for the queue of that fiber's worker.
TEST_F(place_queues, whose_worker_waits_are_served_by_others) {
  start(2);
  runtime().run([&] {
    sukima::thread_bound([&] {
      const int own = sukima::worker_id();
      std::atomic<bool> begun{false};
      sukima::fork2([&](context b) { EXPECT_TRUE(poll_until(b, [&] { return begun.load(); })); },
                    [&] {
                      EXPECT_NE(sukima::worker_id(), own);
                      begun = true;
                      const auto f =
                          sukima::launch([] { return sukima::worker_id(); }, sukima::on(core(own)));
                      EXPECT_NE(f.touch(), own);
                    });
    });
  });
}

TEST_F(place_queues, are_not_waited_for_by_fibers_that_keep_their_worker) {
  start(1);
  runtime().run([&](context c) {
    const auto f = sukima::launch([] { return 7; }, sukima::on(core(0)));
    EXPECT_EQ(sukima::thread_bound([&] { return f.touch(c); }), 7);
  });
}

/// Figure 6 of the paper on Schematic: sum-up of a tree with `depth` levels, whose left children go into the
/// queues of four places. The workers go down in step, because each waits at the end of a way to the right
/// until all four have arrived there.
class lock_step : public place_queues {
 protected:
  std::int64_t sum_up(context c, int level, int worker) {
    if (is_over_) return 0;
    if (level == 1) {
      arrive();
      return 1;
    }
    const int there = worker_of_left(level, worker);
    const auto left =
        sukima::launch([=, this](context b) { return sum_up(b, level - 1, there); }, sukima::on(core(there)));
    const std::int64_t right = sum_up(c, level - 1, worker);
    return left.touch(c) + right;
  }
  const std::size_t depth = 30;
  /// How many waited after each of the two descents.
  std::array<std::size_t, 2> waiting{};

 private:
  /// The first worker passes one future to the second and one to the third, the second worker passes one to
  /// the fourth: these are computed at once. All others stay with their makers, and wait.
  int worker_of_left(int level, int worker) const {
    const int below_root = static_cast<int>(depth) - level;
    if (worker == 0 && below_root < 2) return 1 + below_root;
    return worker == 1 && below_root == 1 ? 3 : worker;
  }
  void arrive() {
    const unsigned arrived = ++arrived_;
    const unsigned descent = (arrived - 1) / 4;
    if (arrived % 4 == 0) {
      waiting[descent] = queued();
      if (descent == 1) is_over_ = true;
      released_ = arrived;
    }
    EXPECT_TRUE(support::sleep_until([&] { return released_ > 4 * descent; }));
  }
  std::atomic<unsigned> arrived_{0};
  std::atomic<unsigned> released_{0};
  std::atomic<bool> is_over_{false};
};

TEST_F(lock_step, has_as_many_futures_waiting_as_the_paper_says) {
  start(4);
  runtime().run([this](context c) { return sum_up(c, static_cast<int>(depth), 0); });
  // The paper counts the three with which the other workers begin.
  EXPECT_EQ(waiting[0] + 3, 4 * depth - 9);
  EXPECT_EQ(waiting[1] + 3, 8 * depth - 29);
  EXPECT_EQ(waiting[1] + 3, 211u);
  EXPECT_EQ(runtime().statistics().launched_peak, waiting[1]);
}

}  // namespace
