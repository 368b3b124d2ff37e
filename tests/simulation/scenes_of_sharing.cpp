// SPDX-License-Identifier: Apache-2.0
// Scenes about work that other workers must be able to take: work below a child of a group, work for all
// workers at the same time, and futures in the queues of places. Also about copies for other workers that
// fail.
#include "scene.hpp"

#include "../runtime/random/meeting.hpp"
#include "machine.hpp"

#include "invariants/at_rest.hpp"

#include <functional>
#include <memory>
#include <ranges>
#include <vector>

namespace sukima::simulation {

namespace {

using detail::atomic;
using random_programs::meeting;

/// A group with one child.
template <class Child> void group_of_one(context c, Child child) {
  task_group group(c);
  group.run(c, child);
  group.wait(c);
}

/// At each level there are a branch and two iterations that have not begun, and a group. All of them meet.
void descend(context c, int levels, meeting& all) {
  if (levels == 0) return all.arrive(&c);
  fork2(
      c,
      [&](context c1) {
        parallel_for(c1, 0, 3, [&](context c2, int i) {
          if (i != 0) return all.arrive(&c2);
          group_of_one(c2, [&](context c3) { descend(c3, levels - 1, all); });
        });
      },
      [&](context c1) { all.arrive(&c1); });
}

void meet_below_groups(stage& stage) {
  const int levels = stage.number(1, 4);
  meeting all(1 + levels * 3);
  stage.runtime.run([&](context c) { descend(c, levels, all); });
}

/// A polling child gives away a branch of the fiber that waits for it.
void branch_below_a_child(stage& stage) {
  if (!stage.has_others()) return;
  stage.runtime.run([&](context c) {
    atomic<bool> taken{false};
    fork2(
        c,
        [&](context b) { group_of_one(b, [&](context d) { poll_until(d, [&] { return taken.load(); }); }); },
        [&] { taken.store(true); });
  });
}

void fork_where_a_group_was(stage& stage) {
  stage.runtime.run([&](context c) {
    {
      meeting children(2);
      task_group group(c);
      for (int i = 0; i < 2; ++i) group.run(c, [&](context b) { children.arrive(&b); });
      group.wait(c);
    }
    meeting branches(2);
    fork2(c, [&](context b) { branches.arrive(&b); }, [&](context b) { branches.arrive(&b); });
  });
}

/// Each worker is needed at the same time, so the scene does not end if one was not called up.
void need_all_workers(stage& stage) {
  const int count = static_cast<int>(stage.runtime.workers());
  for (int round = stage.number(1, 3); round > 0; --round) {
    const int most = stage.number(1, 6);
    stage.runtime.run([&](context c) {
      atomic<int> arrived{0};
      parallel_for(c, 0, count, [&](context b, int i) {
        fibonacci(b, (i + round) % most);
        arrived.fetch_add(1);
        poll_until(b, [&] { return arrived.load() == count; });
      });
    });
  }
}

struct broken_copy {};

/// A workspace that cannot be copied.
struct no_copy {
  explicit no_copy(atomic<int>& of) : failed(&of) {}
  no_copy(const no_copy& other) : failed(other.failed) {
    failed->fetch_add(1);
    throw broken_copy();
  }
  no_copy& operator=(const no_copy&) = delete;
  ~no_copy() = default;
  atomic<int>* failed;
};

/// Runs the body at the first choice of a search whose workspace cannot be copied.
template <class Body> void search_without_copies(context c, atomic<int>& failed, Body body) {
  no_copy workspace(failed);
  atomic<bool> is_first{true};
  search(
      c, workspace, std::views::iota(0, 2), [](no_copy&, int) {}, [](no_copy&, int) {},
      [&](context b, no_copy&, int) {
        if (is_first.exchange(false)) body(b);
        return 0;
      },
      0, std::plus<>{});
}

/// The copy fails while a child runs on top of the search, or on another worker.
void failed_copy_below_a_child(stage& stage) {
  if (!stage.has_others()) return;
  atomic<int> failed{0};
  bool child_ended = false;
  const bool reported = throws<broken_copy>([&] {
    stage.runtime.run([&](context c) {
      search_without_copies(c, failed, [&](context b) {
        group_of_one(b, [&](context d) {
          poll_until(d, [&] { return failed.load() != 0; });
          child_ended = true;
        });
      });
    });
  });
  stage.expect(reported, "a failed copy was not reported");
  stage.expect(child_ended, "a child was aborted by a failed copy below it");
}

/// The copy fails, and then the scope inside is cancelled. A call without a context notices that on another
/// fiber, which does not know of the failure.
void failed_copy_and_cancelled_scope(stage& stage) {
  if (!stage.has_others()) return;
  atomic<int> failed{0};
  const auto body = [&](context c) {
    const auto in_scope = [&](context b, const canceller& cancel) {
      for (;;)
        fork2(
            b,
            [&](context) {
              if (failed.load() == 0) return;
              cancel.cancel();
              for (;;) fork2([] {}, [] {});
            },
            [] {});
    };
    stage.expect(!cancellable(c, in_scope), "a cancelled scope ended as usual");
    fork2(c, [] {}, [] {});
    stage.expect(false, "a failed copy did not leave by the next join");
  };
  const bool reported = throws<broken_copy>(
      [&] { stage.runtime.run([&](context c) { search_without_copies(c, failed, body); }); });
  stage.expect(reported, "a failed copy was not reported");
}

/// Futures in the queues of places. Either workers compute them after the last entry has ended, or the end of
/// the runtime cancels them.
void queues_of_places(stage& stage) {
  if (stage.places == 0) return;
  settings queues;
  queues.workers = static_cast<unsigned>(stage.number(2, 4));
  queues.elastic = false;
  queues.placement = placement_policy::queue;
  queues.hint_threshold_ns = 0;
  const auto kept = std::make_shared<int>(0);
  std::vector<shared_future<void>> all;
  {
    sukima::runtime own(queues);
    const bool waits = stage.random.once_in(2);
    for (int round = stage.number(1, 3); round > 0; --round) {
      own.run([&] {
        for (int i = stage.number(1, 3); i > 0; --i)
          all.push_back(
              launch([kept] {}, on(place(static_cast<sukima_place>(stage.number(1, stage.places))))));
      });
      if (!waits) continue;
      the_machine().end_spurious_wake_ups();  // otherwise the workers would never sleep at the same time
      detail::check_at_rest(own);
      for (const auto& one : all) stage.expect(one.is_done(), "a future stayed in the queue of its place");
    }
  }
  for (const auto& one : all) stage.expect(one.is_done(), "a future in a queue outlived its runtime");
  all.clear();
  stage.expect(kept.use_count() == 1, "captures of a future in a queue were not destroyed");
}

}  // namespace

std::span<const scene> scenes_of_sharing() noexcept {
  static constexpr scene scenes[] = {
      {"meeting below groups", meet_below_groups},
      {"branch below a child", branch_below_a_child, true},
      {"fork where a group was", fork_where_a_group_was},
      {"all workers at once", need_all_workers, true},
      {"failed copy below a child", failed_copy_below_a_child, true},
      {"failed copy and cancelled scope", failed_copy_and_cancelled_scope, true},
      {"queues of places", queues_of_places},
  };
  return scenes;
}

}  // namespace sukima::simulation
