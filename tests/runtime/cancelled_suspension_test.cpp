// SPDX-License-Identifier: Apache-2.0
// suspend with an action for its cancellation: called once, in time, and only when it should be.
#include "support.hpp"

#include <optional>
#include <stop_token>
#include <thread>

namespace {

using sukima::canceller;
using sukima::context;
using sukima::resumer;
using namespace std::chrono_literals;

/// An event that a fiber waits for. The thread that takes it resumes the fiber.
class event {
 public:
  void wait(context c) {
    sukima::suspend(
        c,
        [this](resumer r) {
          waiting_ = r;
          begun = true;
        },
        [this](resumer r) noexcept {
          ++cancelled;
          if (!taken_.exchange(true)) r.resume();
        });
  }
  void happen() {
    if (!taken_.exchange(true)) waiting_.resume();
  }
  std::atomic<bool> begun{false};
  std::atomic<int> cancelled{0};

 private:
  resumer waiting_;
  std::atomic<bool> taken_{false};
};

class cancelled_suspension : public support::runtimes {
 protected:
  void TearDown() override {
    EXPECT_EQ(runtime.run([](context c) { return support::fib(c, 15); }), 610);
  }
  const support::must_end within{"a cancelled suspension"};
};
INSTANTIATE_TEST_SUITE_P(workers, cancelled_suspension, support::worker_counts(), support::name_of_count);

TEST_P(cancelled_suspension, ends_when_another_thread_cancels) {
  for (const bool thread_bound : {false, true})
    for (int i = 0; i < 20; ++i) {
      event never;
      std::stop_source source;
      std::thread other([&] {
        EXPECT_TRUE(support::sleep_until([&] { return never.begun.load(); }));
        if (i % 2 == 0) std::this_thread::sleep_for(1ms);
        source.request_stop();
      });
      bool passed = false;
      EXPECT_FALSE(runtime.run([&](context c) {
        return sukima::cancellable(c, source.get_token(), [&](context below) {
          if (thread_bound)
            sukima::thread_bound([&] { never.wait(below); });
          else
            never.wait(below);
          passed = true;
        });
      }));
      other.join();
      EXPECT_FALSE(passed);
      EXPECT_EQ(never.cancelled, 1);
    }
}

TEST_P(cancelled_suspension, ends_at_a_deadline_and_by_a_siblings_exception) {
  runtime.run([](context c) {
    // On a slow machine the first deadlines may pass before the wait begins.
    bool begun = false;
    for (auto deadline = 5ms; !begun; deadline *= 2) {
      event never;
      EXPECT_FALSE(sukima::cancellable(c, deadline, [&](context below) { never.wait(below); }));
      begun = never.begun;
      EXPECT_EQ(never.cancelled, begun ? 1 : 0);
    }
  });
  for (int i = 0; i < 20; ++i) {
    event never;
    EXPECT_EQ(support::message_of([&] {
                runtime.run([&](context c) {
                  sukima::fork2(
                      c, [&](context below) { never.wait(below); },
                      [&](context below) {
                        EXPECT_TRUE(support::poll_until(below, [&] { return never.begun.load(); }));
                        throw support::test_error(3);
                      });
                });
              }),
              "error 3");
    EXPECT_EQ(never.cancelled, 1);
  }
}

TEST_P(cancelled_suspension, of_many_fibers_ends_at_once) {
  constexpr int count = 200;
  std::atomic<int> cancelled{0};
  EXPECT_FALSE(runtime.run([&](context c) {
    return sukima::cancellable(c, [&](context below, const canceller& cancel) {
      sukima::task_group group(below);
      std::atomic<int> begun{0};
      for (int i = 0; i < count; ++i)
        group.run([&](context deeper) {
          sukima::suspend(
              deeper,
              [&](resumer) {
                if (++begun == count) cancel.cancel();
              },
              [&](resumer r) noexcept {
                ++cancelled;
                r.resume();
              });
        });
      group.wait(below);
    });
  }));
  EXPECT_EQ(cancelled, count);
}

TEST_P(cancelled_suspension, does_not_begin_after_the_abort) {
  runtime.run([](context c) {
    EXPECT_FALSE(sukima::cancellable(c, [](context below, const canceller& cancel) {
      cancel.cancel();
      sukima::suspend(below, [](resumer) { ADD_FAILURE(); }, [](resumer) noexcept { ADD_FAILURE(); });
    }));
  });
}

TEST_P(cancelled_suspension, is_not_called_when_nothing_is_cancelled_or_a_shield_stands) {
  runtime.run([](context c) {
    for (int i = 0; i < 50; ++i)
      sukima::suspend(c, [](resumer r) { r.resume(); }, [](resumer) noexcept { ADD_FAILURE(); });
    EXPECT_FALSE(sukima::cancellable(c, [](context below, const canceller& cancel) {
      cancel.cancel();
      sukima::shielded(below, [](context deeper) {
        sukima::suspend(deeper, [](resumer r) { r.resume(); }, [](resumer) noexcept { ADD_FAILURE(); });
      });
    }));
  });
}

/// Without the action a suspension ends when it is resumed, and the abort takes effect at the next poll.
TEST_P(cancelled_suspension, without_an_action_waits_for_its_resumer) {
  std::atomic<bool> resumed{false};
  std::thread other;
  bool passed = false;
  EXPECT_FALSE(runtime.run([&](context c) {
    return sukima::cancellable(c, [&](context below, const canceller& cancel) {
      sukima::suspend(below, [&](resumer r) {
        cancel.cancel();
        other = std::thread([&resumed, r] {
          std::this_thread::sleep_for(5ms);
          resumed = true;
          r.resume();
        });
      });
      passed = resumed;
      support::fork_for_ever(below);
    });
  }));
  other.join();
  EXPECT_TRUE(passed);
}

/// The event and the cancellation come at about the same time, at any moment of the suspension.
TEST_P(cancelled_suspension, races_with_the_event) {
  for (int i = 0; i < (support::sanitized ? 100 : 400); ++i) {
    event sometimes;
    std::stop_source source;
    const auto at_some_time = [&](int delay) {
      EXPECT_TRUE(support::sleep_until([&] { return sometimes.begun.load(); }));
      for (int k = 0; k < delay; ++k) asm volatile("");
    };
    std::thread resuming([&] {
      at_some_time(i * 37 % 3000);
      sometimes.happen();
    });
    std::thread cancelling([&] {
      at_some_time(i * 91 % 3000);
      source.request_stop();
    });
    runtime.run([&](context c) {
      sukima::cancellable(c, source.get_token(), [&](context below) { sometimes.wait(below); });
      EXPECT_EQ(support::fib(c, 8), 21);
    });
    resuming.join();
    cancelling.join();
    EXPECT_LE(sometimes.cancelled, 1);
  }
}

}  // namespace
