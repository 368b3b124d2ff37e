// SPDX-License-Identifier: Apache-2.0
// The atomics, locks and waiting loops of the protocols between workers: those of the standard library. Two
// tests compile the runtime with others: tests/memory explores all executions that the memory model allows,
// and tests/simulation chooses at each access which thread runs next.
#pragma once

#if defined(SUKIMA_ATOMICS)
#include SUKIMA_ATOMICS
#else

#include <atomic>
#include <mutex>
#include <thread>

namespace sukima::detail {

template <class T> using atomic = std::atomic<T>;
using mutex = std::mutex;
/// Called in each turn of a loop that waits for another thread and does nothing but read.
inline void yield() noexcept { std::this_thread::yield(); }

/// The cheap half of an asymmetric fence: keeps the compiler from reordering. Against a thread that calls
/// `heavy_fence`, it is a sequentially consistent fence. pairs with: heavy_fence
inline void light_fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }
/// The expensive half: a fence in each running thread of this process (src/runtime/future/heavy_fence.cpp).
/// \pre has_heavy_fence(). pairs with: light_fence
void heavy_fence() noexcept;
/// Whether the kernel supports heavy_fence.
bool has_heavy_fence() noexcept;

}  // namespace sukima::detail

#endif
