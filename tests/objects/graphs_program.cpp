// SPDX-License-Identifier: Apache-2.0
// Programs of concurrent objects in ten shapes, for lab/scripts/objects-configurations.py: is the model that
// is planned the fastest one?
// Arguments: the shape, and a number of messages or rounds.
#include <sukima/objects.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using sukima::objects::capacity;
using sukima::objects::in;
using sukima::objects::out;
using sukima::objects::program;

namespace {

/// Computes for some nanoseconds: so many dependent multiplications, at 3 to 5 cycles each.
unsigned long work(unsigned long value, long steps) {
  for (long i = 0; i < steps; ++i) value = value * 6364136223846793005UL + 1442695040888963407UL;
  return value;
}

void source(out<unsigned long> to, long messages, long steps) {
  for (long i = 0; i < messages; ++i) to.send(work(static_cast<unsigned long>(i), steps));
}
void stage(in<unsigned long> from, out<unsigned long> to, long steps) {
  while (const auto m = from.receive()) to.send(work(*m, steps));
}
void sink(in<unsigned long> from, long steps, unsigned long& sum) {
  while (const auto m = from.receive()) sum += work(*m, steps);
}

/// A source, stages and a sink, which compute for so many steps.
void pipeline(program& p, long messages, const std::vector<long>& steps, unsigned long& sum) {
  std::vector<sukima::objects::stream<unsigned long>> streams;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i)
    streams.push_back(p.stream<unsigned long>("s" + std::to_string(i)));
  p.object("source", source, streams.front().out(), messages, steps.front());
  for (std::size_t i = 1; i + 1 < steps.size(); ++i)
    p.object("stage" + std::to_string(i), stage, streams[i - 1].in(), streams[i].out(), steps[i]);
  p.object("sink", sink, streams.back().in(), steps.back(), std::ref(sum)).at_home();
}

/// One message goes round.
void ring(program& p, long rounds, unsigned long& sum) {
  constexpr std::size_t members = 100;
  std::vector<sukima::objects::stream<unsigned long>> streams;
  for (std::size_t i = 0; i < members; ++i)
    streams.push_back(p.stream<unsigned long>("s" + std::to_string(i), capacity{1}));
  p.object(
       "first",
       [rounds, &sum](out<unsigned long> to, in<unsigned long> from) {
         for (long i = 0; i < rounds; ++i) {
           to.send(sum);
           sum = *from.receive() + 1;
         }
       },
       streams[0].out(), streams[members - 1].in())
      .at_home();
  for (std::size_t i = 1; i < members; ++i)
    p.object("member" + std::to_string(i), stage, streams[i - 1].in(), streams[i].out(), 0);
}

/// One source, workers, one sink.
void fan(program& p, long messages, int workers, long steps, unsigned long& sum) {
  const auto jobs = p.stream<unsigned long>("jobs"), results = p.stream<unsigned long>("results");
  p.object("source", source, jobs.out(), messages, 0);
  for (int i = 0; i < workers; ++i)
    p.object("worker" + std::to_string(i), stage, jobs.in(), results.out(), steps);
  p.object("sink", sink, results.in(), 0, std::ref(sum)).at_home();
}

/// Clients ask a broker, which serves them by select.
void broker(program& p, long rounds, int clients, long steps, unsigned long& sum) {
  std::vector<in<unsigned long>> questions;
  std::vector<out<unsigned long>> answers;
  const auto sums = p.stream<unsigned long>("sums");
  for (int i = 0; i < clients; ++i) {
    const auto question = p.stream<unsigned long>("question" + std::to_string(i), capacity{1});
    const auto answer = p.stream<unsigned long>("answer" + std::to_string(i), capacity{1});
    questions.push_back(question.in());
    answers.push_back(answer.out());
    p.object(
        "client" + std::to_string(i),
        [rounds, steps](out<unsigned long> ask, in<unsigned long> reply, out<unsigned long> total) {
          unsigned long value = 0;
          for (long r = 0; r < rounds; ++r) {
            ask.send(work(value, steps));
            value = *reply.receive();
          }
          total.send(value);
        },
        question.out(), answer.in(), sums.out());
  }
  p.object(
      "broker",
      [](std::vector<in<unsigned long>> from, std::vector<out<unsigned long>> to) {
        while (sukima::objects::select(
            sukima::objects::on_any(from, [&](std::size_t i, unsigned long m) { to[i].send(m + 1); }))) {
        }
      },
      std::move(questions), std::move(answers));
  p.object("sink", sink, sums.in(), 0, std::ref(sum)).at_home();
}

