// SPDX-License-Identifier: Apache-2.0
// Objects that let time pass, timers, and the choice of the model by a program itself.
#include "support.hpp"

#include <cmath>

namespace {

using namespace support;
using sukima::objects::sleep_for;
using sukima::objects::tick;

class time_test : public models {};
INSTANTIATE_TEST_SUITE_P(all, time_test, all_models(), name_of_model);

TEST_P(time_test, others_run_while_an_object_sleeps) {
  program p(runtime);
  std::atomic<bool> woken{false};
  const auto begun = std::chrono::steady_clock::now();
  p.object("sleeps", [&] {
     while (!woken) sleep_for(1ms);
     sukima::objects::sleep_until(begun + 20ms);
   }).group("g");
  p.object("wakes", [&] { woken = true; }).group("g");
  p.run();
  EXPECT_GE(std::chrono::steady_clock::now() - begun, 20ms);
}

TEST_P(time_test, an_abort_ends_a_sleep) {
  program p(runtime);
  p.object("sleeps", [] { sleep_for(no_limit); });
  p.object("aborts", [&] { p.abort(); });
  p.run();
}

TEST_P(time_test, a_select_may_wait_for_a_time_alone) {
  program p(runtime);
  bool has_passed = false;
  p.object("waits", [&] {
    EXPECT_EQ(sukima::objects::select(sukima::objects::after(1ms, [&] { has_passed = true; })), 0u);
  });
  p.run();
  EXPECT_TRUE(has_passed);
}

TEST(time, only_objects_sleep) { EXPECT_THROW(sleep_for(1ms), usage_error); }

TEST_P(time_test, a_timer_sends_until_its_receiver_leaves) {
  program p(runtime);
  const auto ticks = p.timer("ticks", 1ms);
  p.object(
      "sink",
      [](in<tick> from) {
        std::uint64_t last = 0;
        for (int i = 0; i < 5; ++i) {
          const std::uint64_t now = from.receive().value().number;
          EXPECT_GT(now, last);
          last = now;
        }
      },
      ticks.in());
  p.run();
}

TEST_P(time_test, a_timer_does_not_outlive_its_receiver) {
  program p(runtime);
  const auto ticks = p.timer("ticks", no_limit);
  p.object("sink", [](in<tick>) {}, ticks.in());
  p.run();
}

TEST_P(time_test, a_stop_ends_a_timer_that_waits) {
  program p(runtime);
  const auto ticks = p.timer("ticks", no_limit);
  p.object("sink", [](in<tick> from) { EXPECT_FALSE(from.receive()); }, ticks.in());
  p.object("stops", [&] { p.stop(); });
  p.run();
}

TEST_P(time_test, a_period_beyond_the_clock_does_not_end) {
  for (const std::chrono::hours period : {std::chrono::hours(24 * 365 * 290), std::chrono::hours::max()}) {
    program p(runtime);
    const auto ticks = p.timer("ticks", period);
    p.object("sink", [](in<tick> from) { EXPECT_FALSE(from.receive_for(20ms)); }, ticks.in());
    p.run();
  }
}

TEST(time, a_timer_needs_a_period) {
  program p;
  EXPECT_THROW(p.timer("ticks", 0ms), usage_error);
  EXPECT_THROW(p.timer("ticks", std::chrono::duration<double>(std::nan(""))), usage_error);
}

TEST(time, a_program_may_choose_its_model_itself) {
  const model_chosen by_variable("processes");
  sukima::runtime r(with_workers(2));
  program p(r);
  p.model("simulated");
  int sum = 0;
  const auto s = p.stream<int>("s");
  p.object("a", [](out<int> to) { to.send(5); }, s.out());
  p.object("b", [&](in<int> from) { sum += from.receive().value_or(0); }, s.in());
  p.run();
  EXPECT_EQ(sum, 5) << "a program without arguments can have no processes";
  program q(r);
  q.object("a", [] {});
  q.model("fast");
  try {
    q.run();
    FAIL();
  } catch (const sukima::bad_setting& e) {
    EXPECT_NE(std::string(e.what()).find("program::model(fast)"), std::string::npos) << e.what();
  }
}

}  // namespace
