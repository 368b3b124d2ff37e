// SPDX-License-Identifier: Apache-2.0
// worker_local objects: one for each worker, and one for code outside the runtime. An object is made when it
// is first used, never moves, and exists until the process ends.
#include "support.hpp"

#include <sukima/sukima.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

namespace sukima::detail {

namespace {

using slot = std::atomic<void*>;

/// Segment k has the objects of the workers with the numbers [2^k − 1, 2^(k+1) − 1); 0 is the code outside.
struct table {
  std::array<std::atomic<slot*>, 32> segments{};
};

/// During a reduction: the worker to whose object a worker_local lvalue refers.
struct reduction {
  bool found = false;
  std::uint32_t number = 0;
};

/// The reductions that run on a thread. The function of SUKIMA_REDUCE_WITH may contain another one.
struct reductions {
  std::array<reduction, 16> all;
  std::size_t count = 0;

  reduction& innermost() noexcept { return all[count - 1]; }
};
thread_local reductions reducing;

[[gnu::noinline]] reductions& this_threads_reductions() noexcept {
  asm volatile("" : : : "memory");
  return reducing;
}

/// Whether workers of other nodes have objects. Relaxed, because a reduction comes after the entry that set
/// this.
std::atomic<bool> are_objects_elsewhere{false};

[[noreturn]] void no_memory() noexcept {
  end_program("sukima: no memory for a worker_local object of another worker\n");
}

table& table_of(sukima_worker_object& object) noexcept {
  auto& place = reinterpret_cast<std::atomic<table*>&>(object.objects);
  static_assert(sizeof place == sizeof object.objects);
  table* t = place.load(std::memory_order_acquire);
  if (t != nullptr) return *t;
  auto* const fresh = new (std::nothrow) table;
  if (fresh == nullptr) no_memory();
  if (place.compare_exchange_strong(t, fresh, std::memory_order_acq_rel)) return *fresh;
  delete fresh;
  return *t;
}

slot& slot_of(table& t, std::uint32_t number) noexcept {
  const auto segment = static_cast<unsigned>(std::bit_width(number + 1)) - 1;
  auto& place = t.segments[segment];
  slot* all = place.load(std::memory_order_acquire);
  if (all == nullptr) {
    auto* const fresh = new (std::nothrow) slot[std::size_t{1} << segment]{};
    if (fresh == nullptr) no_memory();
    if (place.compare_exchange_strong(all, fresh, std::memory_order_acq_rel))
      all = fresh;
    else
      delete[] fresh;
  }
  return all[number + 1 - (1u << segment)];
}

/// Makes an object in cache lines of its own.
[[gnu::noinline]] void* make_object(const sukima_worker_object& object, slot& place) noexcept {
  const std::size_t align = std::max<std::size_t>(object.align, 128);
  const std::size_t size = (std::max<std::size_t>(object.size, 1) + align - 1) / align * align;
  void* const fresh = std::aligned_alloc(align, size);
  if (fresh == nullptr) no_memory();
  std::memcpy(fresh, object.initial, object.size);
  void* there = nullptr;
  if (place.compare_exchange_strong(there, fresh, std::memory_order_acq_rel)) return fresh;
  std::free(fresh);  // several threads outside share one object
  return there;
}

}  // namespace

void forbid_reductions() noexcept { are_objects_elsewhere.store(true, std::memory_order_relaxed); }

}  // namespace sukima::detail

using namespace sukima::detail;

extern "C" {

void* sukima_worker_local(sukima_worker_object* object) {
  table& t = table_of(*object);
  reductions& running = this_threads_reductions();
  if (running.count > 0) [[unlikely]] {
    reduction& r = running.innermost();
    slot& place = slot_of(t, r.number);
    void* const there = place.load(std::memory_order_acquire);
    if (there != nullptr || r.number == 0) return there != nullptr ? there : make_object(*object, place);
    r.found = false;
    return const_cast<void*>(object->initial);
  }
  slot& place = slot_of(t, running_worker_number());
  void* const there = place.load(std::memory_order_acquire);
  return there != nullptr ? there : make_object(*object, place);
}

void sukima_reduction_begin(void) {
  if (running_worker_number() != 0)
    end_program(
        "sukima: SUKIMA_REDUCE was used by a worker; use it in plain C after the entering call has "
        "returned\n");
  if (are_objects_elsewhere.load(std::memory_order_relaxed))
    end_program(
        "sukima: SUKIMA_REDUCE was used after an entry that several nodes share, and would combine only the "
        "objects of this node's workers; return the values in 'out' members of tasks\n");
  reductions& running = this_threads_reductions();
  if (running.count == running.all.size())
    end_program("sukima: SUKIMA_REDUCE is nested more than 16 deep; keep inner results in variables\n");
  running.all[running.count++] = {true, 0};
}

int sukima_reduction_next(void) {
  reductions& running = this_threads_reductions();
  reduction& r = running.innermost();
  if (r.number >= last_worker_number()) {
    --running.count;
    return 0;
  }
  ++r.number;
  r.found = true;
  return 1;
}

int sukima_reduction_found(void) { return this_threads_reductions().innermost().found ? 1 : 0; }

[[gnu::noinline]] int* sukima_errno(void) {
  asm volatile("" : : : "memory");
  return &errno;
}

}  // extern "C"
