// SPDX-License-Identifier: Apache-2.0
// A session that plugs virtual CPUs in: upward only, under a lease, with a line before, and proved by the
// host's counters.
#include <gtest/gtest.h>

#include <atomic>

#include "fake_plug.hpp"

namespace {

using namespace guests;

/// Eight CPUs, and a guest that can have one to four of its own; two are there.
class session_that_plugs : public testing::Test {
 protected:
  session_that_plugs() : guest(host.add(2, independent, 2)), plug(std::make_shared<fake_plug>(guest)) {
    guest.reports = false;
    auto direct = std::make_unique<direct_calls>();
    calls = direct.get();
    host.plugs.push_back(std::make_unique<vcpu_ceiling>(plug, std::move(direct)));
  }
  void run(double seconds) {
    if (!host.running) host.begin("vcpus", {}, &written);
    host.run(seconds);
  }
  std::size_t reported(const std::string& part) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        host.events, [&](const std::string& one) { return one.find(part) != std::string::npos; }));
  }
  /// The journal's entry of plugging in; null if there is none.
  const journal::entry* plugged() const {
    for (const auto& [number, one] : written.in_effect())
      if (one.change.kind == act_kind::plug) return &one;
    return nullptr;
  }

  guests::folder folder;
  journal written{folder.path / "journal"};
  synthetic_host host{8};
  synthetic_guest& guest;
  std::shared_ptr<fake_plug> plug;
  direct_calls* calls = nullptr;
};

TEST_F(session_that_plugs, raises_the_ceiling_with_a_line_before_and_under_a_lease) {
  std::string journal_before, online_before;
  unsigned leased_to = 0;
  plug->before_it = [&] {
    journal_before = text_in(written.file());
    online_before = guest.machine.on();
    leased_to = host.running->message_to(0)->vcpus.value_or(0);
  };
  run(30);
  EXPECT_EQ(leased_to, 2U) << "the guest service is there, and has obeyed";
  EXPECT_EQ(online_before, "0-1");
  const auto line = journal_before.substr(journal_before.rfind('\n', journal_before.size() - 2) + 1);
  for (const char* part : {R"("kind":"plug")", R"("step":"begun")", R"("before":"2")", R"("after":"4")"})
    EXPECT_NE(line.find(part), std::string::npos) << line;
  EXPECT_EQ(guest.machine.on(), "0-3");
  EXPECT_EQ(host.running->count(0), 4U);
  ASSERT_NE(plugged(), nullptr);
  EXPECT_EQ(plugged()->last, "proved");
  EXPECT_EQ(reported("a: it has 4 virtual CPUs now, until it ends"), 1U);
  EXPECT_EQ(plug->asked, 1U);
}

TEST_F(session_that_plugs, leaves_what_it_plugged_in_offline_when_it_ends) {
  run(30);
  host.running.reset();
  guest.service->host_closed();
  guest.machine.settle();
  EXPECT_EQ(guest.machine.on(), "0-1");
  EXPECT_EQ(guest.there(), 4U);
  const auto all = revert(written);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].outcome, "left");
  EXPECT_NE(all[0].detail.find("stays until the machine ends"), std::string::npos) << all[0].detail;
  EXPECT_TRUE(written.in_effect().empty());
}

TEST_F(session_that_plugs, leaves_it_offline_within_30_s_when_it_was_killed) {
  run(30);
  ASSERT_EQ(guest.machine.on(), "0-3");
  for (int i = 0; i < 4 * 30; ++i) guest.run(0.25, 4, host.now += 0.25);
  EXPECT_EQ(guest.machine.on(), "0-1");
}

TEST_F(session_that_plugs, uses_what_is_there_without_asking_again) {
  run(30);
  host.running.reset();
  guest.service->host_closed();
  guest.machine.settle();
  revert(written);
  auto [a, b] = connected_pair();
  guest.host_end = std::move(a);
  guest.port = std::move(b);
  host.plugs.clear();
  host.plugs.push_back(std::make_unique<vcpu_ceiling>(plug, std::make_unique<direct_calls>()));
  run(30);
  EXPECT_EQ(guest.machine.on(), "0-3");
  EXPECT_EQ(plug->asked, 1U);
  EXPECT_EQ(plugged(), nullptr);
}

TEST_F(session_that_plugs, does_not_plug_into_a_machine_without_permission) {
  host.plugs.clear();
  run(60);
  EXPECT_EQ(guest.there(), 2U);
  EXPECT_EQ(guest.machine.on(), "0-1");
  EXPECT_EQ(plugged(), nullptr);
}

TEST_F(session_that_plugs, does_not_plug_into_a_machine_without_the_guest_service) {
  guest.silent = true;
  run(60);
  EXPECT_EQ(plug->asked, 0U);
  EXPECT_EQ(guest.there(), 2U);
}

