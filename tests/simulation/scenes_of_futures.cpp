// SPDX-License-Identifier: Apache-2.0
// Scenes about futures: futures of a block, launched futures, continuations, waits with a time limit, and
// futures that still exist when a runtime ends.
#include "scene.hpp"

#include <array>
#include <memory>
#include <stdexcept>
#include <vector>

namespace sukima::simulation {

namespace {

using detail::atomic;

/// Another thread of the runtime computes a future of a block while the block's fiber cancels it.
void cancel_of_a_block(stage& stage) {
  stage.runtime.run([&](context c) {
    atomic<bool> begun{false};
    future<void> runs(c, [&](context b) {
      begun.store(true);
      fork_for_ever(b);
    });
    if (stage.has_others() && stage.random.once_in(2)) poll_until(c, [&] { return begun.load(); });
    runs.cancel();
    stage.expect(throws<cancelled>([&] { runs.touch(c); }), "a cancelled future has a result");
  });
}

void wake_waiters_of_a_cancelled_one(stage& stage) {
  if (stage.runtime.workers() < 3) return;
  stage.runtime.run([&](context c) {
    atomic<bool> begun{false};
    atomic<bool> waits{false};
    future<void> runs(c, [&](context b) {
      begun.store(true);
      fork_for_ever(b);
    });
    poll_until(c, [&] { return begun.load(); });
    future<int> one(c, [&](context b) {
      waits.store(true);
      return throws<cancelled>([&] { runs.touch(b); }) ? 1 : 2;
    });
    poll_until(c, [&] { return waits.load(); });
    runs.cancel();
    stage.expect(one.touch(c) == 1, "the touch of a cancelled future returned");
  });
}

/// One worker touches the oldest future. Another worker computes that future, and needs a younger one.
void wait_for_each_other(stage& stage) {
  if (!stage.has_others()) return;
  const long sum = stage.runtime.run([&](context c) {
    atomic<bool> begun{false};
    atomic<future<long>*> younger{nullptr};
    future<long> old(c, [&](context b) {
      begun.store(true);
      poll_until(b, [&] { return younger.load() != nullptr; });
      while (!younger.load()->is_done()) std::this_thread::yield();
      return younger.load()->touch(b) + 1;
    });
    poll_until(c, [&] { return begun.load(); });
    future<long> young(c, [&](context b) { return fibonacci(b, 4); });
    younger.store(&young);
    return old.touch(c);
  });
  stage.expect(sum == fibonacci(4) + 1, "a future that waited for a younger one has another result");
}

/// A block ends by an exception, so its futures are dropped or cancelled.
void leave_a_block(stage& stage) {
  const auto kept = std::make_shared<int>(0);
  const bool waits = stage.has_others() && stage.random.once_in(2);
  atomic<bool> begun{false};
  atomic<int> computed{0};
  stage.expect(throws<std::runtime_error>([&] {
                 stage.runtime.run([&](context c) {
                   future<void> runs(c, [&, kept](context b) {
                     begun.store(true);
                     fork_for_ever(b);
                   });
                   future<void> other(c, [&, kept] { computed.fetch_add(1); });
                   if (waits) poll_until(c, [&] { return begun.load(); });
                   throw std::runtime_error("left");
                 });
               }),
               "a block's exception was lost");
  stage.expect(kept.use_count() == 1, "captures of a dropped future were not destroyed");
  stage.expect(stage.runtime.workers() > 1 || computed.load() == 0,
               "a future of a block that was left was computed");
}

/// A future touches itself in branches, in a child, or in a call of its expression, on any worker.
void touch_itself(stage& stage) {
  const int part = stage.number(0, 2);
  stage.runtime.run([&](context c) {
    atomic<future<void>*> self{nullptr};
    const auto touch = [&](context d) {
      stage.expect(throws<usage_error>([&] { self.load()->touch(d); }), "a future waited for itself");
    };
    future<void> f(c, [&](context b) {
      poll_until(b, [&] { return self.load() != nullptr; });
      if (part == 0) parallel_for(b, 0, 3, [&](context d, int) { touch(d); });
      if (part == 1) run([&](context d) { touch(d); });
      if (part == 2) {
        task_group group(b);
        for (int i = 0; i < 3; ++i) group.run([&](context d) { touch(d); });
        group.wait(b);
      }
    });
    self.store(&f);
    if (stage.random.once_in(2)) f.touch(c);
  });
}

/// Parts of a loop touch a future while its own fiber computes it, above a fork that is not split.
void touch_in_a_loop(stage& stage) {
  const int polls = stage.number(1, 4);
  const bool stays = stage.random.once_in(2);
  stage.runtime.run([&](context c) {
    fork2(
        c,
        [&](context b) {
          future<int> f(b, [&](context d) {
            for (int i = 0; i < polls; ++i) fork2(d, [] {}, [] {});
            return 7;
          });
          parallel_for(b, 0, 4, [&](context d, int) {
            stage.expect(f.touch(d) == 7, "a loop's touch gave another value than the future's");
          });
        },
        [](context) {}, guard([stays] { return stays ? 0.0 : 1.0; }));
  });
}

/// A child of a group, or a part of one, waits for that group.
void wait_for_its_own_group(stage& stage) {
  stage.runtime.run([&](context c) {
    task_group group(c);
    const auto wait = [&](context d) {
      stage.expect(throws<usage_error>([&] { group.wait(d); }), "a child of a group waited for itself");
    };
    for (int i = stage.number(1, 3); i > 0; --i) {
      group.run([&](context b) { wait(b); });
      group.run([&](context b) { parallel_for(b, 0, 3, [&](context d, int) { wait(d); }); });
    }
    stage.expect(group.wait(c), "a group whose children waited for it was cancelled");
  });
}

/// Ordinary threads touch futures that the runtime computes, while perhaps no thread is inside the runtime.
void touch_from_threads(stage& stage) {
  const int count = stage.number(1, 4);
  std::vector<shared_future<long>> all;
  std::array<std::thread::id, 4> computed_by;
  stage.runtime.run([&] {
    for (int i = 0; i < count; ++i)
      all.push_back(launch([&, i](context c) {
        computed_by[static_cast<std::size_t>(i)] = std::this_thread::get_id();
        return fibonacci(c, 2 + i);
      }));
  });
  std::vector<std::thread> threads;
  const bool helps = stage.random.once_in(3);
  for (int t = stage.number(1, 3); t > 0; --t)
    threads.emplace_back([&, delay = stage.number(0, 400)] {
      sleep_us(delay);
      for (int i = 0; i < count; ++i) {
        const auto& one = all[static_cast<std::size_t>(i)];
        stage.expect((helps ? one.touch(helping) : one.touch()) == fibonacci(2 + i),
                     "a future has a wrong result");
        stage.expect(helps || computed_by[static_cast<std::size_t>(i)] != std::this_thread::get_id(),
                     "a thread that does not help computed a future");
      }
    });
  for (std::thread& t : threads) t.join();
}

void launch_computes_nothing(stage& stage) {
  stage.runtime.run([&](context c) {
    atomic<int> computed{0};
    std::vector<shared_future<void>> all;
    const int count = stage.random.once_in(4) ? 1100 : 8;  // more than fit into other lists of the library
    for (int i = 0; i < count; ++i) {
      all.push_back(launch([&] { computed.fetch_add(1); }));
      stage.expect(stage.has_others() || computed.load() == 0, "a launch computed something");
    }
    shared_future<void> f;
    stage.expect(!cancellable(c,
                              [&](context b, const canceller& cancel) {
                                f = launch([&] { computed.fetch_add(1); });
                                cancel.cancel();
                                f.touch(b);
                              }),
                 "a cancelled scope ended as usual");
    stage.expect(stage.has_others() || computed.load() == 0, "a cancelled caller computed a future");
    f.touch(c);
    for (const auto& one : all) one.touch(c);
    stage.expect(computed.load() == count + 1, "a launched future was not computed once");
  });
}

void continue_futures(stage& stage) {
  promise<int> given;
  const auto kept = std::make_shared<int>(0);
  const shared_future<void> withdrawn =
      stage.runtime.run([&] { return given.get_future().then([kept](int) { ++*kept; }); });
  withdrawn.cancel();
  stage.expect(kept.use_count() == 1, "a cancelled continuation was not withdrawn");
  std::thread giver([&, delay = stage.number(0, 300)] {
    sleep_us(delay);
    given.set_value(5);
  });
  stage.runtime.run([&](context c) {
    atomic<int> ended{0};
    std::vector<shared_future<void>> sources;
    const int count = stage.number(2, 5);
    for (int i = 0; i < count; ++i)
      sources.push_back(launch([&, i](context b) {
        fibonacci(b, i);
        ended.fetch_add(1);
      }));
    const auto after_all = when_all(sources).then([&] { return ended.load(); });
    const auto after_given = given.get_future().then([](context b, int n) { return n + fibonacci(b, 5); });
    stage.expect(after_all.touch(c) == count, "what follows several futures began before their end");
    stage.expect(after_given.touch(c) == 10, "a continuation has a wrong result");
  });
  giver.join();
  stage.expect(*kept == 0 && throws<cancelled>([&] { withdrawn.touch(); }),
               "a cancelled continuation was called");
}

/// A continuation of two futures needs no fiber until both have ended.
void begin_after_the_last(stage& stage) {
  promise<void> first;
  promise<void> second;
  stage.runtime.run([&](context c) {
    const auto both = when_all(first.get_future(), second.get_future());
    first.set_value();
    int rounds = stage.number(0, 60);
    poll_until(c, [&] { return rounds-- == 0; });
    stage.expect(stage.runtime.statistics().suspensions == 0,
                 "what follows two futures began after the first");
    second.set_value();
    both.touch(c);
  });
}

/// No thread is inside the runtime that must compute the future.
void continue_in_another_runtime(stage& stage) {
  settings one;
  one.workers = static_cast<unsigned>(stage.number(1, 2));
  one.elastic = false;
  sukima::runtime other(one);
  const shared_future<long> source =
      other.run([] { return launch([](context c) { return fibonacci(c, 5); }); });
  const long sum = stage.runtime.run(
      [&](context c) { return source.then([](context b, long n) { return n + fibonacci(b, 4); }).touch(c); });
  stage.expect(sum == fibonacci(5) + fibonacci(4), "a continuation in another runtime has a wrong result");
}

void wait_with_an_end(stage& stage) {
  promise<int> given;
  stage.runtime.run([&](context c) {
    const auto f = given.get_future();
    const int spans[3]{stage.number(1, 3000), stage.number(1, 3000), stage.number(1, 30)};
    parallel_for(c, 0, 3, [&](context b, int i) {
      stage.expect(!f.wait_for(b, std::chrono::microseconds(spans[i])), "a wait for nothing ended in time");
    });
    future<void> gives(c, [&] { given.set_value(1); });
    stage.expect(f.wait_for(c, std::chrono::hours(1)) && f.touch(c) == 1, "a wait missed its future");
  });
}

/// A runtime ends while futures have not begun, run, wait, or follow other futures.
void end_with_the_runtime(stage& stage) {
  const auto kept = std::make_shared<int>(0);
  std::vector<shared_future<void>> all;
  promise<void> late;
  {
    settings few;
    few.workers = static_cast<unsigned>(stage.number(1, 3));
    few.elastic = false;
    sukima::runtime own(few);
    own.run([&] {
      for (int i = stage.number(1, 4); i > 0; --i) {
        all.push_back(launch([kept](context b) { fork_for_ever(b); }));
        all.push_back(launch([kept](context b) { event().wait(b); }));
        all.push_back(late.get_future().then([kept] {}));
      }
    });
    if (stage.random.once_in(2)) sleep_us(stage.number(0, 500));
  }
  for (const auto& one : all)
    stage.expect(one.is_done() && throws<cancelled>([&] { one.touch(); }), "a future outlived its runtime");
  late.set_value();
  all.clear();
  stage.expect(kept.use_count() == 1, "captures of a future were not destroyed");
}

}  // namespace

std::span<const scene> scenes_of_futures() noexcept {
  static constexpr scene scenes[] = {
      {"cancelled future of a block", cancel_of_a_block, true},
      {"waiters of a cancelled future", wake_waiters_of_a_cancelled_one, true},
      {"futures that wait for each other", wait_for_each_other, true},
      {"block that is left", leave_a_block, true},
      {"future that touches itself", touch_itself, true},
      {"loop that touches a future", touch_in_a_loop},
      {"group that waits for itself", wait_for_its_own_group},
      {"threads that touch futures", touch_from_threads},
      {"launches", launch_computes_nothing},
      {"continuations", continue_futures},
      {"continuation of two futures", begin_after_the_last},
      {"continuation in another runtime", continue_in_another_runtime},
      {"waits with an end", wait_with_an_end},
      {"end of a runtime with futures", end_with_the_runtime},
  };
  return scenes;
}

}  // namespace sukima::simulation
