// SPDX-License-Identifier: Apache-2.0
// The steps of dividing an island. The holder of its token does all of them, on the fiber of one of its
// objects, before it gives the new island's token to the workers. An object can move if no other thread may
// use its fiber: if it is ready, or waits only for streams of this island.
#include <base/shared/assert.hpp>

#include <algorithm>
#include <atomic>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "program/program_core.hpp"
#include "schedule/division_steps.hpp"
#include "schedule/island.hpp"

namespace sukima::objects::detail {

namespace {

/// The facts about an island before it is divided. Its objects have the same numbers as in island_core.
struct island_view {
  std::vector<sampled_object> objects;
  std::vector<stream_core*> inner;  ///< streams that are not shared, and whose ends its objects hold
  std::vector<sampled_stream> streams;  ///< the same streams
  std::vector<stream_core*> open;  ///< streams that are not shared, and have unknown ends
};

/// Returns the load to assume for objects that have not begun: the mean load, if most objects that have begun
/// compute long.
std::uint64_t load_of_fresh(const island_core& of) {
  std::uint64_t loaded = 0, sum = 0, begun = 0;
  for (const object_core* const o : of.objects) {
    if (!o->begun.load(std::memory_order_relaxed)) continue;  // only this island sets it
    ++begun;
    if (o->sampled_ticks < work_sampler::long_operation) continue;
    ++loaded;
    sum += o->sampled_ticks;
  }
  return loaded >= 2 && 2 * loaded > begun ? sum / loaded : 0;
}

island_view look_at(const program_core& p, const island_core& of, const object_core& stays) {
  island_view seen;
  const std::vector<sukima::detail::fiber*> ready = of.ready_fibers();
  const std::unordered_set<const sukima::detail::fiber*> can_go_on(ready.begin(), ready.end());
  const std::uint64_t fresh = load_of_fresh(of);
  std::unordered_map<stream_core*, std::vector<std::size_t>> holders;
  for (std::size_t i = 0; i < of.objects.size(); ++i) {
    const object_core& o = *of.objects[i];
    const bool is_fresh = !o.begun.load(std::memory_order_relaxed);
    const bool is_parked = o.local_wait != nullptr || can_go_on.contains(o.self);
    seen.objects.push_back({is_fresh ? fresh : o.sampled_ticks,
                            &o != &stays && is_parked && !o.has_ended.load(std::memory_order_relaxed)});
    for (const held_end& e : o.ends) holders[e.stream].push_back(i);
  }
  const auto add = [&](stream_core& s, std::vector<std::size_t> held) {
    // Only this thread changes the counts and the index of a stream that is not shared.
    if (held.size() <
        std::size_t{s.outs.load(std::memory_order_relaxed)} + s.ins.load(std::memory_order_relaxed)) {
      seen.open.push_back(&s);
      return;
    }
    const std::uint64_t sent = s.own_words.tail.load(std::memory_order_relaxed) - s.tail_at_sample;
    seen.inner.push_back(&s);
    seen.streams.push_back({std::move(held), cost_between_islands(sent, s.capacity)});
  };
  if (p.islands.size() == 1) {  // before the first division ends may be unknown
    for (const auto& s : p.streams)
      if (!s->shared) add(*s, holders[s.get()]);
  } else {
    for (auto& [s, held] : holders)
      if (!s->shared) add(*s, std::move(held));
  }
  return seen;
}

}  // namespace

void stream_core::become_shared() noexcept {
  // Waiting objects wake, check the stream again, and then wait as for a shared stream.
  wake(receivers_wait, ~std::uint64_t{0});
  wake(senders_wait, ~std::uint64_t{0});
  SUKIMA_ASSERT(receivers.first == nullptr && senders.first == nullptr,
                "no object waits for a stream when it becomes shared");
  own_words.tail_seen = own_words.tail.load(std::memory_order_relaxed);
  own_words.head_seen = own_words.head.load(std::memory_order_relaxed);
  // Relaxed: the counts of the waits order it. pairs with: is_ready in find_deadlock.cpp
  std::atomic_ref(shared).store(true, std::memory_order_relaxed);
}

bool divide(program_core& p, island_core& of, const object_core& stays) {
  of.collect();
  const std::lock_guard hold(p.run_lock);
  // Relaxed: abort_here stores it under the same lock. pairs with: abort_here in program.cpp
  if (!sukima::detail::has_idle_worker(*p.core) || p.aborting.load(std::memory_order_relaxed)) return false;
  const std::lock_guard hold_ends(p.ends_lock);
  const island_view seen = look_at(p, of, stays);
  const std::vector<std::size_t> leavers = find_leavers(seen.objects, seen.streams);
  if (leavers.empty()) return false;
  std::vector<bool> leaves(of.objects.size());
  for (const std::size_t i : leavers) leaves[i] = true;
  auto made = std::make_unique<island_core>(*p.core, sukima::detail::executor::runs_on::workers);
  island_core& next = *made;
  std::vector<sukima::detail::fiber*> fibers;
  std::vector<object_core*> others;
  for (std::size_t i = 0; i < of.objects.size(); ++i) {
    object_core* const o = of.objects[i];
    (leaves[i] ? next.objects : others).push_back(o);
    if (leaves[i]) fibers.push_back(o->self);
  }
  p.islands.reserve(p.islands.size() + 1);
  p.make_bell(next);  // the last step that may fail
  // Counts the bell. It was not 0, because an object runs here. Relaxed: it continues the release sequences
  // of the fibers that have ended. pairs with: end_fiber in program.cpp
  p.left.fetch_add(1, std::memory_order_relaxed);
  p.islands.push_back(std::move(made));
  for (object_core* const o : next.objects) o->home = &next;
  of.give(fibers, next);
  of.objects = std::move(others);
  of.left -= fibers.size();
  next.left = fibers.size();
  next.can_be_divided = true;
  for (stream_core* const s : seen.open) s->become_shared();
  for (std::size_t i = 0; i < seen.inner.size(); ++i) {
    const std::vector<std::size_t>& held = seen.streams[i].objects;
    if (std::any_of(held.begin(), held.end(),
                    [&](std::size_t o) { return leaves[o] != leaves[held.front()]; }))
      seen.inner[i]->become_shared();
  }
  SUKIMA_ASSERT_VALID(of);
  SUKIMA_ASSERT_VALID(next);
  next.start();
  return true;
}

}  // namespace sukima::objects::detail
