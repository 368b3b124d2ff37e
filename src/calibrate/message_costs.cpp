// SPDX-License-Identifier: Apache-2.0
// Measures the costs of messages. On one CPU, the sides take turns, so each side is timed alone. On two CPUs,
// a stream flows, and the cost of each side is the stream's time per message.
#include "shared/message_costs.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <base/shared/assert.hpp>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "bound_threads.hpp"
#include "measured_streams.hpp"
#include "process_streams.hpp"
#include "shared/stream_windows.hpp"
#include "simulated_costs.hpp"

namespace sukima {
namespace {

using namespace calibrate_detail;
using objects::model::message_cost;
using objects::model::sleep_cost;
using objects::model::unit;

constexpr std::array<std::size_t, 5> sizes = {8, 64, 1024, 16384, 65536};
constexpr double measured_seconds = 0.01;

/// Nanoseconds per call of a function that is called `count` times.
double time_of(std::size_t count, const auto& call) {
  const auto begin = clock::now();
  for (std::size_t i = 0; i < count; i++) call();
  return 1e9 * seconds_since(begin) / static_cast<double>(count);
}

/// Measures a stream that the two sides fill and empty in turn on one CPU.
template <class Stream>
message_cost measure_one_cpu(unit carrier, std::size_t bytes, unsigned cpu) {
  std::vector<double> sending, receiving;
  run_bound({{cpu, [&] {
                Stream stream(bytes);
                const auto begin = clock::now();
                while (sending.size() < 10 || seconds_since(begin) < measured_seconds) {
                  sending.push_back(time_of(stream.batch, [&] { stream.send(); }));
                  receiving.push_back(time_of(stream.batch, [&] { stream.receive(); }));
                }
              }}});
  return message_line(carrier, bytes, 1, figure_of(std::move(sending)), figure_of(std::move(receiving)));
}

void send_all(auto& stream, std::size_t messages) {
  for (std::size_t i = 0; i < messages; i++) {
    while (!stream.send()) relax();
  }
}

bool receive_all(auto& stream, std::size_t messages) {
  for (std::size_t i = 0; i < messages; i++) {
    while (!stream.receive()) relax();
  }
  return true;
}

double stream_between_threads(std::size_t bytes, unsigned from, unsigned to) {
  ring_stream stream(bytes);
  const std::size_t messages = stream_length(bytes);
  const auto receive = [&](std::size_t count) { return receive_all(stream, count); };
  std::optional<double> ns;
  run_bound({{from, [&] { send_all(stream, messages); }},
             {to, [&] { ns = time_of_message(messages, receive, clock::now); }}});
  return ns.value_or(0);
}

message_cost measure_two_cpus(unit carrier, std::size_t bytes, unsigned from, unsigned to) {
  std::vector<double> times;
  for (int i = 0; i < repetitions; i++) {
    times.push_back(carrier == unit::thread ? stream_between_threads(bytes, from, to)
                                            : stream_between_processes(carrier, bytes, from, to));
  }
  const figure ns = figure_of(std::move(times));
  return message_line(carrier, bytes, 2, ns, ns);
}

/// The side whose turn it is: 0 or 1.
using turn_word = std::atomic<std::uint32_t>;

/// Sleeps until it is the turn of this side.
void wait_turn(turn_word& turn, std::uint32_t mine) {
  // Partner: the other side's store in pass_turn.
  for (;;) {
    const std::uint32_t seen = turn.load(std::memory_order_acquire);
    if (seen == mine) return;
    syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
  }
}

/// Gives the turn to the other side and wakes it. \returns the nanoseconds of the system call that wakes
double pass_turn(turn_word& turn, std::uint32_t other) {
  // Partner: the other side's load in wait_turn.
  turn.store(other, std::memory_order_release);
  const auto begin = clock::now();
  syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  return 1e9 * seconds_since(begin);
}

/// Measures two threads that sleep and wake each other in turn.
sleep_cost measure_sleep(unsigned one, unsigned other) {
  constexpr int rounds = 1500;
  turn_word turn{0};
  std::vector<double> waking, ways;
  run_bound({{one,
              [&] {
                for (int i = 0; i < rounds; i++) {
                  const auto begin = clock::now();
                  waking.push_back(pass_turn(turn, 1));
                  wait_turn(turn, 0);
                  ways.push_back(1e9 * seconds_since(begin) / 2);
                }
              }},
             {other, [&] {
                for (int i = 0; i < rounds; i++) {
                  wait_turn(turn, 1);
                  pass_turn(turn, 0);
                }
              }}});
  // On one CPU, the kernel may run the woken thread before the call returns, so use the shorter calls.
  SUKIMA_ASSERT(waking.size() == rounds && ways.size() == rounds, "each round is measured");
  std::sort(waking.begin(), waking.end());
  const double waker = waking[waking.size() / 4], way = figure_of(std::move(ways)).median;
  return {std::min(waker, way), std::max(0.0, way - waker)};
}

}  // namespace

objects::model::cost_table measure_message_costs(const calibration_progress& progress) {
  const std::vector<unsigned> cpus = allowed_cpus();
  const bool has_two = cpus.size() > 1;
  constexpr std::array between{unit::thread, unit::process, unit::pipe};
  const std::size_t total = sizes.size() * (has_two ? 1 + between.size() : 1) + (has_two ? 4 : 2);
  std::size_t done = 0;
  const auto show = [&](const std::string& step) {
    if (progress) progress(step, done, total);
    done++;
  };
  objects::model::cost_table costs;
  for (const std::size_t bytes : sizes) {
    const std::string messages = "messages of " + std::to_string(bytes) + " bytes: ";
    show(messages + "pipe");
    costs.add(measure_one_cpu<pipe_stream>(unit::pipe, bytes, cpus[0]));
    if (!has_two) continue;
    for (const unit carrier : between) {
      show(messages + std::string(name_of(carrier)) + ", two CPUs");
      costs.add(measure_two_cpus(carrier, bytes, cpus[0], cpus[1]));
    }
  }
  show("sleeping and waking");
  costs.same_cpu = measure_sleep(cpus[0], cpus[0]);
  if (has_two) {
    show("sleeping and waking, two CPUs");
    costs.other_cpu = measure_sleep(cpus[0], cpus[1]);
  }
  show("simulated objects");
  measure_simulated(costs, cpus[0]);  // last, because it starts threads, and there must be no fork after it
  if (has_two) {
    show("simulated objects, two CPUs");
    measure_resumes(costs, cpus[0], cpus[1]);
  }
  SUKIMA_ASSERT(done == total, "the progress ends with the last step");
  return costs;
}

}  // namespace sukima
