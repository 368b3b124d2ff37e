// SPDX-License-Identifier: Apache-2.0
// Settings and their environment variables: the accepted values, and the messages of refusals.
#include "support.hpp"

#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

/// Sets a variable of the environment for a while.
class variable {
 public:
  variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~variable() { unsetenv(name_); }
  variable(const variable&) = delete;
  variable& operator=(const variable&) = delete;

 private:
  const char* name_;
};

sukima::settings read() { return sukima::settings::from_environment(); }

TEST(settings, have_defaults) {
  const sukima::settings s = read();
  EXPECT_EQ(s.workers, 0u);
  EXPECT_EQ(s.wait, sukima::wait_policy::adaptive);
  EXPECT_EQ(s.published_tasks, 3u);
  EXPECT_EQ(s.pin, sukima::pin_policy::adaptive);
  EXPECT_EQ(s.placement, sukima::placement_policy::exchange);
  EXPECT_EQ(s.hint_threshold_ns, 16'000u);
  EXPECT_EQ(s.stack, std::size_t{256} << 20);
  EXPECT_EQ(s.choices, std::size_t{64} << 20);
  EXPECT_EQ(s.fibers, 4096u);
  EXPECT_TRUE(s.elastic);
}

TEST(settings, are_read_from_the_environment) {
  const variable workers("SUKIMA_WORKERS", "3");
  const variable wait("SUKIMA_WAIT", "block");
  const variable steal("SUKIMA_STEAL", "publish:4");
  const variable clones("SUKIMA_CLONES", "5us");
  const variable victim("SUKIMA_VICTIM", "last");
  const variable pin("SUKIMA_PIN", "cpu");
  const variable stack("SUKIMA_STACK", "8M");
  const variable choice_stack("SUKIMA_CHOICES", "512K");
  const variable fibers("SUKIMA_FIBERS", "77");
  const variable elastic("SUKIMA_ELASTIC", "off");
  const sukima::settings s = read();
  EXPECT_EQ(s.workers, 3u);
  EXPECT_EQ(s.wait, sukima::wait_policy::block);
  EXPECT_EQ(s.published_tasks, 4u);
  EXPECT_EQ(s.clones_ns, 5000u);
  EXPECT_EQ(s.pin, sukima::pin_policy::cpu);
  EXPECT_EQ(s.stack, std::size_t{8} << 20);
  EXPECT_EQ(s.choices, std::size_t{512} << 10);
  EXPECT_EQ(s.fibers, 77u);
  EXPECT_FALSE(s.elastic);
  sukima::runtime runtime;
  EXPECT_EQ(runtime.workers(), 3u);
  EXPECT_EQ(runtime.chosen().text(),
            "workers=3 wait=block steal=publish:4 clones=5000ns victim=last pin=cpu placement=exchange "
            "threshold=16000ns stack=8388608 "
            "choices=524288 fibers=77 "
            "elastic=off");
  EXPECT_EQ(runtime.run([](sukima::context c) { return support::fib(c, 16); }), 987);
}

TEST(settings, name_the_time_that_is_short_enough_for_a_clone) {
  for (const auto& [text, nanoseconds] : {std::pair{"off", 0u},
                                          {"auto", 20'000u},
                                          {"1ns", 1u},
                                          {"250us", 250'000u},
                                          {"1000ms", 1'000'000'000u}}) {
    const variable clones("SUKIMA_CLONES", text);
    EXPECT_EQ(read().clones_ns, nanoseconds) << text;
  }
}

TEST(settings, say_what_hints_do) {
  const variable placement("SUKIMA_PLACEMENT", "prefer");
  EXPECT_EQ(read().placement, sukima::placement_policy::prefer);
  EXPECT_NE(read().text().find(" placement=prefer stack="), std::string::npos);
  const variable threshold("SUKIMA_HINT_THRESHOLD", "0ns");
  EXPECT_EQ(read().hint_threshold_ns, 0u);
  const variable without_unit("SUKIMA_HINT_THRESHOLD", "0");
  EXPECT_EQ(read().hint_threshold_ns, 0u);
  const variable longest("SUKIMA_HINT_THRESHOLD", "64ms");
  EXPECT_EQ(read().hint_threshold_ns, 64'000'000u);
}

TEST(settings, can_follow_the_neighbours) {
  const variable elastic("SUKIMA_ELASTIC", "neighbours");
  const sukima::settings s = read();
  EXPECT_TRUE(s.elastic);
  EXPECT_TRUE(s.neighbours);
  EXPECT_TRUE(s.text().ends_with(" elastic=neighbours"));
  EXPECT_FALSE(sukima::settings().neighbours);
}

TEST(settings, have_a_wait_policy_for_each_wait_point) {
  const variable wait("SUKIMA_WAIT", "pause,reply=spin,lock=block,idle=condvar");
  const sukima::settings s = read();
  EXPECT_EQ(s.wait, sukima::wait_policy::pause);
  EXPECT_EQ(s.policy_at(sukima::wait_point::reply), sukima::wait_policy::spin);
  EXPECT_EQ(s.policy_at(sukima::wait_point::lock), sukima::wait_policy::block);
  EXPECT_EQ(s.policy_at(sukima::wait_point::idle), sukima::wait_policy::condvar);
  EXPECT_EQ(s.policy_at(sukima::wait_point::result), sukima::wait_policy::pause);
  EXPECT_NE(s.text().find(" wait=pause,idle=condvar,reply=spin,lock=block "), std::string::npos);
  sukima::runtime r(s);
  EXPECT_EQ(r.run([](sukima::context c) { return support::fib(c, 16); }), 987);
}

TEST(settings, know_other_ways_to_say_it) {
  {
    const variable steal("SUKIMA_STEAL", "request");
    EXPECT_EQ(read().published_tasks, 0u);
  }
  {
    const variable steal("SUKIMA_STEAL", "publish");
    EXPECT_EQ(read().published_tasks, 3u);
  }
  {
    const variable steal("SUKIMA_STEAL", "indolent");
    EXPECT_EQ(read().published_tasks, 0u);
    EXPECT_EQ(read().request_interval_us, 100u);
  }
  {
    const variable steal("SUKIMA_STEAL", "indolent:2500");
    EXPECT_EQ(read().published_tasks, 0u);
    EXPECT_EQ(read().request_interval_us, 2500u);
    EXPECT_NE(read().text().find(" steal=indolent:2500 "), std::string::npos);
  }
  {
    const variable stack("SUKIMA_STACK", "64g");
    EXPECT_EQ(read().stack, std::size_t{64} << 30);
  }
  {
    const variable stack("SUKIMA_STACK", "1000000");
    EXPECT_EQ(read().stack, 1'000'000u);
  }
  {
    const variable workers("SUKIMA_WORKERS", "");
    EXPECT_EQ(read().workers, 0u);
  }
}

struct wrong_value {
  const char* name;
  const char* value;
  const char* accepted;  ///< part of the message
};

class wrong_settings : public testing::TestWithParam<wrong_value> {};

TEST_P(wrong_settings, are_refused_by_name) {
  const auto& [name, value, accepted] = GetParam();
  const variable set(name, value);
  const std::string message = support::message_of<sukima::bad_setting>([] { sukima::runtime r; });
  EXPECT_NE(message.find(std::string(name) + "='" + value + "'"), std::string::npos) << message;
  EXPECT_NE(message.find(accepted), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(
    all, wrong_settings,
    testing::Values(
        wrong_value{"SUKIMA_WORKERS", "0", "1 to 1024"}, wrong_value{"SUKIMA_WORKERS", "100000", "1 to 1024"},
        wrong_value{"SUKIMA_WORKERS", "1025", "1 to 1024"}, wrong_value{"SUKIMA_WORKERS", "-1", "1 to 1024"},
        wrong_value{"SUKIMA_WORKERS", "two", "1 to 1024"}, wrong_value{"SUKIMA_WORKERS", "2 ", "1 to 1024"},
        wrong_value{"SUKIMA_WORKERS", "99999999999999999999999", "1 to 1024"},
        wrong_value{"SUKIMA_WAIT", "sleep", "adaptive, block, spin, pause, yield, condvar or inherit"},
        wrong_value{"SUKIMA_WAIT", "Block", "adaptive, block, spin, pause, yield, condvar or inherit"},
        wrong_value{"SUKIMA_WAIT", "spin,", "points: idle, result, reply, refusal, start, lock"},
        wrong_value{"SUKIMA_WAIT", "spin,home=block", "idle, result"},
        wrong_value{"SUKIMA_STEAL", "publish:0", "K from 1 to 8"},
        wrong_value{"SUKIMA_STEAL", "publish:9", "K from 1 to 8"},
        wrong_value{"SUKIMA_STEAL", "publish:", "K from 1 to 8"},
        wrong_value{"SUKIMA_STEAL", "steal", "request"}, wrong_value{"SUKIMA_STEAL", "request:3", "request"},
        wrong_value{"SUKIMA_STEAL", "indolent:0", "T from 1 to 10000"},
        wrong_value{"SUKIMA_STEAL", "indolent:10001", "T from 1 to 10000"},
        wrong_value{"SUKIMA_STEAL", "indolent:", "T from 1 to 10000"},
        wrong_value{"SUKIMA_CLONES", "on", "auto, off, or a time"},
        wrong_value{"SUKIMA_CLONES", "20", "auto, off, or a time"},
        wrong_value{"SUKIMA_CLONES", "us", "auto, off, or a time"},
        wrong_value{"SUKIMA_CLONES", "0us", "1ns to 1000ms"},
        wrong_value{"SUKIMA_CLONES", "0", "1ns to 1000ms"},
        wrong_value{"SUKIMA_CLONES", "1001ms", "1ns to 1000ms"},
        wrong_value{"SUKIMA_CLONES", "99999999999999999999us", "1ns to 1000ms"},
        wrong_value{"SUKIMA_VICTIM", "first", "random, last or weighted"},
        wrong_value{"SUKIMA_PLACEMENT", "on", "off, prefer, exchange or queue"},
        wrong_value{"SUKIMA_HINT_THRESHOLD", "16", "0, or a time from 1ns to 64ms"},
        wrong_value{"SUKIMA_HINT_THRESHOLD", "65ms", "1ns to 64ms"},
        wrong_value{"SUKIMA_PIN", "core", "adaptive, none or cpu"},
        wrong_value{"SUKIMA_STACK", "1K", "16K to 64G"}, wrong_value{"SUKIMA_STACK", "65G", "16K to 64G"},
        wrong_value{"SUKIMA_STACK", "17179869185G", "16K to 64G"},
        wrong_value{"SUKIMA_STACK", "256MB", "16K to 64G"}, wrong_value{"SUKIMA_STACK", "M", "16K to 64G"},
        wrong_value{"SUKIMA_CHOICES", "65M", "16K to 64M"}, wrong_value{"SUKIMA_CHOICES", "8K", "16K to 64M"},
        wrong_value{"SUKIMA_ELASTIC", "yes", "on, off or neighbours"},
        wrong_value{"SUKIMA_FIBERS", "0", "1 to 1000000"},
        wrong_value{"SUKIMA_FIBERS", "1000001", "1 to 1000000"}));

/// The number of workers follows it, also if the program or the user limits that number.
TEST(settings, include_the_cpus_to_assume) {
  const variable cpus("SUKIMA_CPUS", "many");
  for (const char* const workers : {"", "3"}) {
    const variable limit("SUKIMA_WORKERS", workers);
    const std::string message = support::message_of<sukima::bad_setting>([] { sukima::runtime r; });
    EXPECT_NE(message.find("SUKIMA_CPUS: 'many' is not a number of CPUs"), std::string::npos) << message;
  }
  const variable limit("SUKIMA_WORKERS", "3");
  const variable fixed("SUKIMA_ELASTIC", "off");
  EXPECT_EQ(sukima::runtime().workers(), 3U) << "it has no effect there";
}

TEST(settings, are_checked_by_the_constructor) {
  const auto message = [](auto change) {
    sukima::settings s;
    change(s);
    return support::message_of<sukima::bad_setting>([&] { sukima::runtime r(s); });
  };
  EXPECT_NE(message([](auto& s) { s.workers = 100'000; }).find("settings::workers='100000'"),
            std::string::npos);
  EXPECT_NE(message([](auto& s) { s.published_tasks = 9; }).find("settings::published_tasks='9'"),
            std::string::npos);
  EXPECT_NE(message([](auto& s) { s.request_interval_us = 1; }).find("settings::request_interval_us='1'"),
            std::string::npos)
      << "with published tasks no worker asks";
  const auto with_requests = [](unsigned interval) {
    return [interval](auto& s) {
      s.published_tasks = 0;
      s.request_interval_us = interval;
    };
  };
  EXPECT_NE(message(with_requests(10'001)).find("settings::request_interval_us='10001'"), std::string::npos);
  EXPECT_NE(message([](auto& s) {
              s.hint_threshold_ns = 64'000'001;
            }).find("settings::hint_threshold_ns='64000001'"),
            std::string::npos);
  EXPECT_NE(message([](auto& s) { s.stack = 1; }).find("settings::stack='1'"), std::string::npos);
  EXPECT_NE(message([](auto& s) { s.choices = 1; }).find("settings::choices='1'"), std::string::npos);
  EXPECT_NE(message([](auto& s) { s.fibers = 0; }).find("settings::fibers='0'"), std::string::npos);
}

/// A program may have read the number from its own configuration.
TEST(settings, of_enumerations_are_checked_by_the_constructor) {
  const auto message = [](auto change) {
    sukima::settings s;
    change(s);
    return support::message_of<sukima::bad_setting>([&] { sukima::runtime r(s); });
  };
  EXPECT_NE(message([](auto& s) { s.wait = static_cast<sukima::wait_policy>(7); }).find("settings::wait='7'"),
            std::string::npos);
  EXPECT_NE(message([](auto& s) {
              s.wait_at[2] = static_cast<sukima::wait_policy>(-1);
            }).find("settings::wait_at, reply='-1'"),
            std::string::npos);
  EXPECT_NE(message([](auto& s) { s.pin = static_cast<sukima::pin_policy>(3); }).find("settings::pin='3'"),
            std::string::npos);
  EXPECT_NE(
      message([](auto& s) { s.victim = static_cast<sukima::victim_policy>(3); }).find("settings::victim='3'"),
      std::string::npos);
  const std::string placement =
      message([](auto& s) { s.placement = static_cast<sukima::placement_policy>(4); });
  EXPECT_NE(placement.find("settings::placement='4'"), std::string::npos) << placement;
  EXPECT_NE(placement.find("off, prefer, exchange or queue"), std::string::npos) << placement;
}

/// Ends the program as an exception that leaves main() does, which a death test would catch. A noexcept
/// function is not enough: with ThreadSanitizer g++ calls std::terminate there without an active exception.
template <class F> void call_uncaught(F f) noexcept {
  try {
    f();
  } catch (...) {
    std::terminate();
  }
}

TEST(settings_death_test, ends_a_program_that_does_not_catch_with_a_sentence_and_code_2) {
  EXPECT_EXIT(
      {
        setenv("SUKIMA_WAIT", "sometimes", 1);
        call_uncaught([] { sukima::run([](sukima::context) {}); });
      },
      testing::ExitedWithCode(2), "^SUKIMA_WAIT='sometimes' is not accepted; use [^\n]*\n$");
}

TEST(settings_death_test, leaves_other_exceptions_to_the_handler_that_the_program_had) {
  EXPECT_EXIT(
      {
        std::set_terminate([] { std::_Exit(std::current_exception() != nullptr ? 7 : 1); });
        setenv("SUKIMA_WAIT", "sometimes", 1);
        for (int i = 0; i < 2; ++i)
          support::message_of<sukima::bad_setting>([] { sukima::run([](sukima::context) {}); });
        call_uncaught([] { throw std::runtime_error("another exception"); });
      },
      testing::ExitedWithCode(7), "");
}

class every_wait : public testing::TestWithParam<sukima::wait_policy> {};
INSTANTIATE_TEST_SUITE_P(policies, every_wait,
                         testing::Values(sukima::wait_policy::adaptive, sukima::wait_policy::block,
                                         sukima::wait_policy::spin, sukima::wait_policy::pause,
                                         sukima::wait_policy::yield, sukima::wait_policy::condvar,
                                         sukima::wait_policy::inherit));

TEST_P(every_wait, works_with_every_number_of_published_tasks) {
  for (unsigned published = 0; published <= 8; published += published == 0 ? 1 : 3) {
    sukima::settings s = support::with_workers(2);
    s.wait = GetParam();
    s.published_tasks = published;
    sukima::runtime two(s);
    for (int i = 0; i < 20; ++i)
      EXPECT_EQ(two.run([](sukima::context c) { return support::fib(c, 18); }), 2584)
          << "published " << published;
  }
}

TEST_P(every_wait, works_with_every_request_interval) {
  for (const unsigned interval : {1u, 30u, 10'000u}) {
    sukima::settings s = support::with_workers(2);
    s.wait = GetParam();
    s.published_tasks = 0;
    s.request_interval_us = interval;
    sukima::runtime two(s);
    for (int i = 0; i < 20; ++i)
      EXPECT_EQ(two.run([](sukima::context c) { return support::fib(c, 18); }), 2584)
          << "interval " << interval;
  }
}

TEST(settings, allow_small_fibers) {
  sukima::settings s = support::with_workers(4);
  s.stack = 64 * 1024;
  sukima::runtime small(s);
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(small.run([](sukima::context c) { return support::fib(c, 16); }), 987);
}

}  // namespace
