// SPDX-License-Identifier: Apache-2.0
// Concurrent objects that only exchange messages of 8 bytes; seconds for one message, or one round trip.
// Objects that compute nothing are fastest in one group, so that is where an expert puts them.
#include "in_runtime.hpp"

#include <sukima/objects.hpp>

#include <string>
#include <vector>

namespace {

using sukima::objects::capacity;
using sukima::objects::in;
using sukima::objects::out;
using sukima::objects::program;

constexpr int senders = 8;
constexpr int ring_length = 1000;

std::string numbered(const char* name, int number) {
  return std::string(name).append(std::to_string(number));
}

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
    program p(system_runtime());
    const auto there = p.stream<std::int64_t>("there", capacity{1});
    const auto back = p.stream<std::int64_t>("back", capacity{1});
    p.object(
         "ping",
         [&sum, n](out<std::int64_t> to, in<std::int64_t> from) {
           for (std::int64_t i = 0; i < n; ++i) {
             to.send(i);
             sum += from.receive().value_or(0);
           }
         },
         there.out(), back.in())
        .group("pair");
    p.object(
         "pong",
         [](in<std::int64_t> from, out<std::int64_t> to) {
           while (const auto m = from.receive()) to.send(*m + 1);
         },
         there.in(), back.out())
        .group("pair");
    p.run();
  });
  harness.result(sum);
}

/// \param group_of_sink that of the source is "a"
void time_stream(bench::run& harness, const char* group_of_sink) {
  const std::int64_t n = harness.size_between(1, 1'000'000'000);
  std::int64_t sum = 0;
  time_each(harness, n, [&] {
    program p(system_runtime());
    const auto s = p.stream<std::int64_t>("numbers", capacity{64});
    p.object(
         "source",
         [n](out<std::int64_t> to) {
           for (std::int64_t i = 0; i < n; ++i) to.send(i);
         },
         s.out())
        .group("a");
    p.object(
         "sink",
         [&sum](in<std::int64_t> from) {
           while (const auto m = from.receive()) sum += *m;
         },
         s.in())
        .group(group_of_sink);
    p.run();
  });
  harness.result(sum);
}

void measure_stream(bench::run& r) { time_stream(r, "a"); }
void measure_stream_apart(bench::run& r) { time_stream(r, "b"); }

void measure_fan_in(bench::run& harness) {
  const std::int64_t n = harness.size_between(1, 1'000'000'000);
  std::int64_t sum = 0;
  time_each(harness, n, [&] {
    program p(system_runtime());
    const auto s = p.stream<std::int64_t>("numbers", capacity{64});
    for (int k = 0; k < senders; ++k)
      p.object(
           numbered("source ", k),
           [n, k](out<std::int64_t> to) {
             for (std::int64_t i = k; i < n; i += senders) to.send(i);
           },
           s.out())
          .group("all");
    p.object(
         "sink",
         [&sum](in<std::int64_t> from) {
           while (const auto m = from.receive()) sum += *m;
         },
         s.in())
        .group("all");
    p.run();
  });
  harness.result(sum);
}

void measure_ring(bench::run& harness) {
  const std::int64_t n = harness.size_between(1, 1'000'000'000);
  std::int64_t last = 0;
  time_each(harness, n, [&] {
    program p(system_runtime());
    std::vector<sukima::objects::stream<std::int64_t>> links;
    for (int i = 0; i < ring_length; ++i)
      links.push_back(p.stream<std::int64_t>(numbered("link ", i), capacity{1}));
    for (int i = 0; i < ring_length; ++i) {
      const auto at = static_cast<std::size_t>(i);
      p.object(
           numbered("object ", i),
           [&last, i, n](in<std::int64_t> from, out<std::int64_t> to) {
             if (i == 0) to.send(n - 1);
             while (const auto left = from.receive()) {
               if (*left == 0) {  // it was the last hop; all others find their streams closed
                 last = i;
                 return;
               }
               to.send(*left - 1);
             }
           },
           links[at].in(), links[(at + 1) % ring_length].out())
          .group("ring");
    }
    p.run();
  });
  harness.result(last);
}

const bench::registration registered[]{{"objects-ping-pong", measure_ping_pong},
                                       {"objects-stream", measure_stream},
                                       {"objects-stream-apart", measure_stream_apart},
                                       {"objects-fan-in", measure_fan_in},
                                       {"objects-ring", measure_ring}};

}  // namespace
