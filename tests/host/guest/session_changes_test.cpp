// SPDX-License-Identifier: Apache-2.0
// A session whose machines start, end and change while it runs.
#include <gtest/gtest.h>

#include "synthetic_host.hpp"

namespace {

using namespace guests;

class changing_session : public testing::Test {
 protected:
  void SetUp() override {
    host.add(4, locked);
    host.add(4, locked);
    host.begin("threads", {.waits_for_machines = true}, &written);
    host.run(40);
  }

  /// Gives the session these guests, by their positions in the synthetic host.
  void replace(const std::vector<std::size_t>& guests, const std::function<void(description&)>& change = {}) {
    const description whole = host.described({"threads"});
    description now = whole;
    now.vms.clear();
    std::vector<steering> how;
    for (const std::size_t j : guests) {
      now.vms.push_back(whole.vms[j]);
      steering& one = how.emplace_back();
      one.threads = true;
      one.most = 4;
      if (starts[j] > 0) one.process = starts[j];
    }
    if (change) change(now);
    opened.clear();
    host.running->replace(
        now, how,
        [&](std::size_t j) {
          opened.push_back(guests[j]);
          session_vm one{.how = how[j], .chosen = true};
          one.link = make_port_link(::dup(host[guests[j]].host_end.get()));
          one.counters = std::make_unique<synthetic_counters>(host[guests[j]]);
          return one;
        },
        host.now);
  }

  guests::folder folder;
  journal written{folder.path / "journal"};
  synthetic_host host{4};
  std::vector<std::size_t> opened;
  std::vector<pid_t> starts = std::vector<pid_t>(4, 0);  ///< of each guest; 0: its first run
};

TEST_F(changing_session, those_that_stay_go_on) {
  const auto before = host.running->state(0);
  ASSERT_NE(before, optimiser_state::idle);
  host.add(4, locked);
  replace({0, 1, 2});
  EXPECT_EQ(opened, std::vector<std::size_t>{2});
  EXPECT_EQ(host.running->state(0), before);
  EXPECT_EQ(host.running->state(2), optimiser_state::idle);
  host.run(10);
  EXPECT_NE(host.running->state(2), optimiser_state::idle);
  // Three busy machines on four CPUs.
  EXPECT_NEAR(host.running->usable(2), 4.0 / 3, 0.7);
}

TEST_F(changing_session, the_order_of_machines_says_nothing) {
  const auto first = host.running->state(0), second = host.running->state(1);
  const double usable = host.running->usable(0);
  replace({1, 0});
  EXPECT_TRUE(opened.empty());
  EXPECT_EQ(host.running->state(0), second);
  EXPECT_EQ(host.running->state(1), first);
  host.run(1);
  EXPECT_NEAR(host.running->usable(1), usable, 0.5);
}

TEST_F(changing_session, one_that_is_gone_leaves_its_cpus) {
  host[1].gone = true;
  replace({0});
  host.run(2);
  EXPECT_NEAR(host.running->metrics().vms.at(0).usable.value(), 4, 1e-6);
}

TEST_F(changing_session, messages_of_one_that_is_gone_still_count) {
  const auto taken = [&] { return host.running->metrics().messages->taken; };
  const std::uint64_t before = taken();
  ASSERT_GT(before, 0U);
  replace({0});
  EXPECT_EQ(taken(), before);
  replace({});
  EXPECT_EQ(taken(), before);
}

TEST_F(changing_session, counters_do_not_fall_when_a_vcpu_is_unplugged_and_plugged_in_again) {
  const auto ran = [&] { return host.running->metrics().vms.at(0).ran.value(); };
  const auto look = [&] { host.running->step(host.now += 1); };
  std::vector<vcpu_time>& counters = host[0].times.vcpus;
  look();
  const double before = ran();
  ASSERT_GT(counters.back().ran, 0.25);
  // With another number of virtual CPUs the machine is another member of the session.
  counters.pop_back();
  replace({0, 1}, [](description& now) { now.vms[0].vcpus.pop_back(); });
  EXPECT_EQ(opened, std::vector<std::size_t>{0});
  look();
  EXPECT_NEAR(ran(), before, 1e-9);
  counters.push_back({.ran = 0.25});
  replace({0, 1});
  look();
  EXPECT_NEAR(ran(), before + 0.25, 1e-9);
}

TEST_F(changing_session, a_new_run_begins_anew) {
  starts[1] = 4711;
  replace({0, 1});
  EXPECT_EQ(opened, std::vector<std::size_t>{1});
  EXPECT_EQ(host.running->state(1), optimiser_state::idle);
  host.run(40);
  EXPECT_NE(host.running->state(1), optimiser_state::idle);
}

TEST_F(changing_session, a_new_name_and_weight_change_nothing_else) {
  const auto state = host.running->state(0);
  replace({0, 1}, [](description& now) {
    for (vm& one : now.vms) one.id = "id " + one.name;
  });
  // From a name to an id: they are other machines.
  EXPECT_EQ(opened.size(), 2U);
  host.run(40);
  EXPECT_NE(host.running->state(0), optimiser_state::idle);
  replace({0, 1}, [](description& now) {
    for (vm& one : now.vms) one.id = "id " + one.name;
    now.vms[0].name = "renamed";
    now.vms[0].weight = 512;
  });
  EXPECT_TRUE(opened.empty());
  EXPECT_NE(host.running->state(0), optimiser_state::idle);
  host.run(1);
  EXPECT_EQ(host.running->metrics().vms.at(0).name, "renamed");
  EXPECT_NEAR(host.running->usable(0), 8.0 / 3, 0.7);
  EXPECT_NE(state, optimiser_state::idle);
}

TEST_F(changing_session, without_machines_it_waits) {
  replace({});
  EXPECT_FALSE(host.running->has_ended());
  host.run(2);
  replace({0, 1});
  EXPECT_EQ(opened.size(), 2U);
  host.run(40);
  EXPECT_NE(host.running->state(0), optimiser_state::idle);
}

TEST_F(changing_session, an_impossible_description_changes_nothing) {
  EXPECT_THROW(replace({0}, [](description& now) { now.vms[0].weight_of.reset(); }), description_error);
  EXPECT_EQ(host.running->metrics().vms.size(), 2U);
}

}  // namespace
