// SPDX-License-Identifier: Apache-2.0
// suspend: fibers wait for a timer thread without keeping a worker busy; a thousand naps of 20 ms take
// little
// longer than one.
#include <sukima/sukima.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <mutex>
#include <thread>

class timer {
 public:
  using clock = std::chrono::steady_clock;
  ~timer() {
    {
      const std::lock_guard hold(lock_);
      ends_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  /// The calling fiber sleeps; its worker does something else.
  void sleep(sukima::context c, clock::duration time) {
    sukima::suspend(c, [&](sukima::resumer r) {
      {
        const std::lock_guard hold(lock_);
        sleepers_.emplace(clock::now() + time, r);
      }
      changed_.notify_one();
    });
  }

 private:
  void run() {
    std::unique_lock hold(lock_);
    while (!ends_) {
      if (sleepers_.empty()) {
        changed_.wait(hold);
      } else if (const auto first = sleepers_.begin(); first->first <= clock::now()) {
        first->second.resume();
        sleepers_.erase(first);
      } else {
        changed_.wait_until(hold, clock::time_point(first->first));
      }
    }
  }

  std::mutex lock_;
  std::condition_variable changed_;
  std::multimap<clock::time_point, sukima::resumer> sleepers_;
  bool ends_ = false;
  std::thread thread_{[this] { run(); }};
};

int main() {
  sukima::settings small;
  small.stack = 64 * 1024;  // many fibers at a time
  sukima::runtime runtime(small);
  timer naps;
  std::atomic<int> rested{0};
  runtime.run([&](sukima::context c) {
    sukima::parallel_for(c, 0, 1000, [&](sukima::context below, int) {
      naps.sleep(below, std::chrono::milliseconds(20));
      ++rested;
    });
  });
  std::printf("%d have rested\n", rested.load());
}