struct block {
  std::array<unsigned long, 2048> words;  // 16 KiB
};

/// Large messages through a filter.
void large(program& p, long messages, unsigned long& sum) {
  const auto raw = p.stream<block>("raw"), good = p.stream<block>("good");
  p.object(
      "source",
      [messages](out<block> to) {
        for (long i = 0; i < messages; ++i) {
          block b;
          b.words.fill(static_cast<unsigned long>(i));
          to.send(b);
        }
      },
      raw.out());
  p.object(
      "filter",
      [](in<block> from, out<block> to) {
        while (auto b = from.receive()) {
          for (unsigned long& w : b->words) w = w * 3 + 1;
          to.send(*b);
        }
      },
      raw.in(), good.out());
  p.object(
       "sink",
       [&sum](in<block> from) {
         while (const auto b = from.receive())
           for (const unsigned long w : b->words) sum += w;
       },
       good.in())
      .at_home();
}

/// Workers that wait in the operating system for each job.
void sleepers(program& p, long messages, unsigned long& sum) {
  const auto jobs = p.stream<unsigned long>("jobs"), results = p.stream<unsigned long>("results");
  p.object("source", source, jobs.out(), messages, 0);
  for (int i = 0; i < 8; ++i)
    p.object(
        "worker" + std::to_string(i),
        [](in<unsigned long> from, out<unsigned long> to) {
          while (const auto m = from.receive()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            to.send(*m);
          }
        },
        jobs.in(), results.out());
  p.object("sink", sink, results.in(), 0, std::ref(sum)).at_home();
}

struct shape {
  std::string_view name;
  void (*declare)(program& p, long messages, unsigned long& sum);
};
constexpr std::array shapes = {
    shape{"even-cheap",
          [](program& p, long n, unsigned long& sum) { pipeline(p, n, {10, 10, 10, 10}, sum); }},
    shape{"even",
          [](program& p, long n, unsigned long& sum) { pipeline(p, n, {4000, 4000, 4000, 4000}, sum); }},
    shape{"uneven",
          [](program& p, long n, unsigned long& sum) { pipeline(p, n, {100, 8000, 1000, 3000}, sum); }},
    shape{"ring", ring},
    shape{"fan", [](program& p, long n, unsigned long& sum) { fan(p, n, 6, 6000, sum); }},
    shape{"fan-cheap", [](program& p, long n, unsigned long& sum) { fan(p, n, 6, 20, sum); }},
    shape{"broker", [](program& p, long n, unsigned long& sum) { broker(p, n, 4, 20, sum); }},
    shape{"broker-busy", [](program& p, long n, unsigned long& sum) { broker(p, n, 4, 20000, sum); }},
    shape{"large", large},
    shape{"sleepers", sleepers},
};

}  // namespace

int main(int argc, char** argv) {
  program p(argc, argv);
  const std::string_view name = argc > 1 ? argv[1] : "";
  const auto* const chosen = std::ranges::find(shapes, name, &shape::name);
  const long messages = argc > 2 ? std::atol(argv[2]) : 0;
  if (chosen == shapes.end() || messages < 1) {
    std::fputs("objects_graphs_program: give a shape and a number of messages:", stderr);
    for (const shape& one : shapes) std::fprintf(stderr, " %s", one.name.data());
    std::fputs("\n", stderr);
    return 2;
  }
  unsigned long sum = 0;
  chosen->declare(p, messages, sum);
  p.run();
  std::printf("%lu\n", sum);
}
