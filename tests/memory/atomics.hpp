// SPDX-License-Identifier: Apache-2.0
// Implements the names of include/sukima/detail/atomics.hpp by the explorer, for a runtime that is explored.
#pragma once

#include "explorer.hpp"

#include <bit>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <type_traits>

namespace sukima::memory {

/// The part of the interface of std::atomic that the runtime uses. compare_exchange_weak does not fail
/// spuriously: the loops around it have no effects except its reads, so such a failure would only repeat a
/// read.
template <class T> class atomic : public atomic_base {
  // If T is a pointer, the pointer itself is stored.
  static constexpr std::size_t size = sizeof(T);  // NOLINT(bugprone-sizeof-expression)
  static_assert(std::is_trivially_copyable_v<T> && size <= sizeof(std::uint64_t));
  using place = std::source_location;
  static constexpr std::memory_order sc = std::memory_order_seq_cst;

 public:
  atomic() : atomic_base(bits(T{})) {}
  atomic(T first) : atomic_base(bits(first)) {}  // NOLINT(google-explicit-constructor): as std::atomic

  T load(std::memory_order order = sc, const place& where = place::current()) const noexcept {
    return value(atomic_base::load(order, where));
  }
  void store(T v, std::memory_order order = sc, const place& where = place::current()) noexcept {
    atomic_base::store(bits(v), order, where);
  }
  T exchange(T v, std::memory_order order = sc, const place& where = place::current()) noexcept {
    return rmw("exchange", order, where, [&](T) { return v; });
  }
  T fetch_add(T v, std::memory_order order = sc, const place& where = place::current()) noexcept {
    return rmw("fetch_add", order, where, [&](T old) { return static_cast<T>(old + v); });
  }
  T fetch_sub(T v, std::memory_order order = sc, const place& where = place::current()) noexcept {
    return rmw("fetch_sub", order, where, [&](T old) { return static_cast<T>(old - v); });
  }
  T fetch_or(T v, std::memory_order order = sc, const place& where = place::current()) noexcept {
    return rmw("fetch_or", order, where, [&](T old) { return static_cast<T>(old | v); });
  }
  T fetch_and(T v, std::memory_order order = sc, const place& where = place::current()) noexcept {
    return rmw("fetch_and", order, where, [&](T old) { return static_cast<T>(old & v); });
  }
  bool compare_exchange_strong(T& expected, T wanted, std::memory_order order, std::memory_order failure,
                               const place& where = place::current()) noexcept {
    const std::uint64_t before = bits(expected);
    const std::uint64_t read =
        change([&](std::uint64_t old) { return old == before ? std::optional(bits(wanted)) : std::nullopt; },
               "compare_exchange", order, failure, where);
    expected = value(read);
    return read == before;
  }
  bool compare_exchange_strong(T& expected, T wanted, std::memory_order order = sc,
                               const place& where = place::current()) noexcept {
    return compare_exchange_strong(expected, wanted, order, without_release(order), where);
  }
  bool compare_exchange_weak(T& expected, T wanted, std::memory_order order, std::memory_order failure,
                             const place& where = place::current()) noexcept {
    return compare_exchange_strong(expected, wanted, order, failure, where);
  }
  bool compare_exchange_weak(T& expected, T wanted, std::memory_order order = sc,
                             const place& where = place::current()) noexcept {
    return compare_exchange_strong(expected, wanted, order, without_release(order), where);
  }

 private:
  static std::uint64_t bits(T v) noexcept {
    std::uint64_t b = 0;
    std::memcpy(&b, &v, size);
    return b;
  }
  static T value(std::uint64_t b) noexcept {
    T v;
    std::memcpy(static_cast<void*>(&v), &b, size);
    return v;
  }
  static std::memory_order without_release(std::memory_order order) noexcept {
    if (order == std::memory_order_acq_rel) return std::memory_order_acquire;
    return order == std::memory_order_release ? std::memory_order_relaxed : order;
  }
  template <class Change>
  T rmw(const char* operation, std::memory_order order, const place& where, Change change_value) noexcept {
    return value(change([&](std::uint64_t old) { return std::optional(bits(change_value(value(old)))); },
                        operation, order, order, where));
  }
};

}  // namespace sukima::memory

namespace sukima::detail {

template <class T> using atomic = memory::atomic<T>;
using mutex = memory::mutex;
inline void yield() { memory::wait_for_change(); }
/// The model has no asymmetric fences. Both halves are the fences that they replace.
inline void light_fence() { memory::fence(std::memory_order_seq_cst); }
inline void heavy_fence() { memory::fence(std::memory_order_seq_cst); }
inline bool has_heavy_fence() { return true; }

/// FUTEX_WAIT is 0, FUTEX_WAKE is 1.
inline long futex(atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* timeout) {
  if (operation == 0)
    memory::futex_wait(word, value, timeout != nullptr);
  else
    memory::futex_wake(word);
  return 0;
}

}  // namespace sukima::detail
