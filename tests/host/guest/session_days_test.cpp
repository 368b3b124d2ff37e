// SPDX-License-Identifier: Apache-2.0
// Bad days of a session: a machine that is paused, moved to another host, or ends during a trial, and a host
// that is killed. The clock is made up.
#include <gtest/gtest.h>

#include "synthetic_host.hpp"

namespace {

using namespace guests;

/// Two guests on four CPUs; the first one is in the middle of a trial.
class session_in_a_trial : public testing::Test {
 protected:
  void begin(const std::string& quantity) {
    host.add(4, locked);
    host.add(4, locked);
    host[1].reports = false;
    host.begin(quantity, {}, &written);
    while (!tries() && host.now < 2000) host.run(0.25);
    ASSERT_TRUE(tries());
    events_before = host.events.size();
    decided_before = host.verdicts.size();
  }
  bool tries() const {
    const auto& said = host.running->message_to(0);
    return host.running->state(0) == optimiser_state::trial && said && said->trial;
  }
  /// The session's sentences since the trial began.
  bool reported(const std::string& part) const {
    return std::any_of(host.events.begin() + static_cast<std::ptrdiff_t>(events_before), host.events.end(),
                       [&](const std::string& one) { return one.find(part) != std::string::npos; });
  }
  std::size_t decided(verdict_kind kind) const {
    return static_cast<std::size_t>(std::count_if(
        host.verdicts.begin() + static_cast<std::ptrdiff_t>(decided_before), host.verdicts.end(),
        [&](const verdict& one) { return one.kind == kind && one.vm == "a"; }));
  }
  std::size_t results() const {
    return decided(verdict_kind::better) + decided(verdict_kind::worse) + decided(verdict_kind::same);
  }

  guests::folder folder;
  journal written{folder.path / "journal"};
  synthetic_host host{4};
  std::size_t events_before = 0, decided_before = 0;
};

TEST_F(session_in_a_trial, a_paused_machine_has_no_result) {
  begin("threads");
  host[0].paused = true;
  host.run(12);
  EXPECT_TRUE(reported("a: its guest service is silent"));
  EXPECT_EQ(results(), 0U);
  EXPECT_EQ(decided(verdict_kind::voided), 1U);
  EXPECT_EQ(decided(verdict_kind::back), 1U);
  EXPECT_FALSE(host.running->message_to(0)->trial);
  host.run(120);
  EXPECT_GT(host.running->usable(1), 3.8) << "the other one can use what it leaves";
  // Resumed: after its ten minutes it is measured anew, and ends where it should.
  host[0].paused = false;
  host.run(900);
  EXPECT_EQ(host.running->count(0), 2U);
  EXPECT_GE(results(), 1U);
}

TEST_F(session_in_a_trial, a_short_pause_makes_no_window) {
  begin("threads");
  host[0].paused = true;
  host.run(6);
  host[0].paused = false;
  host.run(200);
  EXPECT_FALSE(reported("silent"));
  EXPECT_EQ(host.running->count(0), 2U);
}

TEST_F(session_in_a_trial, a_machine_that_ends_leaves_nothing) {
  begin("threads");
  host[0].gone = true;
  host.run(2);
  EXPECT_TRUE(reported("a: it has ended"));
  EXPECT_EQ(results(), 0U);
  EXPECT_EQ(decided(verdict_kind::voided), 1U);
  EXPECT_FALSE(host.running->message_to(0));
  EXPECT_GT(host.running->usable(1), 3.9);
}

TEST_F(session_in_a_trial, a_machine_that_moves_to_another_host_takes_no_act_along) {
  begin("vcpus");
  ASSERT_FALSE(written.in_effect().empty());
  // Its process here ends, and its port closes. Elsewhere it goes on.
  host[0].gone = true;
  host[0].service->host_closed();
  host[0].port = descriptor();
  host.run(2);
  EXPECT_TRUE(reported("a: it has ended"));
  EXPECT_EQ(results(), 0U);
  for (const auto& [number, one] : written.in_effect()) EXPECT_EQ(one.change.vm, "b");
  host[0].machine.settle();
  EXPECT_EQ(host[0].machine.on(), "0-3");
}

/// The bound after a kill of the host: 30 s after its last message, which comes at least every 3 s, the guest
/// has all its CPUs, and not much earlier, since a host that is started anew must find them as they were.
TEST_F(session_in_a_trial, cpus_come_back_30_s_after_the_last_message_of_a_killed_host) {
  begin("vcpus");
  const auto number = host[0].machine.number();
  fs::remove(number);
  while (!fs::exists(number)) host.run(0.25);
  const double last_message = host.now;
  const std::string before = host[0].machine.on();
  ASSERT_NE(before, "0-3");
  while (host[0].machine.on() == before && host.now < last_message + 60)
    host[0].run(0.25, 2, host.now += 0.25);
  EXPECT_DOUBLE_EQ(host.now - last_message, 30);
  EXPECT_EQ(host[0].machine.on(), "0-3");
}

TEST(process_counters, know_a_machine_by_its_process_and_not_by_its_name) {
  const guests::folder proc;
  const auto process = proc.path / "77";
  const auto stat = [](const std::string& name, const std::string& start) {
    return "77 (" + name + ") S 1 1 1 0 -1 4194560 1 1 1 1 1 1 1 1 20 0 5 0 " + start + " 1 1\n";
  };
  write(process / "stat", stat("db", "12300"));
  write(process / "task/78/comm", "CPU 0/KVM\n");
  write(process / "task/78/schedstat", "1000000000 500000000 7\n");
  const auto counters = make_process_counters(77, {}, 1, 0, proc.path);
  write(process / "stat", stat("renamed (CPU 0/KVM", "12300"));
  ASSERT_TRUE(counters->read());
  EXPECT_DOUBLE_EQ(counters->read()->vcpus[0].ran, 1);
  write(process / "stat", stat("db", "12301"));
  EXPECT_FALSE(counters->read()) << "another machine with its number and its name";
}

TEST(process_counters, see_what_is_unplugged_and_no_end_in_it) {
  const guests::folder proc;
  const auto process = proc.path / "77";
  write(process / "stat", "77 (qemu) S 1 1 1 0 -1 4194560 1 1 1 1 1 1 1 1 20 0 5 0 12300 1 1\n");
  const auto plug = [&](int number, int thread) {
    write(process / "task" / std::to_string(thread) / "comm", "CPU " + std::to_string(number) + "/KVM\n");
    write(process / "task" / std::to_string(thread) / "schedstat", "2000000000 0 7\n");
  };
  plug(0, 80);
  plug(1, 81);
  EXPECT_THROW(make_process_counters(77, {80, 99}, 2, 0, proc.path), description_error);
  const auto counters = make_process_counters(77, {}, 2, 0, proc.path);
  guests::fs::remove_all(process / "task/81");
  for (int i = 0; i < 2; ++i) {
    const auto times = counters->read();
    ASSERT_TRUE(times);
    ASSERT_EQ(times->vcpus.size(), 2U);
    EXPECT_TRUE(times->vcpus[0].there);
    EXPECT_FALSE(times->vcpus[1].there);
    EXPECT_DOUBLE_EQ(times->vcpus[1].ran, 2);
  }
  plug(1, 82);
  EXPECT_TRUE(counters->read()->vcpus[1].there);
  guests::fs::remove_all(process / "task");
  EXPECT_FALSE(counters->read()) << "a process that ends";
}

TEST(process_counters, see_what_is_plugged_in) {
  const guests::folder proc;
  const auto process = proc.path / "77";
  write(process / "stat", "77 (qemu) S 1 1 1 0 -1 4194560 1 1 1 1 1 1 1 1 20 0 5 0 12300 1 1\n");
  const auto plug = [&](int number) {
    write(process / "task" / std::to_string(90 - number) / "comm",
          "CPU " + std::to_string(number) + "/TCG\n");
    write(process / "task" / std::to_string(90 - number) / "schedstat",
          std::to_string(number + 1) + "000000000 0 7\n");
  };
  plug(0);
  EXPECT_THROW(make_process_counters(77, {}, 3, 1, proc.path), description_error);
  plug(1);
  const auto counters = make_process_counters(77, {}, 3, 1, proc.path);
  EXPECT_FALSE(counters->read()->vcpus.at(2).there);
  plug(2);
  const auto times = counters->read();
  ASSERT_TRUE(times);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(times->vcpus[i].there);
    EXPECT_DOUBLE_EQ(times->vcpus[i].ran, static_cast<double>(i) + 1);
  }
  plug(3);  // more than the description has: they are not counted
  EXPECT_EQ(counters->read()->vcpus.size(), 3U);
  EXPECT_THROW(make_process_counters(77, {}, 3, 1, proc.path), description_error);
}

