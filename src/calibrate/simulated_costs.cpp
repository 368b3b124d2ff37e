// SPDX-License-Identifier: Apache-2.0
// Measures objects of one group, and of two groups; see simulated_costs.hpp. A message is timed without
// waits: one object fills the stream, then the other object empties it. In a stream with room for one
// message, each message needs two switches and the waits before them. Half of the time beyond the message
// itself is the cost of a switch.
#include "simulated_costs.hpp"

#include <sukima/objects.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bound_threads.hpp"
#include "message_ring.hpp"

namespace sukima::calibrate_detail {
namespace {

using objects::capacity;
using objects::in;
using objects::out;
using objects::model::unit;

/// Sets SUKIMA_OBJECTS while it exists, because the user's choice must not have an effect here.
class model_chosen {
 public:
  explicit model_chosen(const char* model) {
    if (const char* const value = std::getenv(name)) before_ = value;
    setenv(name, model, 1);
  }
  model_chosen(const model_chosen&) = delete;
  model_chosen& operator=(const model_chosen&) = delete;
  ~model_chosen() {
    if (before_)
      setenv(name, before_->c_str(), 1);
    else
      unsetenv(name);
  }

 private:
  static constexpr const char* name = "SUKIMA_OBJECTS";
  std::optional<std::string> before_;
};

template <std::size_t Bytes>
struct message {
  std::array<char, Bytes> content{};
};

/// Reads a message, so that the compiler does not omit its copy.
void use(const auto& received) { asm volatile("" : : "r"(&received) : "memory"); }

double ns_between(clock::time_point begin, clock::time_point end) {
  return std::chrono::duration<double, std::nano>(end - begin).count();
}

/// Returns the time between two successive readings of the clock.
double clock_ns() {
  std::vector<double> times(1000);
  for (double& one : times) {
    const auto begin = clock::now();
    one = ns_between(begin, clock::now());
  }
  return figure_of(std::move(times)).median;
}

/// The stack of objects that hold a few messages on it.
template <std::size_t Bytes>
constexpr std::size_t stack_of = Bytes > 1024 ? 8 * Bytes : 0;

/// \param carrier simulated: both objects are in one group; thread: they are in two groups, which one worker
/// runs in turn
template <std::size_t Bytes>
objects::model::message_cost measure_messages(runtime& on, unit carrier) {
  const char* const other = carrier == unit::simulated ? "one" : "other";
  const std::size_t batch = default_capacity(Bytes);
  const int rounds = Bytes > 1024 ? 300 : 3000;
  const double reading = clock_ns();
  std::vector<double> sending, receiving;
  const auto note = [&](std::vector<double>& into, clock::time_point begin) {
    const double ns = ns_between(begin, clock::now()) - reading;
    into.push_back(std::max(0.0, ns / static_cast<double>(batch)));
  };
  objects::program program(on);
  const auto stream = program.stream<message<Bytes>>("stream", capacity{batch});
  const auto full = program.stream<char>("full"), empty = program.stream<char>("empty");
  program
      .object(
          "sender",
          [&](out<message<Bytes>> to, out<char> done, in<char> next) {
            const message<Bytes> sent{};  // made once, because making it counts as computing
            for (int i = 0; i < rounds; i++) {
              const auto begin = clock::now();
              for (std::size_t k = 0; k < batch; k++) to.send(sent);
              note(sending, begin);
              done.send('\0');
              next.receive();
            }
          },
          stream.out(), full.out(), empty.in())
      .group("one")
      .stack(stack_of<Bytes>);
  program
      .object(
          "receiver",
          [&](in<message<Bytes>> from, in<char> next, out<char> done) {
            while (next.receive()) {
              const auto begin = clock::now();
              for (std::size_t k = 0; k < batch; k++) use(from.receive());
              note(receiving, begin);
              done.send('\0');
            }
          },
          stream.in(), full.in(), empty.out())
      .group(other)
      .stack(stack_of<Bytes>);
  program.run();
  return message_line(carrier, Bytes, 1, figure_of(std::move(sending)), figure_of(std::move(receiving)));
}

/// The cost of a wait and of switching to the other object. In a stream with room for one message, it is half
/// of the time beyond the message itself.
figure measure_waits(runtime& on, const char* other, const objects::model::message_cost& message_alone) {
  constexpr int windows = 50, length = 2000;
  std::vector<double> times;
  objects::program program(on);
  const auto stream = program.stream<message<8>>("stream", capacity{1});
  program
      .object(
          "sender",
          [](out<message<8>> to) {
            for (int i = 0; i < windows * length; i++) to.send({});
          },
          stream.out())
      .group("one");
  program
      .object(
          "receiver",
          [&](in<message<8>> from) {
            for (int i = 0; i < windows; i++) {
              const auto begin = clock::now();
              for (int k = 0; k < length; k++) use(from.receive());
              times.push_back(ns_between(begin, clock::now()) / length);
            }
          },
          stream.in())
      .group(other);
  program.run();
  for (double& one : times)
    one = std::max(0.0, (one - message_alone.sender_ns - message_alone.receiver_ns) / 2);
  return figure_of(std::move(times));
}

void measure_all(objects::model::cost_table& into) {
  settings one_worker;
  one_worker.workers = 1;
  one_worker.elastic = false;
  runtime on(one_worker);
  for (const unit carrier : {unit::simulated, unit::thread}) {
    const model_chosen chosen(carrier == unit::simulated ? "simulated" : "workers:simulated");
    into.add(measure_messages<8>(on, carrier));
    into.add(measure_messages<64>(on, carrier));
    into.add(measure_messages<1024>(on, carrier));
    into.add(measure_messages<16384>(on, carrier));
    into.add(measure_messages<65536>(on, carrier));
    const objects::model::message_cost small = into.of(carrier, 8, 1);
    const figure waits = measure_waits(on, carrier == unit::simulated ? "one" : "other", small);
    (carrier == unit::simulated ? into.switch_ns : into.wait_ns) = waits.median;
    (carrier == unit::simulated ? into.switch_quartiles : into.wait_quartiles) = waits.spread;
  }
  // On one CPU, a message between processes takes the same steps, in shared memory.
  for (const std::size_t bytes : {8U, 64U, 1024U, 16384U, 65536U}) {
    objects::model::message_cost line = into.of(unit::thread, bytes, 1);
    line.carrier = unit::process;
    into.add(line);
  }
}

}  // namespace

figure figure_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](std::size_t part) { return values[(values.size() - 1) * part / 4]; };
  return {at(2), {at(1), at(3)}};
}

