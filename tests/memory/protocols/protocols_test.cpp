// SPDX-License-Identifier: Apache-2.0
// The runtime's own code, explored: no execution that the memory model allows breaks a protocol.
#include "world.hpp"

#include <gtest/gtest.h>

#include <cstdio>

namespace {

using namespace sukima::memory;

void all_hold(const std::vector<program>& programs) {
  for (const program& p : programs) {
    const outcome o = explore(p);
    EXPECT_FALSE(o.error) << p.name << ": " << *o.error;
    EXPECT_GT(o.executions, 1u) << p.name;
    std::printf("%-60s %9llu executions, %llu redundant branches, %llu cut\n", p.name.c_str(),
                static_cast<unsigned long long>(o.executions), static_cast<unsigned long long>(o.redundant),
                static_cast<unsigned long long>(o.cut));
  }
}

TEST(protocols, polling) { all_hold(polling_programs()); }
TEST(protocols, requesting) { all_hold(requesting_programs()); }
TEST(protocols, slots) { all_hold(slot_programs()); }
TEST(protocols, joining) { all_hold(joining_programs()); }
TEST(protocols, parking) { all_hold(parking_programs()); }
TEST(protocols, suspending) { all_hold(suspending_programs()); }
TEST(protocols, ending) { all_hold(ending_programs()); }
TEST(protocols, entering) { all_hold(entering_programs()); }

std::vector<program> all_programs() {
  std::vector<program> all;
  for (auto* some : {polling_programs, requesting_programs, slot_programs, joining_programs, parking_programs,
                     suspending_programs, ending_programs, entering_programs})
    for (program& p : some()) all.push_back(std::move(p));
  return all;
}

constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;
constexpr auto acq_rel = std::memory_order_acq_rel;
constexpr auto seq_cst = std::memory_order_seq_cst;

// The order that each access needs; docs/memory-orders.md says why the written one is often stronger.

const std::vector<known_order> polling{
    {"poll_limit.hpp", "request_poll load", seq_cst},  // then what is wanted is read by the owner's poll
    {"poll_limit.hpp", "request_poll exchange", relaxed},
    {"poll_limit.hpp", "publish_limit exchange", seq_cst},
    {"poll_limit.hpp", "restore_limit exchange 1", relaxed},
    {"poll_limit.hpp", "restore_limit exchange 2", relaxed},
    {"publish.cpp", "publishes_more load", seq_cst},
    {"publish.cpp", "publishes_more exchange", relaxed},
    {"poll.cpp", "poll_slow load", seq_cst},
    {"poll_abort.cpp", "check_abort fetch_and",
     acquire},  // a flag that it clears unseen brings an abort with it
    {"switch.cpp", "arrive exchange", seq_cst},
    {"switch.cpp", "arrive load", seq_cst},
    {"abort.cpp", "request_abort_checks fetch_or", seq_cst},
    {"abort.cpp", "request_abort_checks load", seq_cst},
    {"abort.cpp", "is_concerned load 1", relaxed},
    {"abort.cpp", "is_concerned load 2", relaxed},
    {"abort.cpp", "is_reached load 1", relaxed},
    {"abort.cpp", "is_reached load 2", relaxed},
    {"abort.cpp", "is_descendant_concerned load 1", relaxed},
    {"abort.cpp", "is_descendant_concerned load 2", relaxed},
    {"abort.hpp", "is_task_concerned load", relaxed},
    {"abort.cpp", "lower_abort compare_exchange", relaxed},
};

const std::vector<known_order> stealing{
    {"publication_slots.hpp", "publish store 2", release},
    {"publication_slots.hpp", "steal_oldest compare_exchange", acquire},
    {"publication_slots.hpp", "reclaim compare_exchange", relaxed},
    {"publication_slots.hpp", "empty exchange", relaxed},
    {"find_work.cpp", "steal_from store", seq_cst},
    {"find_work.cpp", "steal_from load", acquire},
    {"find_work.cpp", "request_poll_all load", acquire},
    {"call_home.hpp", "is_called_home load", acquire},
    {"find_work.cpp", "register_at load", relaxed},
    {"find_work.cpp", "register_at compare_exchange", relaxed},
    {"mailbox.hpp", "put compare_exchange", seq_cst},
    {"mailbox.hpp", "has_request load", seq_cst},
    {"mailbox.hpp", "take load", relaxed},
    {"mailbox.hpp", "take compare_exchange", relaxed},
    {"mailbox.hpp", "close exchange", relaxed},
    {"mailbox.hpp", "open store", relaxed},
    {"mailbox.hpp", "withdraw compare_exchange", relaxed},
    {"request.cpp", "poll load", seq_cst},
    {"request.cpp", "reply_to_thief store", release},
    {"request.cpp", "withdraw load", acquire},
    {"injector.cpp", "push fetch_add 1", relaxed},
    {"injector.cpp", "push fetch_add 2", relaxed},
    {"injector.cpp", "take load", relaxed},
    {"injector.cpp", "take fetch_sub", relaxed},
    {"splittable_fibers.cpp", "split_one load", relaxed},
    {"splittable_fibers.cpp", "take fetch_sub", relaxed},
};

const std::vector<known_order> joining{
    {"complete.cpp", "complete exchange", acq_rel},
    {"complete.cpp", "complete store", relaxed},  // the flag after it is a release
    {"call_home.cpp", "call_home fetch_or", seq_cst},
    {"call_home.cpp", "call_home load", seq_cst},
    {"await.cpp", "after_park compare_exchange", release},
    {"execute.cpp", "execute load", seq_cst},
    {"joining.hpp", "is_done load", acquire},
    {"suspend.cpp", "change compare_exchange", acq_rel},
    {"suspend.cpp", "after_suspend load", acquire},
    {"suspend.cpp", "wait_in_place load", acquire},
    {"suspend.cpp", "hold_suspended load", relaxed},
    {"suspend.cpp", "let_go_suspended load", relaxed},
    {"suspend.cpp", "let_go_suspended store", relaxed},
    // The next two are more for the worker that a late resumption finds in `on`, which no program follows.
    {"suspend.cpp", "try_resume load", relaxed},
    {"suspend.cpp", "begin_suspension store", relaxed},
};

const std::vector<known_order> parking{
    {"park.hpp", "counts load", seq_cst},
    {"park.cpp", "update load", relaxed},
    {"park.cpp", "update compare_exchange", seq_cst},
    {"park.cpp", "call_up fetch_add", seq_cst},
    {"park.cpp", "unpark_one load", seq_cst},
    {"park.cpp", "unpark_one exchange", relaxed},
    {"park.cpp", "sleep_until_called_up store", seq_cst},
    {"park.cpp", "sleep_until_called_up exchange", acquire},
    {"park.cpp", "sleep_until_called_up load", relaxed},
    {"park.cpp", "take_permit load", seq_cst},
    {"park.cpp", "take_permit compare_exchange", relaxed},
    {"park.cpp", "park store", relaxed},  // the change of the counts after it is a release
    {"park.cpp", "is_wanted load 1", relaxed},
    {"park.cpp", "is_wanted load 2", relaxed},
    {"park.cpp", "wake_sentinel exchange", relaxed},
    {"park.cpp", "sleep_as_sentinel exchange", relaxed},
    {"park.cpp", "sleep_as_sentinel store", relaxed},
    {"park.cpp", "sleep_as_sentinel compare_exchange", relaxed},
    {"wake_epoch.cpp", "advance fetch_add", release},
    {"wake_epoch.hpp", "read load", acquire},
};

const std::vector<known_order> ending{
    // The fences of this model order the other accesses, too. A real light fence does not, so they need the
    // orders that they have.
    {"future.hpp", "end_in_place store 2", relaxed},
    {"future.hpp", "is_done load", relaxed},
    {"future.hpp", "how load", relaxed},  // a load before it has seen the same end
    {"future.hpp", "end compare_exchange", release},
    {"atomics.hpp", "light_fence fence", seq_cst},
    {"atomics.hpp", "heavy_fence fence", seq_cst},
    {"waiting.cpp", "add load", relaxed},
    {"waiting.cpp", "add compare_exchange", release},
    {"waiting.cpp", "end_with_waiters load", relaxed},
    {"waiting.cpp", "end_with_waiters compare_exchange", relaxed},
};

const std::vector<known_order> entering{
    {"entries.cpp", "take exchange", seq_cst},   {"entries.cpp", "take_unannounced load", seq_cst},
    {"entries.cpp", "give_back store", release}, {"entries.hpp", "close_if exchange", seq_cst},
    {"entries.hpp", "close_if store", relaxed},  {"worker.hpp", "is_taken load", seq_cst},
};

void agree(const std::vector<std::string>& wrong) {
  std::string all;
  for (const std::string& line : wrong) all += line + "\n";
  EXPECT_EQ(all, "");
}

// Deliberate faults: each needed order weakened, one at a time.
TEST(faults, polling) { agree(check_faults(all_programs(), polling)); }
TEST(faults, stealing) { agree(check_faults(all_programs(), stealing)); }
TEST(faults, joining) { agree(check_faults(all_programs(), joining)); }
TEST(faults, parking) { agree(check_faults(all_programs(), parking)); }
TEST(faults, ending) { agree(check_faults(all_programs(), ending)); }
TEST(faults, entering) { agree(check_faults(all_programs(), entering)); }

// And where the table says that a weaker order than the written one would do, it does.
TEST(needed_orders, polling) { agree(check_needed(all_programs(), polling)); }
TEST(needed_orders, stealing) { agree(check_needed(all_programs(), stealing)); }
TEST(needed_orders, joining) { agree(check_needed(all_programs(), joining)); }
TEST(needed_orders, parking) { agree(check_needed(all_programs(), parking)); }
TEST(needed_orders, ending) { agree(check_needed(all_programs(), ending)); }
TEST(needed_orders, entering) { agree(check_needed(all_programs(), entering)); }

}  // namespace
