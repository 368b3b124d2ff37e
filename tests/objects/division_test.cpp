// SPDX-License-Identifier: Apache-2.0
// Islands without a group: objects that streams connect share one, and leave it where they compute much.
#include "schedule/division.hpp"

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "support.hpp"

namespace {

using namespace support;
using sukima::objects::detail::clock_reading;
using sukima::objects::detail::cost_between_islands;
using sukima::objects::detail::find_leavers;
using sukima::objects::detail::sampled_object;
using sukima::objects::detail::sampled_stream;
using sukima::objects::detail::work_sampler;

/// A sample of operations with made-up clocks, of a counter with 3 GHz.
class made_up_sample {
 public:
  work_sampler sampler;
  clock_reading now{1, 1'000'000, 1'000'000, 0};

  bool sample(std::uint64_t wall_ns, std::uint64_t cpu_ns, bool parallel) {
    sampler.begin(now);
    bool complete = false;
    while (!complete) {
      now.wall_ns += wall_ns;
      now.cpu_ns += cpu_ns;
      now.ticks += 3 * wall_ns;
      complete = sampler.add(3 * wall_ns, parallel);
    }
    return sampler.finish(now);
  }
};

TEST(division, is_for_objects_that_compute_at_once) {
  made_up_sample s;
  EXPECT_TRUE(s.sample(20'000, 20'000, true));
  EXPECT_FALSE(s.sample(100, 100, true)) << "cheap messages";
  EXPECT_FALSE(s.sample(20'000, 20'000, false)) << "each waits for the other";
  EXPECT_FALSE(s.sample(20'000, 200, true)) << "the thread had no CPU";
  s.sampler.begin(s.now);
  ASSERT_TRUE(s.sampler.add(work_sampler::most_ticks, true)) << "one long operation is enough";
  s.now.thread = 2;
  s.now.wall_ns += 2'000'000;
  EXPECT_FALSE(s.sampler.finish(s.now)) << "another thread's time";
}

TEST(division, is_tried_seldom_if_it_does_not_pay) {
  work_sampler s;
  const std::uint64_t long_slice = 64 * work_sampler::long_operation;
  EXPECT_FALSE(s.wants_sample(long_slice - 1, 64));
  int samples = 0;
  for (int i = 0; i < 10'000; ++i)
    if (s.wants_sample(long_slice, 64)) {
      ++samples;
      s.back_off();
    }
  EXPECT_LE(samples, 20);
  EXPECT_GE(samples, 10);
}

/// The streams of a chain of so many objects.
std::vector<sampled_stream> chain(std::size_t objects, std::uint64_t messages) {
  std::vector<sampled_stream> streams;
  for (std::size_t i = 0; i + 1 < objects; ++i)
    streams.push_back({{i, i + 1}, cost_between_islands(messages, 64)});
  return streams;
}

TEST(division, cuts_a_chain_once) {
  const std::vector<sampled_object> objects{{0, false},        {1'000'000, true}, {1'000'000, true},
                                            {1'000'000, true}, {1'000'000, true}, {0, true}};
  const std::vector<std::size_t> leavers = find_leavers(objects, chain(6, 20));
  ASSERT_FALSE(leavers.empty());
  std::vector<bool> leaves(6);
  for (const std::size_t o : leavers) leaves[o] = true;
  EXPECT_EQ(std::count(leaves.begin() + 1, leaves.begin() + 5, true), 2) << "half of the load";
  EXPECT_FALSE(leaves[0]);
  EXPECT_EQ(leaves[5], leaves[4]) << "the last one computes nothing, and follows the one before";
}

TEST(division, keeps_objects_together_that_exchange_many_messages) {
  const std::vector<sampled_object> two{{30'000, true}, {30'000, true}};
  EXPECT_TRUE(find_leavers(two, chain(2, 60)).empty()) << "1,000 ticks a message";
  const std::vector<sampled_object> heavy{{3'000'000, true}, {3'000'000, true}};
  EXPECT_EQ(find_leavers(heavy, chain(2, 60)).size(), 1u);
  const std::vector<sampled_object> one{{3'000'000, true}, {30'000, true}};
  EXPECT_TRUE(find_leavers(one, chain(2, 60)).empty()) << "one computes nearly all the time";
}

TEST(division, moves_nothing_that_has_to_stay) {
  const std::vector<sampled_object> stays{{3'000'000, false}, {3'000'000, false}};
  EXPECT_TRUE(find_leavers(stays, chain(2, 60)).empty());
  const std::vector<sampled_object> one{{3'000'000, false}, {3'000'000, true}};
  EXPECT_EQ(find_leavers(one, chain(2, 60)), std::vector<std::size_t>{1});
}

#if !defined(SUKIMA_SANITIZED)  // with delays, too, a message takes as long as a computation then
TEST(division, objects_that_only_exchange_messages_stay_on_one_worker) {
  sukima::runtime r(with_workers(4));
  program p(r);
  std::set<pid_t> threads;  // guarded by the turns that the objects take
  const auto there = p.stream<int>("there", capacity{1}), back = p.stream<int>("back", capacity{1});
  p.object(
      "ping",
      [&](out<int> to, in<int> from) {
        for (int i = 0; i < 20'000; ++i) {
          to.send(i);
          EXPECT_EQ(from.receive(), i);
          threads.insert(gettid());
        }
      },
      there.out(), back.in());
  p.object(
      "pong",
      [&](in<int> from, out<int> to) {
        for (const int i : from) {
          threads.insert(gettid());
          to.send(i);
        }
      },
      there.in(), back.out());
  p.run();
  EXPECT_EQ(threads.size(), 1u);
}
#endif

TEST(division, independent_objects_begin_on_several_workers) {
  sukima::runtime r(with_workers(2));
  program p(r);
  std::atomic<int> inside{0};
  for (const char* name : {"a", "b"})
    p.object(name, [&] {
      ++inside;
      while (inside < 2) std::this_thread::yield();
    });
  p.run();
}

/// Computes for about 50 µs.
void compute() {
  const auto until = std::chrono::steady_clock::now() + 50us;
  while (std::chrono::steady_clock::now() < until) {
  }
}

TEST(division, objects_that_compute_run_at_once) {
  sukima::runtime r(with_workers(2));
  program p(r);
  const auto numbers = p.stream<int>("numbers", capacity{8});
  std::atomic<int> inside{0};
  std::atomic<bool> at_once{false};
  const auto work = [&] {
    if (inside.fetch_add(1) == 1) at_once = true;
    compute();
    inside.fetch_sub(1);
  };
  long sent = 0, received = 0;
  p.object(
      "source",
      [&](out<int> to) {
        while (!at_once) {
          work();
          to.send(1);
          ++sent;
        }
      },
      numbers.out());
  p.object(
      "sink",
      [&](in<int> from) {
        for (const int i : from) {
          work();
          received += i;
        }
      },
      numbers.in());
  p.run();
  EXPECT_EQ(received, sent);
}

TEST(division, loses_no_message_of_objects_in_any_state) {
  // A ring and a hub: objects wait for messages, for room, in a select and for a time while they are divided.
  constexpr int count = 12, rounds = 60;
  sukima::runtime r(with_workers(4));
  program p(r);
  std::vector<sukima::objects::stream<int>> ring;
  for (int i = 0; i < count; ++i) ring.push_back(p.stream<int>("ring " + std::to_string(i), capacity{2}));
  const auto hub = p.stream<int>("hub", capacity{4});
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    p.object(
        "object " + std::to_string(i),
        [i](in<int> from, out<int> to, out<int> all) {
          if (i % 3 == 0) to.send(0);
          for (int got = 0; got < rounds; ++got) {
            int value = 0;
            if (i % 2 == 0)
              value = from.receive().value();
            else
              sukima::objects::select(from.on([&](int v) { value = v; }), sukima::objects::after(1h, [] {}));
            compute();
            all.send(1);
            if (got + 1 < rounds || i % 3 != 0)
              to.send(value + 1);  // each sends as many as the next receives
          }
        },
        ring[at].in(), ring[(at + 1) % count].out(), hub.out());
  }
  long sum = 0;
  p.object(
      "hub",
      [&](in<int> from) {
        for (const int i : from) sum += i;
      },
      hub.in());
  p.run();
  EXPECT_EQ(sum, count * rounds);
}

}  // namespace
