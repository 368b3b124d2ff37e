// SPDX-License-Identifier: Apache-2.0
// A launched future that begins only after other futures have ended: then, when_all, when_any.
//
// It is a *waiter* in the cell of each of its sources, so it needs no fiber while it waits. Each end counts
// once. The end that completes the count moves the future to the list of futures that no worker has begun.
// Until then the runtime keeps the future in a separate list, so that the end of the runtime cancels it.
//
// One CAS of `launched::stage` decides between two events: the sources let the future begin (waits → begins),
// or a cancellation or the end of the runtime drops it (waits → dropped). A source may end on any thread, and
// after the runtime of the future has ended. Its thread uses that runtime only after it has won the CAS: then
// the future has not ended, and the runtime waits for it (launched_futures::close). A thread that has lost
// the CAS uses only the record below, which it keeps alive.
//
// A source may belong to another runtime, which may have no thread: rank 0 belongs to threads that enter. A
// touch of the dependent future brings workers only to its own runtime. So each such source counts, until it
// ends, as a thread that waits outside its runtime (blocking_compensation::begin_outside).
#include "fiber/fiber.hpp"
#include "future/future.hpp"
#include "join/join_parts.hpp"
#include "park/compensation.hpp"
#include "stress.hpp"

#include <memory>

namespace sukima::detail {

namespace {

struct dependencies;

/// Waits in the cell of one source.
struct dependency : future_waiter {
  dependencies* all = nullptr;
  runtime_core* counted_in = nullptr;  ///< the source's runtime, which counts this as a wait outside it
};

/// The sources that a future depends on. Deleted after the last of them has ended.
struct dependencies {
  launched& dependent;  ///< this record holds one reference to it
  std::unique_ptr<dependency[]> each;
  /// Number of ends until the future may begin; further ends wrap around. pairs with: source_ended
  std::atomic<std::size_t> missing;
  /// Number of ends that will still come, plus one for launch_after itself. pairs with: let_go
  std::atomic<std::size_t> left;
};

void let_go(dependencies& all) noexcept {
  if (all.left.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  drop_own_reference(all.dependent);
  delete &all;
}

/// Lets a future begin, after all its sources have ended.
void begin(launched& t) noexcept {
  auto expected = dependence::waits;
  if (!t.stage.compare_exchange_strong(expected, dependence::begins, std::memory_order_seq_cst)) return;
  join_parts& r = parts_of<join_parts>(t);
  const lifetime::resuming keep(r.life);  // once the future is listed, it may end, and then the runtime
  stress_point();
  r.launched.begin_dependent(t);
}

/// Brings a worker into the source's runtime if that is another one. Called before the dependency is added to
/// the source's cell, because afterwards the source may end at any time.
void bring_worker(dependency& one, const launched& source, const launched& dependent) noexcept {
  runtime_core* const other = source.runtime;
  if (other == nullptr || other == dependent.runtime || source.cell->is_done()) return;
  if (parts_of<join_parts>(*other).blocking.begin_outside()) one.counted_in = other;
}

/// Counts a source that has ended. A source ends before its runtime does, and so does this call.
void source_ended(future_waiter& w) noexcept {
  dependency& one = static_cast<dependency&>(w);
  dependencies& all = *one.all;
  if (one.counted_in != nullptr) parts_of<join_parts>(*one.counted_in).blocking.end_outside();
  if (all.missing.fetch_sub(1, std::memory_order_acq_rel) == 1) begin(all.dependent);
  let_go(all);
}

}  // namespace

void launch_after(launched& dependent, std::span<launched* const> sources, std::size_t needed) {
  const std::size_t count = sources.size();
  // In a child process after fork() no worker would end such a source.
  for (const launched* const source : sources)
    if (source->runtime != nullptr && !source->cell->is_done()) source->runtime->life.refuse_orphans();
  auto made = std::unique_ptr<dependencies>(
      new dependencies{dependent, std::make_unique<dependency[]>(count), needed, count + 1});
  in_runtime([&](fiber& s) {
    prepare_launch(s, dependent);
    parts_of<join_parts>(s).launched.add_dependent(dependent);
  });
  dependencies& all = *made.release();
  hold_for_library(dependent);
  for (std::size_t i = 0; i < count; ++i) {
    dependency& one = all.each[i];
    one.all = &all;
    one.ended = source_ended;
    bring_worker(one, *sources[i], dependent);
    if (!future_waiting::add(*sources[i]->cell, one)) source_ended(one);
  }
  if (needed == 0) begin(dependent);
  let_go(all);
}

void launched_futures::add_dependent(launched& t) {
  const std::lock_guard hold(lock_);
  refuse_if_closed();
  hold_for_library(t);
  rise(one_unfinished);
  t.stage.store(dependence::waits, std::memory_order_seq_cst);
  append(t, dependent_.oldest, dependent_.newest);
}

void launched_futures::begin_dependent(launched& dependent) noexcept {
  const sukima_place queue = dependent.queue;
  bool is_closed = false;
  {
    const std::lock_guard hold(lock_);
    unlink(dependent, dependent_.oldest, dependent_.newest);
    is_closed = closed_;
    if (is_closed)
      append(dependent, begun_.oldest, begun_.newest);
    else
      enlist(dependent, 0);
  }
  if (is_closed)
    drop(dependent);
  else
    call_workers(queue);
}

/// \pre the lock is held
bool launched_futures::take_dependent(launched& t) noexcept {
  auto expected = dependence::waits;
  if (!t.stage.compare_exchange_strong(expected, dependence::dropped, std::memory_order_seq_cst))
    return false;
  unlink(t, dependent_.oldest, dependent_.newest);
  append(t, begun_.oldest, begun_.newest);
  return true;
}

}  // namespace sukima::detail
