// SPDX-License-Identifier: Apache-2.0
#include "control/threads_beside.hpp"

#include "control/monitor.hpp"
#include "end_state.hpp"
#include "fiber/switch.hpp"

#include <sukima/other_threads.hpp>

#include <capacity/shared/side_by_side.h>

#include <dlfcn.h>
#include <pthread.h>

#include <thread>

namespace sukima::detail {

constinit threads_beside others;

namespace {

[[maybe_unused]] const int children_have_none = pthread_atfork(nullptr, nullptr, [] { others.forget(); });

/// The threads in the low half, the generation of the process in the other one. So the end of what began
/// before a fork changes nothing in the child.
constexpr unsigned generation_bits = 32;

}  // namespace

std::uint64_t threads_beside::begin(unsigned threads) noexcept {
  const bool is_worker = running_fiber() != nullptr;
  if (threads <= 1) return 0;
  const unsigned counted = is_worker ? threads - 1 : threads;
  count_.fetch_add(counted, std::memory_order_seq_cst);
  tell();
  return std::uint64_t{forks_so_far()} << generation_bits | counted;
}

void threads_beside::end(std::uint64_t begun) noexcept {
  if (begun == 0 || begun >> generation_bits != forks_so_far()) return;
  count_.fetch_sub(static_cast<unsigned>(begun), std::memory_order_seq_cst);
  tell();
}

template <class F> bool threads_beside::any_monitor(F f) noexcept {
  // Counted first, then the places are read; stop_listening() clears a place first.
  using_.fetch_add(1, std::memory_order_seq_cst);
  bool found = false;
  // pairs with: listen, stop_listening, any_monitor
  for (std::atomic<monitor*>& place : monitors_) {
    monitor* const m = place.load(std::memory_order_seq_cst);
    if (m != nullptr && f(*m)) found = true;
  }
  using_.fetch_sub(1, std::memory_order_seq_cst);
  return found;
}

void threads_beside::tell() noexcept {
  any_monitor([](monitor& m) {
    m.others_changed();
    return false;
  });
}

bool threads_beside::was_used() noexcept {
  const bool entered = entered_.exchange(false, std::memory_order_relaxed);
  return any_monitor([](const monitor& m) { return m.is_needed(); }) || entered;
}

void threads_beside::listen(monitor& from_now_on) noexcept {
  // pairs with: listen, stop_listening, any_monitor
  for (std::atomic<monitor*>& place : monitors_) {
    monitor* none = nullptr;
    if (place.compare_exchange_strong(none, &from_now_on, std::memory_order_seq_cst)) return;
  }
}

void threads_beside::stop_listening(monitor& from_now_on) noexcept {
  // pairs with: listen, stop_listening, any_monitor
  for (std::atomic<monitor*>& place : monitors_) {
    monitor* self = &from_now_on;
    if (!place.compare_exchange_strong(self, nullptr, std::memory_order_seq_cst)) continue;
    while (using_.load(std::memory_order_seq_cst) != 0) std::this_thread::yield();
  }
}

void threads_beside::forget() noexcept {
  count_.store(0, std::memory_order_relaxed);
  using_.store(0, std::memory_order_relaxed);
  // no partner: the child has one thread
  for (std::atomic<monitor*>& place : monitors_) place.store(nullptr, std::memory_order_relaxed);
}

bool is_in_parallel_region() noexcept {
  using in_parallel = int();
  static const auto ask = reinterpret_cast<in_parallel*>(dlsym(RTLD_DEFAULT, "omp_in_parallel"));
  return ask != nullptr && ask() != 0;
}

void meet_preload_library() noexcept {
  static constexpr cap_side_by_side functions{
      .region_begins = [](std::uint32_t threads) { return others.begin(threads); },
      .region_ends = [](std::uint64_t begun) { others.end(begun); },
      .was_used = [] { return others.was_used(); }};
  [[maybe_unused]] static const bool met = [] {
    const auto meet = reinterpret_cast<cap_side_by_side_meet*>(dlsym(RTLD_DEFAULT, CAP_SIDE_BY_SIDE_MEET));
    if (meet != nullptr) meet(&functions);
    return true;
  }();
}

}  // namespace sukima::detail

namespace sukima {

other_threads::other_threads(unsigned threads) noexcept : begun_(detail::others.begin(threads)) {}

other_threads::~other_threads() { detail::others.end(begun_); }

}  // namespace sukima
