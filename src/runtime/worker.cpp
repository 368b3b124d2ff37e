// SPDX-License-Identifier: Apache-2.0
#include "worker.hpp"

#include <base/shared/probe.hpp>
#include "invariants/rest_mark.hpp"
#include "observe/trace.hpp"
#include "settings.hpp"
#include "shared/most_threads.hpp"
#include "shared/shortage.hpp"

#include <sukima/detail/jump.hpp>
#include <sukima/detail/ticks.hpp>

namespace sukima::detail {

namespace {

/// The number of the newest worker. no partner: only the numbers must differ
std::atomic<std::uint32_t> worker_number{0};

}  // namespace

std::uint32_t last_worker_number() noexcept { return worker_number.load(std::memory_order_acquire); }

worker::worker(const worker_origin& from, unsigned in_runtime, unsigned in_rank)
    : runtime(&from.runtime),
      id(in_runtime),
      number(worker_number.fetch_add(1, std::memory_order_relaxed) + 1),
      rank(in_rank),
      background(in_rank != 0),
      epoch(uses(from.chosen, wait_policy::condvar), uses(from.chosen, wait_policy::inherit)),
      // The numbers differ from run to run, so that a guard does not refuse the same request in every run.
      random_state((0x9E3779B97F4A7C15ull * (in_runtime + 1) ^ (ticks() * 0xBF58476D1CE4E5B9ull)) | 1),
      split_at(ticks()),
      state_since(split_at),
      trace(trace_worker(from.serial, in_runtime)),
      rest_changes(from.rest) {}

std::uint64_t worker::random() noexcept {
  // xorshift64*, which is good enough for the choice of a victim.
  random_state ^= random_state >> 12;
  random_state ^= random_state << 25;
  random_state ^= random_state >> 27;
  return random_state * 0x2545F4914F6CDD1Dull;
}

void worker::enter_state(worker_state next) noexcept {
  if (next != state) enter_state(next, ticks());
}

void worker::enter_state(worker_state next, std::uint64_t now) noexcept {
  statistics.ticks_in_state[static_cast<unsigned>(state)] += now - state_since;
  state = next;
  state_since = now;
  if (trace != nullptr) trace->add(static_cast<trace_kind>(next), now);
}

void worker::rests(rest_place place) noexcept { rest.is(rest_changes, place); }
void worker::sleeps(rest_place place, std::uint32_t seen) noexcept {
  SUKIMA_PROBE(park, id, place);
  rest.sleeps(rest_changes, place, seen);
}

void worker::note(trace_kind kind, std::uint32_t argument) noexcept {
  if (trace != nullptr) trace->add(kind, ticks(), argument);
}

worker_table::~worker_table() {
  for (worker& w : all()) delete &w;
}

static_assert(max_workers == most_threads, "programs of objects refuse more before they begin");

worker& worker_table::add(unsigned rank) {
  const std::lock_guard hold(growing_);
  const unsigned id = count_.load(std::memory_order_relaxed);
  if (id == max_workers)
    throw shortage(std::errc::resource_unavailable_try_again,
                   "sukima: more than 4096 threads are inside one runtime; let fewer enter at a time");
  auto* const w = new worker(origin_, id, rank);
  workers_[id].store(w, std::memory_order_relaxed);
  count_.store(id + 1, std::memory_order_release);
  return *w;
}

}  // namespace sukima::detail