objects::model::message_cost message_line(unit carrier, std::size_t bytes, unsigned cpus,
                                          const figure& sender, const figure& receiver) {
  objects::model::message_cost line{carrier, bytes, cpus, sender.median, receiver.median};
  line.spread = {sender.spread, receiver.spread};
  return line;
}

void measure_simulated(objects::model::cost_table& into, unsigned cpu) {
  std::exception_ptr error;
  run_bound({{cpu, [&] {
                try {
                  measure_all(into);
                } catch (...) {
                  error = std::current_exception();
                }
              }}});
  if (error) std::rethrow_exception(error);
}

void measure_resumes(objects::model::cost_table& into, unsigned first, unsigned second) {
  constexpr int rounds = 300, waiting = 64;
  const model_chosen chosen("threads:simulated");
  const double alone = into.of(unit::thread, 8, 1).sender_ns;
  std::vector<double> times;
  std::atomic<int> busy{0}, over{0};  // numbers of rounds; each is the other side's partner
  settings one_worker;
  one_worker.workers = 1;
  one_worker.elastic = false;
  runtime on(one_worker);
  objects::program program(on);
  const auto start = program.stream<char>("start"), waited = program.stream<char>("waited");
  const auto last = program.stream<message<8>>("last");
  std::vector<out<message<8>>> ends;
  for (int i = 1; i < waiting; i++) {
    const auto stream = program.stream<message<8>>("stream " + std::to_string(i));
    ends.push_back(stream.out());
    program
        .object(
            "waiting " + std::to_string(i),
            [](in<message<8>> from) {
              while (from.receive()) continue;
            },
            stream.in())
        .group("other");
  }
  ends.push_back(last.out());
  program
      .object(
          "last waiting",
          [](in<message<8>> from, out<char> others_wait) {
            while (from.receive()) others_wait.send('\0');
          },
          last.in(), waited.out())
      .group("other");
  program
      .object(
          "sender",
          [&](out<char> next, in<char> all_wait, std::vector<out<message<8>>> to_all) {
            bind_this_thread(first);  // if that is refused, it runs on any CPU
            for (int i = 1; i <= rounds; i++) {
              next.send('\0');
              while (busy.load(std::memory_order_acquire) != i) relax();
              const auto begin = clock::now();
              for (out<message<8>>& to : to_all) to.send({});
              times.push_back(std::max(0.0, ns_between(begin, clock::now()) / waiting - alone));
              over.store(i, std::memory_order_release);
              all_wait.receive();
            }
          },
          start.out(), waited.in(), std::move(ends))
      .group("one");
  program
      .object(
          "busy",
          [&](in<char> next) {
            bind_this_thread(second);
            for (int i = 1; next.receive(); i++) {
              busy.store(i, std::memory_order_release);
              while (over.load(std::memory_order_acquire) != i) relax();
            }
          },
          start.in())
      .group("other");
  program.run();
  const figure resumes = figure_of(std::move(times));
  into.resume_ns = resumes.median;
  into.resume_quartiles = resumes.spread;
}

}  // namespace sukima::calibrate_detail
