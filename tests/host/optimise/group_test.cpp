// SPDX-License-Identifier: Apache-2.0
// Several VMs: one trial at a time in each group, in random order, and the guard of the neighbours.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>

#include <host/shared/optimiser.hpp>

namespace {

using namespace sukima::host;

/// VMs that are fed alike: an estimate of 4 of at most 8, and no noise.
class host {
 public:
  explicit host(std::uint64_t seed = 1) : all(seed) {}
  optimiser all;
  double at = 100;
  std::function<double(std::size_t, unsigned)> speed = [](std::size_t, unsigned) { return 10.0; };
  std::function<double(std::size_t)> share = [](std::size_t) { return 1.0; };
  std::vector<std::uint64_t> groups;

  std::size_t add(std::uint64_t group, const optimiser_settings& settings = {.most = 8}) {
    const std::size_t vm = all.add("vm" + std::to_string(groups.size()), settings, group);
    groups.push_back(group);
    all.event(vm, at, vm_event::opted_in);
    return vm;
  }
  void cycle() {
    at += 1;
    std::vector<vm_report> seen;
    for (std::size_t vm = 0; vm < groups.size(); vm++) {
      vm_report report{.vm = vm, .status = vm_status{at, 4, 4, 4, 1000}, .window = {}};
      const unsigned count = all.wanted(vm).value_or(4);
      report.window = measured_window{.at = at, .count = count, .use = 3, .progress = speed(vm, count)};
      report.window->share = share(vm);
      seen.push_back(report);
    }
    all.cycle(seen);
  }
  std::vector<std::size_t> running() const {
    std::vector<std::size_t> found;
    for (std::size_t vm = 0; vm < groups.size(); vm++)
      if (all.trial_runs(vm)) found.push_back(vm);
    return found;
  }
};

TEST(groups, one_trial_at_a_time_and_everybody_has_a_turn) {
  host h;
  for (int i = 0; i < 4; i++) h.add(1);
  std::set<std::size_t> had;
  for (int i = 0; i < 90; i++) {
    h.cycle();
    const auto running = h.running();
    ASSERT_LE(running.size(), 1U);
    had.insert(running.begin(), running.end());
  }
  EXPECT_EQ(had.size(), 4U);
  for (std::size_t vm = 0; vm < 4; vm++) EXPECT_EQ(h.all.state(vm), optimiser_state::rest);
}

TEST(groups, different_groups_try_at_the_same_time) {
  host h;
  for (std::uint64_t group = 0; group < 3; group++) h.add(group);
  std::size_t most = 0;
  for (int i = 0; i < 20; i++) {
    h.cycle();
    most = std::max(most, h.running().size());
  }
  EXPECT_EQ(most, 3U);
}

/// Which VM has the first, second, … trial.
std::vector<std::size_t> order(std::uint64_t seed) {
  host h(seed);
  for (int i = 0; i < 4; i++) h.add(1);
  std::vector<std::size_t> found;
  for (int i = 0; i < 150; i++) {
    h.cycle();
    for (const std::size_t vm : h.running())
      if (found.empty() || found.back() != vm) found.push_back(vm);
  }
  return found;
}

TEST(groups, the_order_is_random_and_the_same_for_a_seed) {
  EXPECT_EQ(order(5), order(5));
  std::map<std::size_t, int> first;
  for (std::uint64_t seed = 0; seed < 80; seed++) first[order(seed).front()]++;
  ASSERT_EQ(first.size(), 4U);
  for (const auto& [vm, times] : first) EXPECT_GE(times, 10) << vm;
}

/// Cycles until a trial of the VM runs.
void until_trial(host& h, std::size_t vm) {
  for (int i = 0; i < 200 && !h.all.trial_runs(vm); i++) h.cycle();
  ASSERT_TRUE(h.all.trial_runs(vm));
}

TEST(groups, a_vm_that_joins_a_group_with_a_trial_gives_up_its_own) {
  host h;
  h.add(1);
  h.add(2);
  until_trial(h, 0);
  ASSERT_EQ(h.running().size(), 2U);
  h.all.take_verdicts();
  h.all.regroup(1, h.at, 1);
  EXPECT_EQ(h.running(), std::vector<std::size_t>{0});
  const auto said = h.all.take_verdicts();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].kind, verdict_kind::voided);
  EXPECT_EQ(said[0].vm, "vm1");
  for (int i = 0; i < 100; i++) {
    h.cycle();
    ASSERT_LE(h.running().size(), 1U);
  }
}

TEST(groups, a_trial_that_moves_along_counts_in_the_new_group) {
  host h;
  h.add(1);
  h.add(2);
  h.all.event(1, h.at, vm_event::opted_out);
  until_trial(h, 0);
  h.all.regroup(0, h.at, 2);
  h.all.event(1, h.at, vm_event::opted_in);
  ASSERT_EQ(h.running(), std::vector<std::size_t>{0});
  for (int i = 0; i < 100; i++) {
    h.cycle();
    ASSERT_LE(h.running().size(), 1U);
  }
}

