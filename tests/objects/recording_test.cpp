// SPDX-License-Identifier: Apache-2.0
// What SUKIMA_OBJECTS_RECORD writes: counts, times, which part of the run.
#include "../comma_locale.hpp"
#include "support.hpp"

#include <fcntl.h>

#include <array>
#include <fstream>
#include <iterator>
#include <numeric>
#include <sstream>

#include "program/program_core.hpp"
#include "recording/recording.hpp"
#include "recording/time_off_cpu.hpp"

namespace {

using namespace support;
namespace detail = sukima::objects::detail;

class recording : public testing::Test {
 protected:
  recording() { setenv("SUKIMA_OBJECTS_RECORD", ("100000:" + path_).c_str(), 1); }
  ~recording() override { unsetenv("SUKIMA_OBJECTS_RECORD"); }
  std::string text() const {
    std::ifstream in(path_);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// The words of the line that begins so.
  std::vector<std::string> line(const std::string& begin, const std::string& end = {}) const {
    std::istringstream in(text());
    for (std::string one; std::getline(in, one);)
      if (one.starts_with(begin) && one.ends_with(end)) {
        std::istringstream words(one);
        return {std::istream_iterator<std::string>(words), {}};
      }
    ADD_FAILURE() << "no line " << begin << " … " << end << " in\n" << text();
    return std::vector<std::string>(8);
  }

  const own_folder folder_;
  const std::string path_ = folder_.file("recording");
  sukima::runtime runtime_{with_workers(2)};
};

/// \returns the CPU time that it took, in nanoseconds
double compute(std::chrono::microseconds time) {
  const std::uint64_t begun = detail::nanoseconds_of(CLOCK_THREAD_CPUTIME_ID);
  const auto until = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < until) {
  }
  return static_cast<double>(detail::nanoseconds_of(CLOCK_THREAD_CPUTIME_ID) - begun);
}

TEST_F(recording, counts_messages_by_what_they_were_sent_for) {
  const model_chosen ignored("threads");
  std::array<char*, 1> arguments{};
  program p(0, arguments.data(), runtime_);
  const auto numbers = p.stream<int>("numbers"), words = p.stream<int>("words");
  const auto both = p.stream<std::string>("both of them", capacity{4});
  p.object(
       "source",
       [](out<int> to) {
         std::vector<int> all(300);
         std::iota(all.begin(), all.end(), 0);
         to.send_all(all);
       },
       numbers.out())
      .group("first");
  p.object(
      "words",
      [](out<int> to) {
        for (int i = 0; i < 40; ++i) to.send(i);
      },
      words.out());
  p.object(
      "merge",
      [](in<int> a, in<int> b, out<std::string> to) {
        while (sukima::objects::select(a.on([&](int) { to.send("a"); }), b.on([&](int) {
          to.send("b");
          to.send("b");
        }))) {
        }
      },
      numbers.in(), words.in(), both.out());
  std::size_t received = 0;
  p.object(
      "sink",
      [&](in<std::string> from) {
        std::vector<std::string> some(7);
        while (const std::size_t n = from.receive_some(some)) received += n;
      },
      both.in());
  p.run();
  EXPECT_EQ(received, 380u);
  EXPECT_EQ(line("seen ")[2], "whole");
  EXPECT_EQ(line("stream 4 64 travels numbers").size(), 5u);
  EXPECT_EQ(line("stream 32 4 local both of them").size(), 7u);
  EXPECT_EQ(std::stod(line("object ", " merge")[1]), 340);
  EXPECT_EQ(std::stod(line("object ", " sink")[1]), 380);
  EXPECT_EQ(line("group ")[1], "first");
  EXPECT_EQ(std::stod(line("receives 0 ")[2]), 300);
  EXPECT_EQ(std::stod(line("receives 1 ")[2]), 40);
  EXPECT_EQ(std::stod(line("receives 2 ")[2]), 380);
  EXPECT_EQ(std::stod(line("sends 0 first ")[3]), 300);
  EXPECT_EQ(std::stod(line("sends 2 0 ")[3]), 300);
  EXPECT_EQ(std::stod(line("sends 2 1 ")[3]), 80);
  EXPECT_TRUE(text().ends_with("\nend\n"));
}

// All objects are in one island, so one of them runs at a time, and what each computes adds up to the whole
// time at most. At least the CPU time that they used, up to a few readings of the clocks during a preemption.
TEST_F(recording, times_the_computing_and_not_the_waiting) {
  constexpr int count = 60;  // these are all timed
  program p(runtime_);
  const auto s = p.stream<int>("s", capacity{2});
  p.object(
      "source",
      [](out<int> to) {
        for (int i = 0; i < count; ++i) to.send(i);
      },
      s.out());
  double computed = 0;
  p.object(
      "slow",
      [&](in<int> from) {
        while (const auto i = from.receive()) computed += compute(*i % 2 == 0 ? 300us : 900us);
      },
      s.in());
  p.run();
  const double whole_ns = 1e9 * std::stod(line("seen ")[1]);
  const std::vector<std::string> slow = line("object ", " slow");
  const double mean = std::stod(slow[2]), share = count * mean / whole_ns;
  EXPECT_GE(count * mean, 0.9 * computed);
  EXPECT_GE(std::stod(slow[3]), 0.1 * mean);
  EXPECT_LE(share + count * std::stod(line("object ", " source")[2]) / whole_ns, 1.001)
      << "the source waited for as long as the other computed";
}

// Half of the computing follows the end of the stream: before a message is sent, and after that.
TEST_F(recording, times_the_computing_after_the_end_of_a_stream) {
  for (const int count : {20, 2000}) {  // all messages are timed, or one in 16
    for (const bool selects : {false, true}) {
      const std::string path = folder_.file((std::to_string(count) + (selects ? " select" : "")).c_str());
      setenv("SUKIMA_OBJECTS_RECORD", ("100000:" + path).c_str(), 1);
      program p(runtime_);
      const auto s = p.stream<int>("s", capacity{64}), t = p.stream<int>("t", capacity{1});
      p.object(
          "source",
          [count](out<int> to) {
            for (int i = 0; i < count; ++i) to.send(i);
          },
          s.out());
      double computed = 0;
      p.object(
          "collects",
          [&](in<int> from, out<int> to) {
            if (selects) {
              while (sukima::objects::select(from.on([](int) {}))) continue;
            } else {
              for ([[maybe_unused]] const int i : from) continue;
            }
            computed += compute(20ms);
            to.send(1);
            computed += compute(20ms);
          },
          s.in(), t.out());
      p.object("sink", [](in<int> from) { EXPECT_TRUE(from.receive()); }, t.in());
      p.run();
      std::ifstream in(path);
      std::string word, name;
      double activations = 0, mean = 0, spread = 0;
      while (name != "collects" && in >> word)
        if (word == "object") in >> activations >> mean >> spread >> name;
      EXPECT_EQ(activations, count);
      EXPECT_GE(activations * mean, 0.9 * computed);
    }
  }
}

/// Declares an object that ends at once and then one that goes on. \returns the number of times that were
/// recorded between operations of the second one
template <class First, class Second, class Last, class Own>
std::size_t intervals_of(program& p, First first, Last last, Second second, Own own) {
  p.object("ends first", first, std::move(last));
  p.object("goes on", second, std::move(own));
  auto kept = std::make_unique<detail::recording>();
  const detail::recording& recorded = *kept;
  detail::core_of(p).recorded = std::move(kept);
  try {
    p.run();
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "an error");
  }
  return recorded.intervals(1).size() + recorded.intervals(1, true).size();
}

