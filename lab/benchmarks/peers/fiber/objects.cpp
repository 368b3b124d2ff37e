// SPDX-License-Identifier: Apache-2.0
// Concurrent objects as fibers over buffered channels, all on one thread but for objects-stream-apart: with
// the scheduler that shares fibers among threads each of these is slower, because nothing but messages is to
// be done. A channel of capacity n (a power of two, from 2 on) holds n - 1 messages.
#include "harness/harness.hpp"

#include <boost/fiber/buffered_channel.hpp>
#include <boost/fiber/fiber.hpp>

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace {

using boost::fibers::channel_op_status;
using boost::fibers::fiber;
using channel = boost::fibers::buffered_channel<std::int64_t>;

constexpr std::size_t for_one = 2;
constexpr std::size_t for_64 = 64;
constexpr int senders = 8;
constexpr int ring_length = 1000;

/// Records the seconds for one of n.
template <class F> void time_each(bench::run& r, std::int64_t n, F region) {
  const double cpu = bench::process_cpu_seconds();
  const double start = bench::wall_seconds();
  region();
  const double seconds = bench::wall_seconds() - start;
  r.start_at(start);
  r.record(seconds / static_cast<double>(n), bench::process_cpu_seconds() - cpu);
}

void measure_ping_pong(bench::run& harness) {
  const std::int64_t n = harness.size_between(1, 1'000'000'000);
  std::int64_t sum = 0;
  time_each(harness, n, [&] {
    channel there(for_one);
    channel back(for_one);
    fiber ping([&] {
      for (std::int64_t i = 0; i < n; ++i) {
        there.push(i);
        std::int64_t reply = 0;
        back.pop(reply);
        sum += reply;
      }
      there.close();
    });
    fiber pong([&] {
      std::int64_t m = 0;
      while (there.pop(m) == channel_op_status::success) back.push(m + 1);
    });
    ping.join();
    pong.join();
  });
  harness.result(sum);
}

void send_numbers(channel& to, std::int64_t from, std::int64_t n, int step) {
  for (std::int64_t i = from; i < n; i += step) to.push(i);
}

std::int64_t sum_of(channel& from) {
  std::int64_t sum = 0;
  std::int64_t m = 0;
  while (from.pop(m) == channel_op_status::success) sum += m;
  return sum;
}

void measure_stream(bench::run& r) {
  const std::int64_t n = r.size_between(1, 1'000'000'000);
  std::int64_t sum = 0;
  time_each(r, n, [&] {
    channel numbers(for_64);
    fiber source([&] {
      send_numbers(numbers, 0, n, 1);
      numbers.close();
    });
    fiber sink([&] { sum = sum_of(numbers); });
    source.join();
    sink.join();
  });
  r.result(sum);
}

void measure_stream_apart(bench::run& r) {
  const std::int64_t n = r.size_between(1, 1'000'000'000);
  std::int64_t sum = 0;
  time_each(r, n, [&] {
    channel numbers(for_64);
    std::thread sink([&] { sum = sum_of(numbers); });
    send_numbers(numbers, 0, n, 1);
    numbers.close();
    sink.join();
  });
  r.result(sum);
}

void measure_fan_in(bench::run& r) {
  const std::int64_t n = r.size_between(1, 1'000'000'000);
  std::int64_t sum = 0;
  time_each(r, n, [&] {
    channel numbers(for_64);
    std::vector<fiber> sources;
    for (int k = 0; k < senders; ++k) sources.emplace_back([&, k] { send_numbers(numbers, k, n, senders); });
    fiber sink([&] { sum = sum_of(numbers); });
    for (fiber& s : sources) s.join();
    numbers.close();
    sink.join();
  });
  r.result(sum);
}

void measure_ring(bench::run& harness) {
  const std::int64_t n = harness.size_between(1, 1'000'000'000);
  std::int64_t last = 0;
  time_each(harness, n, [&] {
    std::vector<std::unique_ptr<channel>> links;
    for (int i = 0; i < ring_length; ++i) links.push_back(std::make_unique<channel>(for_one));
    std::vector<fiber> all;
    for (int i = 0; i < ring_length; ++i)
      all.emplace_back([&, i] {
        channel& from = *links[static_cast<std::size_t>(i)];
        channel& to = *links[static_cast<std::size_t>((i + 1) % ring_length)];
        if (i == 0) to.push(n - 1);
        std::int64_t left = 0;
        while (from.pop(left) == channel_op_status::success) {
          if (left == 0) {
            last = i;
            break;
          }
          to.push(left - 1);
        }
        to.close();
      });
    for (fiber& f : all) f.join();
  });
  harness.result(last);
}

const bench::registration registered[]{{"objects-ping-pong", measure_ping_pong},
                                       {"objects-stream", measure_stream},
                                       {"objects-stream-apart", measure_stream_apart},
                                       {"objects-fan-in", measure_fan_in},
                                       {"objects-ring", measure_ring}};

}  // namespace
