// SPDX-License-Identifier: Apache-2.0
// Scenes about cancelling, deadlines, shields, suspensions and task groups.
#include "scene.hpp"

#include <memory>
#include <stop_token>
#include <vector>

namespace sukima::simulation {

namespace {

using detail::atomic;

/// A far deadline is set first. A nearer one is set later and expires first.
void nearer_deadline(stage& stage) {
  stage.runtime.run([&](context c) {
    event near_has_ended;
    fork2(
        c,
        [&](context b) {
          stage.expect(static_cast<bool>(cancellable(b, std::chrono::seconds(10'000),
                                                     [&](context d) { near_has_ended.wait(d); })),
                       "a deadline came much too early");
        },
        [&](context b) {
          poll_until(b, [&] { return near_has_ended.begun.load(); });
          const auto span = std::chrono::microseconds(stage.number(1, 2000));
          event never;
          stage.expect(!cancellable(b, span, [&](context d) { never.wait(d); }), "a deadline did not come");
          near_has_ended.happen();
        });
  });
}

void many_deadlines(stage& stage) {
  stage.runtime.run([&](context c) {
    const int first = stage.number(1, 500);
    parallel_for(c, 0, stage.number(2, 6), [&](context b, int i) {
      const auto span = std::chrono::microseconds(first * (1 + i * 7 % 5));
      const bool ended = static_cast<bool>(cancellable(b, span, [](context d) { fork_for_ever(d); }));
      stage.expect(!ended, "a loop without an end ended");
    });
  });
}

/// A thread stops a scope at a random time; an event may happen at the same time.
void stop_a_suspension(stage& stage) {
  for (int round = stage.number(1, 3); round > 0; --round) {
    event sometimes;
    std::stop_source source;
    std::thread stops([&, delay = stage.number(0, 60)] {
      sleep_us(delay);
      source.request_stop();
    });
    const bool may_happen = stage.random.once_in(2);
    std::thread happens([&, delay = stage.number(0, 60)] {
      if (!may_happen) return;
      while (!sometimes.begun.load() && !source.stop_requested()) sleep_us(1);
      sleep_us(delay);
      if (sometimes.begun.load()) sometimes.happen();
    });
    bool passed = false;
    const bool ended = stage.runtime.run([&](context c) {
      return static_cast<bool>(cancellable(c, source.get_token(), [&](context b) {
        if (stage.random.once_in(2))
          thread_bound([&] { sometimes.wait(b); });
        else
          sometimes.wait(b);
        passed = true;
      }));
    });
    stops.join();
    happens.join();
    stage.expect(!ended || (passed && may_happen), "a scope ended though nothing ended its wait");
  }
}

/// Code in a shield runs to its end, even in a scope that is already cancelled.
void shield_from_cancelling(stage& stage) {
  bool is_whole = false;
  bool is_whole_without_context = false;
  bool ran = false;
  std::thread other;
  const bool returned = stage.runtime.run([&](context c) {
    return static_cast<bool>(cancellable(c, [&](context b, const canceller& cancel) {
      shielded(b, [&](context d) {
        other = std::thread([cancel, delay = stage.number(0, 50)] {
          sleep_us(delay);
          cancel.cancel();
        });
        is_whole = fibonacci(d, 7) == fibonacci(7);
        if (stage.random.once_in(2)) other.join();
        is_whole = is_whole && fibonacci(d, 6) == fibonacci(6);
        shielded([&](context e) { is_whole_without_context = fibonacci(e, 6) == fibonacci(6); });
      });
      shielded([&](context d) { ran = fibonacci(d, 6) == fibonacci(6); });
      fork_for_ever(b);
    }));
  });
  if (other.joinable()) other.join();
  stage.expect(!returned, "a cancelled scope ended as usual");
  stage.expect(is_whole && is_whole_without_context && ran, "a cancellation reached into a shield");
}

/// Cancels and forks while an exception is thrown. The fork notices the abort and continues.
struct cancels_at_end {
  const canceller& cancel;
  ~cancels_at_end() {
    cancel.cancel();
    fork2([] {}, [] {});
  }
};

/// A call without a context runs on another fiber, which notices the abort and returns.
void abort_noticed_elsewhere(stage& stage) {
  const bool returned = stage.runtime.run([](context c) {
    return static_cast<bool>(cancellable(c, [](context b, const canceller& cancel) {
      sukima::run([&cancel](context) {
        try {
          const cancels_at_end at_end{cancel};
          throw 1;
        } catch (int) {
        }
      });
      fork_for_ever(b);
    }));
  });
  stage.expect(!returned, "a cancelled scope ended as usual");
}

void group_of_several(stage& stage) {
  atomic<int> sum{0};
  const int fibers = stage.number(2, 5);
  const int children = stage.number(1, 4);
  stage.runtime.run([&](context c) {
    task_group group(c);
    parallel_for(c, 0, fibers, [&](context b, int i) {
      for (int k = 0; k < children; ++k)
        group.run([&, k](context d) {
          fibonacci(d, k);
          sum.fetch_add(1);
        });
      if (i % 2 == 0) group.wait(b);
    });
    stage.expect(group.wait(c), "a group that was not cancelled says so");
  });
  stage.expect(sum.load() == fibers * children, "a child of a group did not run once");
}

/// Two fibers wait for a child that never ends by itself. Then a thread cancels the group.
void group_is_cancelled(stage& stage) {
  if (!stage.has_others()) return;
  resumer parked;
  atomic<bool> begun{false};
  bool first = true;
  bool second = true;
  std::thread canceller;
  stage.runtime.run([&](context c) {
    task_group group(c);
    group.run(c, [&](context b) {
      suspend(b, [&](resumer r) {
        parked = r;
        begun.store(true);
      });
    });
    poll_until(c, [&] { return begun.load(); });
    canceller = std::thread([&] {
      while (stage.runtime.statistics().suspensions < 3) sleep_us(100);  // the child and both waiting fibers
      group.cancel();
      parked.resume();
    });
    fork2(c, [&](context b) { first = group.wait(b); }, [&](context b) { second = group.wait(b); });
    stage.expect(group.wait(c), "a group is not whole again after a cancelled wait");
  });
  canceller.join();
  stage.expect(!first && !second, "a waiter did not see that its group was cancelled");
}

/// The scope in which a group was made is cancelled, by a child or from outside.
void group_in_a_cancelled_scope(stage& stage) {
  const auto kept = std::make_shared<int>(0);
  const bool from_outside = stage.random.once_in(2);
  std::thread other;
  const bool returned = stage.runtime.run([&](context c) {
    return static_cast<bool>(cancellable(c, [&](context b, const canceller& cancel) {
      task_group group(b);
      if (from_outside)
        other = std::thread([cancel, delay = stage.number(0, 100)] {
          sleep_us(delay);
          cancel.cancel();
        });
      const int last = stage.number(1, 5);
      for (int i = 0; i <= last; ++i)
        group.run([&, i, kept](context d) {
          if (i == last && !from_outside) cancel.cancel();
          fork_for_ever(d);
        });
      group.wait(b);
    }));
  });
  if (other.joinable()) other.join();
  stage.expect(!returned, "an aborted wait for a group returned");
  stage.expect(kept.use_count() == 1, "captures of a child were not destroyed");
}

/// Children of a group park on top of forks that the fiber waiting for the group can give away. A thread
/// resumes them.
void group_on_top_of_forks(stage& stage) {
  std::vector<event> events(static_cast<std::size_t>(stage.number(1, 3)));
  std::thread resumes([&] {
    for (event& one : events) {
      while (!one.begun.load()) sleep_us(10);
      one.happen();
    }
  });
  atomic<int> ended{0};
  stage.runtime.run([&](context c) {
    fork2(
        c,
        [&](context b) {
          task_group group(b);
          for (event& one : events)
            group.run([&](context d) {
              fibonacci(d, 3);
              one.wait(d);
              fibonacci(d, 3);
            });
          group.wait(b);
          ended.fetch_add(1);
        },
        [&](context b) {
          fibonacci(b, 5);
          ended.fetch_add(1);
        });
  });
  resumes.join();
  stage.expect(ended.load() == 2, "a branch did not end");
}

}  // namespace

std::span<const scene> scenes_of_control() noexcept {
  static constexpr scene scenes[] = {
      {"nearer deadline", nearer_deadline, true},
      {"many deadlines", many_deadlines},
      {"suspension that is stopped", stop_a_suspension},
      {"shield", shield_from_cancelling},
      {"abort noticed by another fiber", abort_noticed_elsewhere},
      {"group of several fibers", group_of_several},
      {"cancelled group", group_is_cancelled, true},
      {"group in a cancelled scope", group_in_a_cancelled_scope, true},
      {"group on top of forks", group_on_top_of_forks},
  };
  return scenes;
}

}  // namespace sukima::simulation