// So the computing between two such operations is part of the object's time.
TEST_F(recording, times_the_computing_after_an_operation_that_throws) {
  program broken(runtime_);
  const auto s = broken.stream<int>("s");
  const auto sends = [](out<int> to) {
    for (int i = 0; i < 3; ++i) EXPECT_THROW(to.send(i), sukima::objects::stream_broken);
    for (int i = 0; i < 3; ++i)
      EXPECT_THROW(to.send_all(std::vector<int>{i}), sukima::objects::stream_broken);
  };
  EXPECT_EQ(intervals_of(broken, [](in<int>) {}, s.in(), sends, s.out()), 5u);
  program failed(runtime_);
  const auto t = failed.stream<int>("t");
  const auto fails = [](out<int>) { throw std::runtime_error("an error"); };
  const auto receives = [](in<int> from) {
    int some[2];
    for (int i = 0; i < 3; ++i) EXPECT_THROW(from.receive(), sukima::objects::stream_failed);
    for (int i = 0; i < 3; ++i) EXPECT_THROW(from.receive_some(some), sukima::objects::stream_failed);
  };
  EXPECT_EQ(intervals_of(failed, fails, t.out(), receives, t.in()), 5u);
}

/// Its copies may fail, so its streams are not served in registers.
struct refuses_negative {
  int number = 0;
  refuses_negative() = default;
  explicit refuses_negative(int value) : number(value) {}
  refuses_negative(const refuses_negative& other) : number(other.number) { check(); }
  refuses_negative& operator=(const refuses_negative& other) {
    number = other.number;
    check();
    return *this;
  }
  void check() const {
    if (number < 0) throw std::domain_error("negative");
  }
};

