// SPDX-License-Identifier: Apache-2.0
#include "control/threads_beside.hpp"

#include <base/shared/assert.hpp>
#include "control/monitor.hpp"
#include "fiber/fiber.hpp"
#include "fiber/switch.hpp"
#include "shared/stay_loaded.hpp"

#include <sukima/other_threads.hpp>

#include <capacity/shared/side_by_side.h>

#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <thread>

namespace sukima::detail {

#if !defined(SUKIMA_ATOMICS)  // the atomics of tests may have no constant initializer
constinit
#endif
    threads_beside others;

namespace {

[[maybe_unused]] const int children_have_none = pthread_atfork(nullptr, nullptr, [] { others.forget(); });

/// The low half of a begun count has the threads, the high half the generation of the process. So if the
/// threads began before a fork, their end changes nothing in the child.
constexpr unsigned generation_bits = 32;
/// Set if the region's fiber was bound to its thread, which lasts until the region ends.
constexpr std::uint64_t bound = std::uint64_t{1} << 31;
/// No machine has that many CPUs. The limit keeps sums of absurd numbers from wrapping.
constexpr unsigned most_threads = 1 << 16;

using in_parallel = int();
/// OpenMP's omp_in_parallel, if it was found. pairs with: find_openmp, is_in_parallel_region
std::atomic<in_parallel*> openmp_in_parallel{nullptr};

/// Called when threads of others begin, not at an entry, because dlsym may wait for a thread that loads a
/// library.
void find_openmp() noexcept {
  if (openmp_in_parallel.load(std::memory_order_acquire) == nullptr)
    openmp_in_parallel.store(reinterpret_cast<in_parallel*>(dlsym(RTLD_DEFAULT, "omp_in_parallel")),
                             std::memory_order_release);
}

/// A worker's fiber stays on its thread while that is the first thread of a region, as OpenMP requires.
std::uint64_t region_begins(std::uint32_t threads) noexcept {
  const std::uint64_t begun = others.begin(threads);
  fiber* const s = running_fiber();
  if (begun == 0 || s == nullptr) return begun;
  ++s->thread_bindings;
  return begun | bound;
}

void region_ends(std::uint64_t begun) noexcept {
  if ((begun & bound) != 0) {
    fiber* const s = running_fiber();
    SUKIMA_ASSERT(s != nullptr && s->thread_bindings != 0, "a region ends on the fiber that began it");
    --s->thread_bindings;
  }
  others.end(begun);
}

}  // namespace

std::uint64_t threads_beside::begin(unsigned threads) noexcept {
  if (threads <= 1) return 0;
  find_openmp();
  const bool is_worker = running_fiber() != nullptr;
  const unsigned counted = std::min(is_worker ? threads - 1 : threads, most_threads);
  count_.fetch_add(counted, std::memory_order_seq_cst);
  for_each_monitor([](monitor& m) { m.others_begin(); });
  return std::uint64_t{generation_.load(std::memory_order_relaxed)} << generation_bits | counted;
}

void threads_beside::end(std::uint64_t begun) noexcept {
  if (begun == 0 || begun >> generation_bits != generation_.load(std::memory_order_relaxed)) return;
  const auto counted = static_cast<unsigned>(begun & ~bound);
  const unsigned left = count_.fetch_sub(counted, std::memory_order_seq_cst) - counted;
  for_each_monitor([left](monitor& m) { m.others_end(left); });
}

template <class F> void threads_beside::for_each_monitor(F f) noexcept {
  for (listener& l : listeners_) {
    if (l.its.load(std::memory_order_seq_cst) == nullptr) continue;
    // The count comes first, then the second read. stop_listening() clears the pointer first.
    l.users.fetch_add(1, std::memory_order_seq_cst);
    if (monitor* const m = l.its.load(std::memory_order_seq_cst)) f(*m);
    l.users.fetch_sub(1, std::memory_order_seq_cst);
  }
}

bool threads_beside::was_used() noexcept {
  bool found = false;
  for_each_monitor([&found](monitor& m) { found = m.was_used() || found; });
  return found;
}

void threads_beside::listen(monitor& from_now_on) noexcept {
  for (listener& l : listeners_) {
    monitor* none = nullptr;
    if (l.its.compare_exchange_strong(none, &from_now_on, std::memory_order_seq_cst)) break;
  }
}

void threads_beside::stop_listening(monitor& from_now_on) noexcept {
  for (listener& l : listeners_) {
    monitor* self = &from_now_on;
    if (!l.its.compare_exchange_strong(self, nullptr, std::memory_order_seq_cst)) continue;
    while (l.users.load(std::memory_order_seq_cst) != 0) std::this_thread::yield();
  }
}

void threads_beside::forget() noexcept {
  generation_.fetch_add(1, std::memory_order_relaxed);
  count_.store(0, std::memory_order_relaxed);
  for (listener& l : listeners_) {
    l.its.store(nullptr, std::memory_order_relaxed);
    l.users.store(0, std::memory_order_relaxed);
  }
}

bool is_in_parallel_region() noexcept {
  in_parallel* const ask = openmp_in_parallel.load(std::memory_order_acquire);
  return ask != nullptr && ask() != 0;
}

void meet_preload_library() noexcept {
  static constexpr cap_side_by_side functions{.region_begins = region_begins,
                                              .region_ends = region_ends,
                                              .was_used = [] { return others.was_used(); }};
  [[maybe_unused]] static const bool met = [] {
    const auto meet = reinterpret_cast<cap_side_by_side_meet*>(dlsym(RTLD_DEFAULT, CAP_SIDE_BY_SIDE_MEET));
    if (meet == nullptr) return false;
    stay_loaded();  // the preload library calls its functions
    meet(&functions);
    return true;
  }();
}

}  // namespace sukima::detail

namespace sukima {

other_threads::other_threads(unsigned threads) noexcept : begun_(detail::others.begin(threads)) {}

other_threads::~other_threads() { detail::others.end(begun_); }

}  // namespace sukima
