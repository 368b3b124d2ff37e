// SPDX-License-Identifier: Apache-2.0
// Replaces the names of include/sukima/detail/atomics.hpp for the simulated machine. Each access is a step;
// before each step another thread may run.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

namespace sukima::simulation {

/// Called before each access of an atomic. Not inlined, because a fiber may continue on another thread after
/// it.
void atomic_step() noexcept;

/// One iteration of a loop that waits without a system call.
void pause_cpu() noexcept;

/// A std::atomic whose accesses are steps. It has no additional member, so a futex works on it, too.
template <class T> class atomic : public std::atomic<T> {
  using plain = std::atomic<T>;
  static constexpr std::memory_order sc = std::memory_order_seq_cst;

 public:
  using plain::plain;

  T load(std::memory_order order = sc) const noexcept {
    atomic_step();
    return plain::load(order);
  }
  void store(T v, std::memory_order order = sc) noexcept {
    atomic_step();
    plain::store(v, order);
  }
  T exchange(T v, std::memory_order order = sc) noexcept {
    atomic_step();
    return plain::exchange(v, order);
  }
  T fetch_add(T v, std::memory_order order = sc) noexcept {
    atomic_step();
    return plain::fetch_add(v, order);
  }
  T fetch_sub(T v, std::memory_order order = sc) noexcept {
    atomic_step();
    return plain::fetch_sub(v, order);
  }
  T fetch_or(T v, std::memory_order order = sc) noexcept {
    atomic_step();
    return plain::fetch_or(v, order);
  }
  T fetch_and(T v, std::memory_order order = sc) noexcept {
    atomic_step();
    return plain::fetch_and(v, order);
  }
  template <class... Orders> bool compare_exchange_strong(T& expected, T wanted, Orders... orders) noexcept {
    atomic_step();
    return plain::compare_exchange_strong(expected, wanted, orders...);
  }
  template <class... Orders> bool compare_exchange_weak(T& expected, T wanted, Orders... orders) noexcept {
    atomic_step();
    return plain::compare_exchange_strong(expected, wanted, orders...);
  }
};

}  // namespace sukima::simulation

namespace sukima::detail {

template <class T> using atomic = simulation::atomic<T>;
using mutex = std::mutex;
inline void yield() noexcept { std::this_thread::yield(); }
/// Fences do nothing: one thread runs at a time, so each access already acts as a fence.
inline void light_fence() noexcept {}
inline void heavy_fence() noexcept {}
inline bool has_heavy_fence() noexcept { return true; }

}  // namespace sukima::detail