TEST_F(recording, times_the_computing_after_a_message_that_throws) {
  using message = refuses_negative;
  program sends(runtime_);
  const auto s = sends.stream<message>("s");
  const auto sender = [](out<message> to) {
    std::vector<message> some;
    some.reserve(2);
    for (const int i : {1, -1}) some.emplace_back(i);
    for (int i = 0; i < 3; ++i) EXPECT_THROW(to.send(some.back()), std::domain_error);
    for (int i = 0; i < 3; ++i) EXPECT_THROW(to.send_all(some), std::domain_error);
    to.send_all(std::vector<message>());  // does not begin an operation
  };
  const auto receiver = [](in<message> from) {
    while (from.receive()) continue;
  };
  EXPECT_EQ(intervals_of(sends, receiver, s.in(), sender, s.out()), 5u);
}

TEST_F(recording, counts_the_messages_before_one_that_throws) {
  using message = refuses_negative;
  program p(runtime_);
  const auto s = p.stream<message>("s", capacity{8});
  p.object(
      "source",
      [](out<message> to) {
        std::vector<message> some;
        some.reserve(3);
        for (const int i : {1, 2, -1}) some.emplace_back(i);
        EXPECT_THROW(to.send_all(some), std::domain_error);
        to.emplace(-2);
      },
      s.out());
  p.object(
      "sink",
      [](in<message> from) {
        std::vector<message> some(8);
        EXPECT_EQ(from.receive_some(std::span(some).first(0)), 0u);
        std::size_t got = from.receive_some(std::span(some).first(1));
        EXPECT_THROW(got += from.receive_some(some), std::domain_error);
        EXPECT_EQ(got, 1u);
      },
      s.in());
  p.run();
  EXPECT_EQ(std::stod(line("sends 0 ")[3]), 3);
  EXPECT_EQ(std::stod(line("receives 0 ")[2]), 2);
}