TEST_F(session_that_plugs, reports_a_refusal_tries_once_more_and_gives_it_a_rest) {
  plug->refusal = "QEMU is too old";
  run(20);
  EXPECT_EQ(reported("a: no virtual CPU could be plugged in: QEMU is too old; the next attempt is in 30 s"),
            1U);
  EXPECT_EQ(guest.machine.on(), "0-1");
  run(40);
  EXPECT_EQ(reported("the next attempt is in 600 s"), 1U);
  EXPECT_EQ(plug->asked, 2U);
  EXPECT_EQ(plugged(), nullptr) << "nothing was done";
  run(500);
  EXPECT_EQ(plug->asked, 2U);
}

TEST_F(session_that_plugs, reports_what_broke_with_its_line_in_the_journal) {
  plug->broken = "it refuses device_add: CPU[2] exists";
  run(10);
  EXPECT_EQ(reported("a: no virtual CPU could be plugged in: it refuses device_add: CPU[2] exists"), 1U);
  ASSERT_NE(plugged(), nullptr);
  EXPECT_EQ(plugged()->last, "failed");
  EXPECT_EQ(guest.machine.on(), "0-1");
}

TEST_F(session_that_plugs, believes_only_the_hosts_counters) {
  plug->loses_it = true;
  run(20);
  EXPECT_EQ(reported("a: no virtual CPU could be plugged in: the host's counters do not show them"), 1U);
  ASSERT_NE(plugged(), nullptr);
  EXPECT_EQ(plugged()->last, "failed");
  EXPECT_EQ(guest.machine.on(), "0-1");
}

TEST_F(session_that_plugs, reports_a_guest_that_ignores_what_was_plugged_in) {
  plug->before_it = [&] { guest.deaf = true; };
  run(20);
  ASSERT_NE(plugged(), nullptr);
  EXPECT_EQ(plugged()->last, "proved") << "the threads are there";
  EXPECT_EQ(guest.machine.on(), "0-1");
  EXPECT_EQ(reported("a: its virtual CPUs could not be set: the host's counters do not confirm it"), 1U);
}

TEST_F(session_that_plugs, goes_on_beside_a_monitor_that_hangs) {
  synthetic_guest& other = host.add(2, independent);
  other.reports = false;
  for (const unsigned first : {0U, 1U}) {
    SCOPED_TRACE(first == 0 ? "while it is asked" : "while it plugs in");
    calls->left = first;
    const std::size_t before = host.events.size();
    run(20);
    ASSERT_GT(host.events.size(), before);
    EXPECT_EQ(reported(first == 0 ? "the fake monitor does not answer" : "counters do not show them"), 1U);
    EXPECT_TRUE(calls->busy());
    // The others get their numbers, and nothing more is asked of it.
    fs::remove(other.machine.number());
    run(4);
    EXPECT_TRUE(fs::exists(other.machine.number()));
    calls->release();
    run(first == 0 ? 10 : 0);
  }
  // The call that hung has plugged in after all: the CPU is there, and is used.
  EXPECT_EQ(guest.there(), 4U);
  run(60);
  EXPECT_EQ(guest.machine.on(), "0-3");
}

TEST_F(session_that_plugs, records_that_a_machine_has_ended) {
  calls->left = 1;
  host.begin("vcpus", {}, &written);
  while (plugged() == nullptr) host.run(1);
  guest.gone = true;
  run(3);
  EXPECT_EQ(reported("a: it has ended"), 1U);
  EXPECT_TRUE(written.in_effect().empty());
  EXPECT_NE(text_in(written.file()).find(R"("step":"gone")"), std::string::npos);
}

TEST(calling_thread, makes_calls_that_may_hang) {
  const auto calls = make_calling_thread();
  for (int i = 0; i < 100; ++i) {
    int made = 0;
    calls->begin([&] { ++made; });
    EXPECT_TRUE(calls->wait(std::chrono::steady_clock::now() + std::chrono::hours(1)));
    EXPECT_FALSE(calls->busy());
    EXPECT_EQ(made, 1);
  }
  struct gate {
    std::atomic<bool> open = false, passed = false;
  };
  const auto hangs = std::make_shared<gate>();
  auto left = make_calling_thread();
  left->begin([hangs] {
    hangs->open.wait(false);
    hangs->passed = true;
    hangs->passed.notify_all();
  });
  EXPECT_TRUE(left->busy());
  EXPECT_FALSE(left->wait({}));
  left.reset();  // does not wait for it
  hangs->open = true;
  hangs->open.notify_all();
  hangs->passed.wait(false);
}

}  // namespace
