// SPDX-License-Identifier: Apache-2.0
// A thread that changes the number of a runtime's workers while random programs run.
#pragma once

#include <sukima/sukima.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <thread>

namespace random_programs {

/// Changes the number of a runtime's workers: during every other program some thousand times a second, during
/// the others once, to one worker, so that what depends on another worker does not end.
class resizer {
 public:
  resizer(sukima::runtime& resized, std::uint64_t seed)
      : resized_(resized), random_(static_cast<unsigned>(seed)), thread_([this] { main(); }) {}
  /// A program begins.
  void next() { ++programs_; }
  ~resizer() {
    ends_ = true;
    thread_.join();
  }
  resizer(const resizer&) = delete;
  resizer& operator=(const resizer&) = delete;

 private:
  void pause() { std::this_thread::sleep_for(std::chrono::microseconds(random_() % 300)); }
  void main() {
    while (!ends_) {
      const std::uint64_t program = programs_;
      if (program % 2 == 0) {
        resized_.limit_workers(static_cast<unsigned>(random_() % (resized_.workers() + 1)));
        pause();
        continue;
      }
      resized_.limit_workers(0);
      pause();
      resized_.limit_workers(1);
      while (programs_ == program && !ends_) std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

  sukima::runtime& resized_;
  std::minstd_rand random_;
  std::atomic<std::uint64_t> programs_{0};
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

}  // namespace random_programs