/// Nanoseconds that the sender of a small program computes for a message, if recording costs that many ticks
/// at each end of an interval.
/// \param room of the stream, which has 8 messages
double recorded_compute(sukima::runtime& on, const std::string& file, const detail::recording_cost& cost,
                        std::size_t room = 64) {
  program p(on);
  const auto s = p.stream<int>("s", capacity{room});
  p.object(
      "sender",
      [](out<int> to) {
        for (int i = 0; i < 8; ++i) to.send(i);
      },
      s.out());
  p.object(
      "receiver",
      [](in<int> from) {
        while (from.receive()) continue;
      },
      s.in());
  sukima::descriptor written(open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  detail::core_of(p).recorded = std::make_unique<detail::recording>(1e5, std::move(written), cost);
  p.run();
  std::ifstream in(file);
  for (std::string word; in >> word;)
    if (word == "object") {
      double activations = 0, compute = -1;
      in >> activations >> compute;
      return compute;
    }
  ADD_FAILURE() << "no object in " << file;
  return -1;
}

// With given costs, because a measured one depends on the machine.
TEST_F(recording, subtracts_its_cost_from_each_interval) {
  EXPECT_GT(recorded_compute(runtime_, folder_.file("without"), {}), 0);
  EXPECT_EQ(recorded_compute(runtime_, folder_.file("sending"), {.sending = 1e15}), 0);
  EXPECT_GT(recorded_compute(runtime_, folder_.file("receiving"), {.receiving = 1e15}), 0);
}

TEST_F(recording, subtracts_the_cost_of_a_switch_where_an_operation_has_waited) {
  const detail::recording_cost cost{.waiting = 1e15};
  EXPECT_GT(recorded_compute(runtime_, folder_.file("room"), cost), 0);
  EXPECT_EQ(recorded_compute(runtime_, folder_.file("no room"), cost, 1), 0);
}

TEST(recorded_times, cost_of_an_interval_is_that_of_its_two_ends) {
  using detail::recorded_side;
  const detail::recording_cost cost{.sending = 20, .receiving = 30, .waiting = 7};
  EXPECT_EQ(cost.between(recorded_side::sending, recorded_side::sending), 40);
  EXPECT_EQ(cost.between(recorded_side::receiving, recorded_side::sending), 50);
  EXPECT_EQ(cost.between(std::nullopt, recorded_side::sending), 20);
  EXPECT_EQ(cost.between(recorded_side::receiving, std::nullopt), 30);
  EXPECT_EQ(cost.between(recorded_side::receiving, recorded_side::sending, true), 57);
}

TEST(recorded_times, mean_counts_intervals_below_the_cost_and_is_never_negative) {
  detail::recorded_times times;
  times.add(1, -3);
  times.add(1, 5);
  times.add(2, 6);
  EXPECT_EQ(times.mean(), 2);
  times.add(4, -80);
  EXPECT_EQ(times.mean(), 0);
}

TEST(recorded_times, spread_does_not_depend_on_the_cost) {
  for (const double cost : {0.0, 7.0, 100.0}) {
    detail::recorded_times times;
    for (const double ticks : {10.0, 14.0}) times.add(1, ticks - cost);
    EXPECT_DOUBLE_EQ(times.spread(), 2) << cost;
  }
}

TEST(recorded_times, later_ones_are_all_without_the_earlier_ones) {
  detail::recorded_times first;
  first.add(1, 1000);
  detail::recorded_times all = first;
  all.add(1, 8);
  all.add(1, 12);
  EXPECT_DOUBLE_EQ(all.after(first).mean(), 10);
  EXPECT_DOUBLE_EQ(all.after(first).spread(), 2);
}

detail::thread_clocks clocks_at(std::uint64_t ms, std::uint64_t cpu_ms, std::uint64_t process_ms,
                                std::int64_t sleeps) {
  constexpr std::uint64_t ns = 1'000'000, ticks_a_ns = 3;
  return {{1, cpu_ms * ns, ms * ns, ticks_a_ns * ms * ns}, process_ms * ns, sleeps};
}

/// Lost time of an interval that takes so many milliseconds and ends at the second reading.
detail::lost_time lost_between(const detail::thread_clocks& begin, const detail::thread_clocks& end,
                               std::uint64_t ms) {
  detail::time_off_cpu off;
  off.before_interval(begin.ticks, [&] { return begin; });
  return off.after_interval(3'000'000 * ms, [&] { return end; });
}

TEST(time_off_cpu, is_time_of_other_programs_or_of_sleeping) {
  const auto begin = clocks_at(100, 50, 60, 7);
  const detail::lost_time preempted = lost_between(begin, clocks_at(120, 54, 64, 7), 20);
  EXPECT_DOUBLE_EQ(preempted.preempted, 16 * 3e6);
  EXPECT_EQ(preempted.blocked, 0);
  const detail::lost_time blocked = lost_between(begin, clocks_at(120, 54, 64, 8), 20);
  EXPECT_EQ(blocked.preempted, 0);
  EXPECT_DOUBLE_EQ(blocked.blocked, 16 * 3e6);
  const detail::lost_time forked = lost_between(begin, clocks_at(120, 54, 74, 8), 20);
  EXPECT_DOUBLE_EQ(forked.blocked, 6 * 3e6) << "10 ms are work of other threads for it";
  const detail::lost_time computed = lost_between(begin, clocks_at(120, 70, 80, 7), 20);
  EXPECT_EQ(computed.preempted + computed.blocked, 0);
}

TEST(time_off_cpu, is_never_longer_than_the_interval_and_needs_readings_of_one_thread) {
  const auto begin = clocks_at(100, 50, 60, 7);
  EXPECT_DOUBLE_EQ(lost_between(begin, clocks_at(120, 50, 60, 7), 5).preempted, 5 * 3e6);
  auto other = clocks_at(120, 50, 60, 7);
  other.thread = 2;
  EXPECT_EQ(lost_between(begin, other, 20).preempted, 0);
}

TEST(time_off_cpu, is_looked_for_in_long_intervals_only) {
  detail::time_off_cpu off;
  int readings = 0;
  std::uint64_t now = 100;
  const auto read = [&] {
    ++readings;
    return detail::thread_clocks{{1, 0, now / 3, now}, 0, 0};
  };
  for (int i = 0; i < 1000; ++i) {
    off.before_interval(now, read);
    now += 100;
    off.after_interval(100, read);
  }
  EXPECT_EQ(readings, 1) << "the clocks cost more than such an interval";
  now += off.old_reading;
  off.before_interval(now, read);
  EXPECT_EQ(readings, 2);
  off.after_interval(off.long_interval, read);
  EXPECT_EQ(readings, 3);
}

TEST_F(recording, counts_sleeps_in_the_kernel_apart_from_computing) {
  sukima::runtime one_worker(with_workers(1));
  program p(one_worker);
  const auto s = p.stream<int>("s");
  p.object(
      "source",
      [](out<int> to) {
        for (int i = 0; i < 20; ++i) to.send(i);
      },
      s.out());
  p.object(
      "sleeper",
      [](in<int> from) {
        while (from.receive()) std::this_thread::sleep_for(5ms);
      },
      s.in());
  p.run();
  // Other programs can only lengthen the sleeps. The library's other threads work for microseconds.
  EXPECT_GE(std::stod(line("blocks ")[1]), 4e6);
  EXPECT_LE(std::stod(line("object ", " sleeper")[2]), 1e6) << "CPU time";
}

TEST_F(recording, is_the_same_in_each_locale) {
  const support::comma_locale set;
  program p(runtime_);
  const auto numbers = p.stream<int>("numbers");
  p.object("sender", [](out<int> to) { to.send(1); }, numbers.out());
  p.object("receiver", [](in<int> from) { from.receive(); }, numbers.in());
  p.run();
  EXPECT_EQ(text().find(','), std::string::npos) << text();
  EXPECT_EQ(line("receives").at(2), "1.000000");
}

TEST_F(recording, is_of_the_first_program_only) {
  for (int i = 0; i < 2; ++i) {
    program p(runtime_);
    const auto s = p.stream<int>("s" + std::to_string(i));
    p.object("a", [](out<int> to) { to.send(1); }, s.out());
    p.object("b", [](in<int> from) { from.receive(); }, s.in());
    p.run();
  }
  EXPECT_NE(text().find(" s0\n"), std::string::npos);
  EXPECT_EQ(text().find(" s1\n"), std::string::npos);
}

TEST_F(recording, says_that_the_program_failed) {
  program p(runtime_);
  const auto s = p.stream<int>("s");
  p.object("a", [](out<int>) { throw std::runtime_error("no"); }, s.out());
  p.object("b", [](in<int> from) { from.receive(); }, s.in());
  EXPECT_THROW(p.run(), std::runtime_error);
  EXPECT_EQ(line("seen ")[2], "failed");
}

TEST_F(recording, needs_a_time_and_a_file) {
  for (const char* value : {"1", "x:y", "-1:y", "1:", "1:/nonesuch/y"}) {
    setenv("SUKIMA_OBJECTS_RECORD", value, 1);
    program p(runtime_);
    p.object("a", [] {});
    EXPECT_THROW(p.run(), sukima::bad_setting) << value;
  }
  setenv("SUKIMA_OBJECTS_RECORD", "0:y", 1);
  program p(runtime_);
  p.object("a", [] {});
  try {
    p.run();
    ADD_FAILURE();
  } catch (const sukima::bad_setting& refusal) {
    EXPECT_STREQ(refusal.what(),
                 "SUKIMA_OBJECTS_RECORD=0:y: it must be SECONDS:FILE, with a number of seconds above 0 and "
                 "at most 1000000");
  }
}

TEST_F(recording, finds_an_end_outside_its_object) {
  program p(runtime_);
  const auto s = p.stream<int>("s", capacity{1});  // so that a is still there
  out<int>* other = nullptr;
  p.object(
      "a",
      [&](out<int> to) {
        other = &to;
        to.send(1);
        to.send(2);
      },
      s.out());
  std::string error;
  p.object(
      "b",
      [&](in<int> from) {
        from.receive();
        try {
          other->send(3);
        } catch (const usage_error& e) {
          error = e.what();
        }
        while (from.receive()) {
        }
      },
      s.in());
  p.run();
  EXPECT_NE(error.find("outside its object a"), std::string::npos) << error;
}

}  // namespace
