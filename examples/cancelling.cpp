// SPDX-License-Identifier: Apache-2.0
// The programs of docs/cancelling.md.
#include <sukima/sukima.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

long fib(sukima::context c, int n) {
  if (n < 2) return n;
  auto [a, b] = sukima::fork2(
      c, [=](sukima::context below) { return fib(below, n - 1); },
      [=](sukima::context below) { return fib(below, n - 2); });
  return a + b;
}

std::atomic<int> used{0};
void use(long) { ++used; }

/// A token and a deadline: whatever comes first. The token comes before the start here.
void stop_at_a_token() {
  std::stop_source source;
  source.request_stop();
  const std::stop_token token = source.get_token();
  sukima::run([&](sukima::context c) {
    const auto answer =
        sukima::cancellable(c, token, 50ms, [](sukima::context below) { return fib(below, 40); });
    if (answer) use(*answer);
  });
}

/// A canceller: another thread ends what would take years.
void cancel_from_a_thread() {
  std::jthread impatient;
  const auto answer = sukima::run([&](sukima::context c) {
    return sukima::cancellable(c, [&](sukima::context below, const sukima::canceller& cancel) {
      impatient = std::jthread([cancel] {
        std::this_thread::sleep_for(20ms);
        cancel.cancel();
      });
      return fib(below, 80);
    });
  });
  std::printf("by a thread: %s\n", answer ? "found" : "cancelled");
}

/// Ends only when it is cancelled.
[[noreturn]] void work(sukima::context c) {
  for (;;) use(fib(c, 15));
}

/// An abort goes on; other exceptions are errors.
void tell_apart(sukima::context c) {
  try {
    work(c);
  } catch (const sukima::aborted&) {
    throw;
  } catch (...) {
    std::abort();
  }
}

std::atomic<int> written{0};
struct entry {
  void write() { ++written; }
};

/// Writes its entries at its end, cancelled or not.
struct cache {
  std::vector<entry> entries{100};

  ~cache() {
    sukima::shielded([&] { sukima::parallel_for(entries, [](entry& e) { e.write(); }); });
  }
};

/// The fibers that wait for an event.
class event_queue {
 public:
  void add(const void* key, sukima::resumer r) {
    const std::lock_guard hold(lock_);
    waiting_.emplace(key, r);
    some_ = true;
  }
  /// \returns false: the event has happened, or is about to
  bool remove(const void* key) {
    const std::lock_guard hold(lock_);
    return waiting_.erase(key) != 0;
  }
  bool has_some() const { return some_; }

 private:
  std::mutex lock_;
  std::map<const void*, sukima::resumer> waiting_;
  std::atomic<bool> some_{false};
};
event_queue queue;

class waiter {
 public:
  void wait(sukima::context c) {
    sukima::suspend(
        c, [&](sukima::resumer r) { queue.add(this, r); },
        [&](sukima::resumer r) noexcept {
          if (queue.remove(this)) r.resume();
        });
  }
};

}  // namespace

int main() {
  stop_at_a_token();
  std::printf("stopped by a token: %d results\n", used.load());

  cancel_from_a_thread();

  const bool ended = sukima::cancellable(20ms, [](sukima::context c) { tell_apart(c); });
  std::printf("at the deadline: %s\n", ended ? "ended" : "cancelled");

  {
    const cache written_at_the_end;
  }
  std::printf("written: %d entries\n", written.load());

  std::stop_source source;
  std::thread canceller([&] {
    while (!queue.has_some()) std::this_thread::sleep_for(1ms);
    source.request_stop();
  });
  const bool happened = sukima::cancellable(source.get_token(), [](sukima::context c) { waiter().wait(c); });
  canceller.join();
  std::printf("the event %s\n", happened ? "happened" : "did not happen");
}
