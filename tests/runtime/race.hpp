// SPDX-License-Identifier: Apache-2.0
// Races between real threads in one part of the runtime, and a runtime whose workers are the test's threads.
#pragma once

#include "steal/steal.hpp"
#include "whole_runtime.hpp"

#include <array>
#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace support {

/// Random delays of one thread, determined by the seed.
class jitter {
 public:
  explicit jitter(std::uint64_t seed) : draws_(static_cast<std::minstd_rand::result_type>(seed)) {}
  /// Mostly spins for some instructions, and sometimes yields.
  void operator()() {
    const auto drawn = draws_();
    if (drawn % 16 == 0) std::this_thread::yield();
    for (auto i = drawn / 16 % 2048; i != 0; --i) asm volatile("");
  }

 private:
  std::minstd_rand draws_;
};

/// Lets its threads continue at the same moment. All of them then have a CPU, because they spin. Used once
/// per round.
class starting_line {
 public:
  explicit starting_line(std::size_t threads) : threads_(threads) {}
  void wait() {
    const std::size_t arrived = arrived_.fetch_add(1, std::memory_order_acq_rel) + 1;
    const std::size_t all = (arrived + threads_ - 1) / threads_ * threads_;
    for (unsigned turns = 1; arrived_.load(std::memory_order_acquire) < all; ++turns)
      if (turns % 1024 == 0) std::this_thread::yield();
  }

 private:
  const std::size_t threads_;
  std::atomic<std::size_t> arrived_{0};
};

/// Delays at one of four steps of the protocols, if the runtime was built with them (stress.hpp).
inline const int stress_rate = setenv("SUKIMA_STRESS_RATE", "4", 0);

/// One side of a race, called once per round in its own thread.
using racer = std::function<void(jitter&)>;

/// Runs `rounds` rounds: `set_up`, then all sides at the same time in their own threads, then `check` after
/// all have returned. If a side waits for an event that does not happen, the test does not end.
inline void race(std::uint64_t seed, unsigned rounds, const std::function<void()>& set_up,
                 const std::vector<racer>& sides, const std::function<void()>& check) {
  std::barrier round(static_cast<std::ptrdiff_t>(sides.size() + 1));
  starting_line line(sides.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < sides.size(); ++i)
    threads.emplace_back([&, i] {
      jitter delay(seed + 1000 * (i + 1));
      for (unsigned r = 0; r < rounds; ++r) {
        round.arrive_and_wait();
        line.wait();
        delay();
        sides[i](delay);
        round.arrive_and_wait();
      }
    });
  for (unsigned r = 0; r < rounds; ++r) {
    set_up();
    round.arrive_and_wait();  // all begin
    round.arrive_and_wait();  // all have returned
    check();
  }
  for (std::thread& t : threads) t.join();
}

#if defined(SUKIMA_SANITIZED)
inline constexpr unsigned race_rounds = 1'000;
#else
inline constexpr unsigned race_rounds = 5'000;
#endif

/// A runtime without its own threads: each thread of a test acts as one of its workers. No entry is active.
class workbench {
 public:
  static constexpr unsigned workers = 3;

  /// \param published settings::published_tasks
  explicit workbench(unsigned published = 3, sukima::wait_policy wait = sukima::wait_policy::block)
      : core(chosen(published, wait), 1, nullptr) {
    while (core.workers.size() < workers) core.workers.add(0);
  }
  ~workbench() {
    // No thread is inside, so the runtime does not wait for one when it ends.
    for (sukima::detail::worker& w : core.workers.all()) w.taken.store(false, std::memory_order_relaxed);
  }
  workbench(const workbench&) = delete;
  workbench& operator=(const workbench&) = delete;

  sukima::detail::worker& worker(unsigned i) { return core.workers[i]; }

  sukima::detail::whole_runtime core;

 private:
  static sukima::settings chosen(unsigned published, sukima::wait_policy wait) {
    sukima::settings s;
    s.workers = 1;
    s.elastic = false;
    s.pin = sukima::pin_policy::none;
    s.wait = wait;
    s.published_tasks = published;
    return s;
  }
};

/// A task that never runs. It contains a message from the thread that made it.
struct message_task : sukima::detail::task {
  int message = 0;  ///< not atomic, so a missing order is a data race
  std::atomic<int> taken{0};  ///< number of times
};

}  // namespace support
