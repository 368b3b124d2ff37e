// SPDX-License-Identifier: Apache-2.0
// Hints whose branches are too short for them, on a made-up machine: frames that are only linked.
#include "fiber/fiber.hpp"
#include "fiber/switch.hpp"
#include "place/place_events.hpp"
#include "worker.hpp"

#include <sukima/detail/placed.hpp>
#include <sukima/detail/ticks.hpp>

#include "hinted.hpp"
#include "support.hpp"

#include <atomic>
#include <functional>

namespace {

using namespace std::chrono_literals;
using sukima::context;
using sukima::place;
using support::poll_until;
namespace tuning = sukima::detail::tuning;

/// Branches below a fourth of it are short.
constexpr auto threshold = 4ms;
/// More branches in a row than between two that are measured.
constexpr unsigned many = 3 * tuning::frames_for_each_sample;

/// Whether the innermost frame with a hint has been reported to other workers.
bool is_reported() { return !sukima::detail::has_unreported(*sukima::detail::running_fiber()); }

void take_longer_than(std::chrono::nanoseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) std::this_thread::yield();
}

class short_hints : public support::hinted {
 protected:
  sukima::runtime& start_with(unsigned workers, std::chrono::nanoseconds waits = threshold) {
    sukima::settings s = settings_of(workers);
    s.hint_threshold_ns = static_cast<unsigned>(waits.count());
    return start(s);
  }

  using branch = std::function<void(context)>;
  /// The hint of all these tests. \returns whether its frame was reported at its beginning
  bool hint(context c, const branch& inside) {
    return sukima::on(c, core(1 - sukima::worker_id()), [&](context below) {
      const bool reported = is_reported();
      inside(below);
      return reported;
    });
  }
  /// Short branches until one is not reported. \returns false: all were
  bool switch_off(context c) {
    bool reported = true;
    for (unsigned i = 0; reported && i < 1000 * many; ++i) reported = hint(c, [](context) {});
    return !reported;
  }
  /// Whether two branches in a row are reported, of which not both are reported as samples.
  bool switches_on(context c, const branch& inside) {
    bool before = false;
    for (unsigned i = 0; i < many; ++i) {
      const bool reported = hint(c, inside);
      if (reported && before) return true;
      before = reported;
    }
    return false;
  }
};

TEST_F(short_hints, are_switched_off) {
  start_with(1).run([&](context c) { EXPECT_TRUE(switch_off(c)); });
}

TEST_F(short_hints, are_never_switched_off_without_a_threshold) {
  start_with(1, 0ns).run([&](context c) {
    for (unsigned i = 0; i < many; ++i) EXPECT_TRUE(hint(c, [](context) {}));
  });
}

TEST_F(short_hints, are_inherited_all_the_same) {
  start_with(1).run([&](context c) {
    ASSERT_TRUE(switch_off(c));
    for (unsigned i = 0; i < many; ++i)
      hint(c, [&](context) {
        EXPECT_EQ(place(sukima::detail::hinted_place(*sukima::detail::running_fiber())),
                  core(1 - sukima::worker_id()));
      });
  });
}

TEST_F(short_hints, are_switched_on_again_by_long_branches) {
  start_with(1).run([&](context c) {
    ASSERT_TRUE(switch_off(c));
    EXPECT_TRUE(switches_on(c, [](context) { take_longer_than(threshold / 2); }));
  });
}

/// One of these hints reports the long branch around it soon enough.
TEST_F(short_hints, stay_off_where_hints_inside_begin_often) {
  start_with(1, 64ms).run([&](context c) {
    ASSERT_TRUE(switch_off(c));
    const auto inside = [&](context below) {
      const auto begin = std::chrono::steady_clock::now();
      const auto elapsed = [&] { return std::chrono::steady_clock::now() - begin; };
      for (int hints = 0; elapsed() < 20ms || elapsed() > hints * 250us; ++hints)
        sukima::on(below, core(0), [] {});
      EXPECT_TRUE(is_reported());
    };
    unsigned reported = 0;
    for (unsigned i = 0; i < 10; ++i) reported += hint(c, inside) ? 1 : 0;
    EXPECT_LT(reported, 5u) << "about every 61st is, as a sample";
  });
}

TEST_F(short_hints, are_reported_by_a_poll) {
  start_with(1).run([&](context c) {
    ASSERT_TRUE(switch_off(c));
    unsigned late = 0;
    for (unsigned i = 0; i < many; ++i) {
      bool now = false;
      const bool at_first = hint(c, [&](context below) {
        sukima::detail::request_place_check(*sukima::detail::running_fiber()->on);
        sukima::fork2(below, [] {}, [] {});
        now = is_reported();
      });
      EXPECT_TRUE(now);
      late += at_first ? 0 : 1;
    }
    EXPECT_GT(late, 0u);
  });
}

/// The branch is exchanged though its beginning is not reported: the monitor has its fiber polled.
TEST_F(short_hints, bring_a_long_branch_to_its_place) {
  start_with(2);
  runtime().run([&](context c) {
    std::atomic<bool> begun{false};
    std::atomic<bool> there{false};
    sukima::fork2(
        c,
        [&](context b) {
          EXPECT_TRUE(poll_until(b, [&] { return begun.load(); }));
          EXPECT_TRUE(switch_off(b));
          const int other = 1 - sukima::worker_id();
          hint(b, [&](context inner) {
            EXPECT_TRUE(poll_until(inner, [&] { return sukima::worker_id() == other; }));
          });
          there = true;
        },
        [&](context b) {
          begun = true;
          EXPECT_TRUE(poll_until(b, [&] { return there.load(); }));
        });
  });
  EXPECT_GE(runtime().statistics().exchanges, 1u);
}

}  // namespace