TEST(process_counters, keep_each_vcpu_at_its_place_when_one_in_the_middle_is_unplugged) {
  const guests::folder proc;
  const auto process = proc.path / "77";
  write(process / "stat", "77 (qemu) S 1 1 1 0 -1 4194560 1 1 1 1 1 1 1 1 20 0 5 0 12300 1 1\n");
  const auto plug = [&](int number, int thread, const std::string& ran) {
    write(process / "task" / std::to_string(thread) / "comm", "CPU " + std::to_string(number) + "/KVM\n");
    write(process / "task" / std::to_string(thread) / "schedstat", ran + "000000000 0 7\n");
  };
  plug(0, 80, "1");
  plug(2, 82, "4");
  plug(3, 83, "3");
  const auto counters = make_process_counters(77, {}, 4, 1, proc.path);
  const auto ran = [&] {
    std::vector<double> all;
    const vm_times times = counters->read().value();
    for (const vcpu_time& one : times.vcpus) all.push_back(one.there ? one.ran : -1);
    return all;
  };
  EXPECT_EQ(ran(), (std::vector<double>{1, -1, 4, 3}));
  plug(1, 84, "5");
  EXPECT_EQ(ran(), (std::vector<double>{1, 5, 4, 3}));
  guests::fs::remove_all(process / "task/82");
  EXPECT_EQ(ran(), (std::vector<double>{1, 5, -1, 3}));
  // Two are unplugged, and one comes back before the next reading of the folder.
  guests::fs::remove_all(process / "task/84");
  EXPECT_EQ(ran(), (std::vector<double>{1, -1, -1, 3}));
  plug(2, 85, "0");
  EXPECT_EQ(ran(), (std::vector<double>{1, -1, 0, 3}));
}

}  // namespace