TEST(groups, a_trial_that_takes_cpu_from_a_neighbour_ends_and_is_not_repeated_for_ten_minutes) {
  host h;
  h.speed = [](std::size_t vm, unsigned n) { return vm == 0 ? 10.0 + n : 10; };
  h.add(1);
  h.add(1);
  h.all.event(1, h.at, vm_event::opted_out);
  h.share = [&](std::size_t vm) { return vm == 1 && h.all.wanted(0).value_or(4) > 4 ? 0.9 : 1.0; };
  double fired = 0;
  for (int i = 0; i < 100; i++) {
    h.cycle();
    for (const verdict& one : h.all.take_verdicts()) {
      EXPECT_NE(one.kind, verdict_kind::better) << one.reason;
      if (one.kind == verdict_kind::back && fired == 0) {
        fired = one.at;
        EXPECT_EQ(one.reason, "a neighbour's share fell");
      }
    }
  }
  ASSERT_GT(fired, 0);
  EXPECT_EQ(h.all.state(0), optimiser_state::hold);
  EXPECT_EQ(h.all.wanted(0), 4U);
  while (h.at < fired + 600) {
    h.cycle();
    ASSERT_FALSE(h.all.trial_runs(0));
  }
}

/// When the trial left, the neighbour had all its share, and now it has half: no later trial caused that.
TEST(groups, windows_of_a_trial_that_has_left_do_not_count) {
  host h;
  for (int i = 0; i < 3; i++) h.add(1);
  for (const std::size_t vm : {1U, 2U}) h.all.event(vm, h.at, vm_event::opted_out);
  // So noisy that the trial goes on.
  h.speed = [&](std::size_t vm, unsigned) { return 10 + (vm == 0 ? std::fmod(h.at, 2) : 0.0); };
  until_trial(h, 0);
  for (int i = 0; i < 16; i++) h.cycle();
  ASSERT_TRUE(h.all.trial_runs(0));
  h.all.regroup(0, h.at, 2);
  h.share = [](std::size_t) { return 0.5; };
  h.all.event(1, h.at, vm_event::opted_in);
  until_trial(h, 1);
  for (int i = 0; i < 10; i++) h.cycle();
  EXPECT_NE(h.all.state(1), optimiser_state::back);
  EXPECT_NE(h.all.state(1), optimiser_state::hold);
}

TEST(groups, the_shares_of_other_groups_do_not_matter) {
  host h;
  h.speed = [](std::size_t, unsigned n) { return 10.0 + n; };
  h.add(1);
  h.add(2);
  h.all.event(1, h.at, vm_event::opted_out);
  h.share = [&](std::size_t vm) { return vm == 1 && h.all.wanted(0).value_or(4) > 4 ? 0.5 : 1.0; };
  for (int i = 0; i < 100; i++) h.cycle();
  EXPECT_EQ(h.all.resting(0), 8U);
}

TEST(groups, input_that_makes_no_sense_is_dropped) {
  host h;
  h.add(1);
  for (int i = 0; i < 4; i++) h.cycle();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinite = std::numeric_limits<double>::infinity();
  const measured_window good{.at = h.at + 1, .count = 4, .use = 3, .progress = 10};
  const auto feed = [&](auto&& spoil) {
    measured_window window = good;
    spoil(window);
    h.all.cycle({vm_report{.vm = 0, .status = {}, .window = window}});
  };
  for (int i = 0; i < 10; i++) {
    feed([&](measured_window& w) { w.at = nan; });
    feed([&](measured_window& w) { w.at = 1; });
    feed([&](measured_window& w) { w.at = infinite; });
    feed([&](measured_window& w) { w.use = -1; });
    feed([&](measured_window& w) { w.progress = infinite; });
    feed([&](measured_window& w) { w.count = 0; });
    h.all.cycle({vm_report{.vm = 0, .status = vm_status{h.at + 1, nan, 9, 4, 100}, .window = {}}});
    h.all.event(0, h.at - 50, vm_event::paused);
    h.all.event(0, nan, vm_event::paused);
  }
  EXPECT_EQ(h.all.state(0), optimiser_state::learn);
  EXPECT_EQ(h.all.wanted(0), 4U);
  for (int i = 0; i < 3; i++) h.cycle();
  EXPECT_EQ(h.all.state(0), optimiser_state::trial) << "the good windows went on";
}

TEST(groups, settings_that_make_no_sense_are_refused) {
  optimiser all(1);
  EXPECT_THROW(all.add("vm", {.most = 0}), std::invalid_argument);
  EXPECT_THROW(all.add("vm", {.most = 1, .window_seconds = 0}), std::invalid_argument);
  EXPECT_THROW(all.add("vm", {.most = 1, .settle_seconds = -1}), std::invalid_argument);
}

TEST(groups, a_rename_shows_in_the_next_verdicts) {
  host h;
  h.add(1);
  h.cycle();
  h.all.take_verdicts();
  h.all.rename(0, h.at, "new");
  for (int i = 0; i < 30; i++) h.cycle();
  const auto said = h.all.take_verdicts();
  ASSERT_FALSE(said.empty());
  for (const verdict& one : said) EXPECT_EQ(one.vm, "new");
}

TEST(groups, the_number_of_a_removed_vm_is_used_again) {
  host h;
  for (int i = 0; i < 3; i++) h.add(1);
  while (h.running() != std::vector<std::size_t>{1}) h.cycle();
  h.all.event(1, h.at, vm_event::ended);
  h.all.remove(1);
  EXPECT_EQ(h.all.add("new", {.most = 8}, 2), 1U);
  EXPECT_EQ(h.all.state(1), optimiser_state::idle);
  h.all.event(1, h.at, vm_event::opted_in);
  h.all.take_verdicts();
  for (int i = 0; i < 60; i++) h.cycle();
  std::set<std::string> names;
  for (const verdict& one : h.all.take_verdicts()) names.insert(one.vm);
  EXPECT_EQ(names, (std::set<std::string>{"new", "vm0", "vm2"}));
  EXPECT_EQ(h.all.add("fourth", {.most = 8}, 2), 3U);
}

}  // namespace
