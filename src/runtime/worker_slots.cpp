// SPDX-License-Identifier: Apache-2.0
// A pointer for each worker of a runtime, in segments that are made when needed and never moved.
#include "fiber/fiber.hpp"
#include "fiber/switch.hpp"
#include "runtime_core.hpp"
#include "worker.hpp"

#include <sukima/detail/worker_slots.hpp>
#include <sukima/errors.hpp>

#include <bit>

namespace sukima::detail {

namespace {

struct position {
  std::size_t segment;
  std::size_t index;
};
position position_of(std::size_t worker) noexcept {
  const auto segment = static_cast<std::size_t>(std::bit_width(worker + 1)) - 1;
  return {segment, worker + 1 - (std::size_t{1} << segment)};
}

static_assert(max_workers <= (1u << 13) - 1, "13 segments hold the slots of all workers");

}  // namespace

std::size_t worker_slots::running_worker() const {
  const fiber* s = running_fiber();
  if (s == nullptr)
    throw usage_error("sukima: worker_local::local was called on a thread that is not in a runtime");
  const std::uint64_t serial = s->runtime->serial;
  std::uint64_t seen = runtime_.load(std::memory_order_relaxed);
  if (seen == 0 && runtime_.compare_exchange_strong(seen, serial, std::memory_order_relaxed)) seen = serial;
  if (seen != serial)
    throw usage_error(
        "sukima: a worker_local is used by two runtimes; use one for each, or clear it in between");
  return s->on->id;
}

void* worker_slots::find() const {
  const position p = position_of(running_worker());
  const slot* all = segments_[p.segment].load(std::memory_order_acquire);
  // pairs with: insert
  return all == nullptr ? nullptr : all[p.index].load(std::memory_order_acquire);
}

void* worker_slots::insert(void* fresh) {
  const position p = position_of(running_worker());
  slot* all = segments_[p.segment].load(std::memory_order_acquire);
  if (all == nullptr) {
    auto made = std::make_unique<slot[]>(std::size_t{1} << p.segment);
    if (segments_[p.segment].compare_exchange_strong(all, made.get(), std::memory_order_acq_rel))
      all = made.release();
  }
  void* there = nullptr;
  // pairs with: find
  return all[p.index].compare_exchange_strong(there, fresh, std::memory_order_acq_rel) ? fresh : there;
}

std::size_t worker_slots::size() const noexcept {
  std::size_t count = 0;
  for_each([&](void*) { ++count; });
  return count;
}

void worker_slots::clear() noexcept {
  for_each([&](void* p) { destroy_(p); });
  // no partner: no other thread uses the slots any more
  for (auto& segment : segments_) delete[] segment.exchange(nullptr, std::memory_order_relaxed);
  runtime_.store(0, std::memory_order_relaxed);
}

}  // namespace sukima::detail
