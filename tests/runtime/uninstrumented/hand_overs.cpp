// SPDX-License-Identifier: Apache-2.0
// A program with ThreadSanitizer on a library without it: the library's hand-overs from thread to thread are
// ordered.
//
// Each function reads on one thread what another one wrote. Only the library's hand-over orders the two,
// because the program's own flags are relaxed. So a hand-over that the library does not announce is a report
// in each run, and a report ends the program with an error.
#include <sukima/execution.hpp>
#include <sukima/sukima.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

using sukima::context;

sukima::settings with_workers(unsigned n) {
  sukima::settings s;
  s.workers = n;
  s.elastic = false;
  return s;
}

/// Orders nothing.
class flag {
 public:
  void set() noexcept { set_.store(true, std::memory_order_relaxed); }
  bool is_set() const noexcept { return set_.load(std::memory_order_relaxed); }
  void wait() const noexcept {
    while (!is_set()) std::this_thread::yield();
  }
  /// Offers work to other workers while it waits.
  void wait(context c) const {
    while (!is_set()) sukima::fork2(c, [] {}, [] {});
  }

 private:
  std::atomic<bool> set_{false};
};

template <class Future> void wait_without_touching(const Future& f) {
  while (!f.is_done()) std::this_thread::yield();
}

void expect(bool right, const char* claim) {
  if (right) return;
  std::printf("wrong: %s\n", claim);
  std::exit(1);
}

/// A thread enters the default runtime while the thread that has started it is inside.
void default_runtime_that_another_thread_has_started() {
  flag begun;
  flag entered;
  std::thread second([&] {
    begun.wait();
    sukima::run([&](context) { entered.set(); });
  });
  sukima::run([&](context) {
    begun.set();
    entered.wait();
  });
  second.join();
}

/// A future of a block, computed by another worker, whose owner finds that it has ended.
void block_that_another_worker_computes() {
  sukima::runtime two(with_workers(2));
  two.run([](context c) {
    std::vector<int> data(100, 1);
    flag begun;
    flag go;
    sukima::future f(c, [&](context) {
      begun.set();
      go.wait();
      data[0] = 7;
      return 42;
    });
    begun.wait(c);
    go.set();
    wait_without_touching(f);
    expect(f.touch(c) == 42 && data[0] == 7, "a future of a block");
  });
}

/// One fiber waits for a launched future, and an ordinary thread finds that it has ended.
void launched_that_a_fiber_waits_for() {
  sukima::runtime two(with_workers(2));
  std::vector<int> data(100, 1);
  flag begun;
  two.run([&](context c) {
    const auto f = sukima::launch([&] {
      begun.set();
      while (two.statistics().suspensions == 0) std::this_thread::yield();
      data[0] = 7;
      return 42;
    });
    std::thread outsider([&data, f] {
      wait_without_touching(f);
      expect(f.touch() == 42 && data[0] == 7, "a launched future that a fiber waits for");
    });
    begun.wait(c);
    expect(f.touch(c) == 42, "a launched future");
    outsider.join();
  });
}

/// Writes before `cancel` are seen by a touch that throws `cancelled`.
void cancelled_by_another_thread() {
  sukima::runtime two(with_workers(2));
  two.run([](context c) {
    int reason = 0;
    const auto f = sukima::launch([](context b) {
      for (;;) sukima::fork2(b, [] {}, [] {});
    });
    std::thread canceller([&] {
      reason = 5;
      f.cancel();
    });
    wait_without_touching(f);
    try {
      f.touch(c);
      expect(false, "a cancelled future has no value");
    } catch (const sukima::cancelled&) {
      expect(reason == 5, "the reason of a cancellation");
    }
    canceller.join();
  });
}

/// The same of a task group.
void cancelled_group() {
  sukima::runtime two(with_workers(2));
  two.run([](context c) {
    int reason = 0;
    sukima::task_group group(c);
    std::thread canceller([&] {
      reason = 5;
      group.cancel();
    });
    while (!group.cancelled()) std::this_thread::yield();
    expect(reason == 5, "the reason of a group's cancellation");
    canceller.join();
    expect(!group.wait(c), "a cancelled group");
  });
}

/// The last handle is dropped by the program or by the library, in either order.
void dropped_handles() {
  sukima::runtime two(with_workers(2));
  for (int i = 0; i < 500; ++i)
    two.run([](context c) {
      flag begun;
      auto f = sukima::launch([&] {
        begun.set();
        return std::vector<int>(100, 3);
      });
      begun.wait(c);
      wait_without_touching(f);
      expect(f.touch(c)[99] == 3, "a launched future");
      f = {};
    });
}

/// Writes of a thread inside a runtime are seen after the end of the runtime.
void end_of_a_runtime() {
  sukima::runtime one(with_workers(1));
  int written = 0;
  flag left;
  flag may_end;
  std::thread entering([&] {
    one.run([&] { written = 3; });
    left.set();
    may_end.wait();
  });
  left.wait();
  one.shutdown();
  expect(written == 3, "what was written inside a runtime that has ended");
  may_end.set();
  entering.join();
}

/// A wait for children sees what they wrote, on whatever worker each of them ran.
void children_of_a_group() {
  sukima::runtime two(with_workers(2));
  for (int i = 0; i < 200; ++i)
    two.run([](context c) {
      std::vector<int> data(8, 1);
      sukima::task_group group(c);
      for (std::size_t k = 0; k < data.size(); ++k) group.run(c, [&data, k] { data[k] = 7; });
      expect(group.wait(c), "a group");
      for (const int one : data) expect(one == 7, "a child's work");
    });
}

/// A fiber is resumed by an ordinary thread.
void resumed_by_a_thread() {
  sukima::runtime two(with_workers(2));
  two.run([](context c) {
    int data = 0;
    std::thread other;
    sukima::suspend(c, [&](sukima::resumer r) {
      other = std::thread([&data, r] {
        data = 7;
        r.resume();
      });
    });
    expect(data == 7, "what was written before a resumption");
    other.join();
  });
}

/// Work of a pool, for which a thread waits.
void work_of_a_pool() {
  sukima::runtime two(with_workers(2));
  sukima::execution::pool pool(two);
  for (int i = 0; i < 100; ++i) {
    std::vector<int> data(100, 1);
    const auto done = sukima::execution::sync_wait(sukima::execution::then(
        sukima::execution::schedule(pool.get_scheduler()), [&] { return data[0] = 7; }));
    expect(done.has_value() && data[0] == 7, "the work of a pool");
  }
}

}  // namespace

int main() {
  default_runtime_that_another_thread_has_started();  // before others use it
  block_that_another_worker_computes();
  launched_that_a_fiber_waits_for();
  cancelled_by_another_thread();
  cancelled_group();
  dropped_handles();
  end_of_a_runtime();
  children_of_a_group();
  resumed_by_a_thread();
  work_of_a_pool();
  std::puts("all hand-overs are ordered");
}
