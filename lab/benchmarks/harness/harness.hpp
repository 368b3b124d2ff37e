// SPDX-License-Identifier: Apache-2.0
// The common frame of the benchmark programs: one benchmark is a function that measures one repetition.
//
// A program links the harness (which has main), defines bench::with_system to start its system, and registers
// its benchmarks by name:
//
//   static const bench::registration fib{"fib", [](bench::run& run) {
//     std::int64_t result = 0;
//     run.time([&] { result = plain_fib(run.size()); });
//     run.result(result);
//   }};
//
// The contract of the programs (arguments, output, exit codes) is in lab/benchmarks/README.md.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

/// CPU seconds (user and system, all threads) that this process has used.
double process_cpu_seconds();

/// Wall-clock seconds from an arbitrary start, monotonic, with nanosecond resolution.
double wall_seconds();

/// A wrong result: the program prints the message and ends with exit code 1.
struct wrong_result : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An impossible size or number of workers: the program prints the message and ends with exit code 2.
struct bad_argument : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One repetition of one benchmark: its request and its measurement.
class run {
 public:
  run(std::int64_t size, unsigned workers, int depth = 0) : size_(size), workers_(workers), depth_(depth) {}

  /// The problem's size, in the unit that kernels/sizes.json states.
  [[nodiscard]] std::int64_t size() const { return size_; }
  /// The size as an int. \throws bad_argument unless least <= size <= most
  [[nodiscard]] int size_between(int least, int most) const;
  /// The number of workers that the system was started with.
  [[nodiscard]] unsigned workers() const { return workers_; }
  /// In a tuned program: the number of levels of the search that fork.
  [[nodiscard]] int depth() const { return depth_; }

  /// Calls `region` and records its wall-clock and CPU time.
  template <std::invocable F>
  void time(F&& region) {
    const double cpu = process_cpu_seconds();
    const double start = wall_seconds();
    std::forward<F>(region)();
    const double end = wall_seconds();
    start_at(start);
    record(end - start, process_cpu_seconds() - cpu);
  }

  /// Records a time that the benchmark measured itself (seconds for one of many, a median, …).
  void record(double seconds, double cpu_seconds) { seconds_ = seconds, cpu_seconds_ = cpu_seconds; }

  /// Sets the beginning of the measured part, by wall_seconds(). `time` also sets it. Otherwise it is the
  /// beginning of the repetition.
  void start_at(double moment) { started_ = moment; }

  /// Sets the result, as text that is the same for every system. It is checked against kernels/sizes.json.
  void result(std::string text) { result_ = std::move(text); }
  void result(std::integral auto number) { result_ = std::to_string(number); }

  /// Adds a field to the printed line ("bytes", "p99", …).
  void field(std::string name, double value) { fields_.emplace_back(std::move(name), value); }

  [[nodiscard]] double started() const { return started_; }
  [[nodiscard]] double seconds() const { return seconds_; }
  [[nodiscard]] double cpu_seconds() const { return cpu_seconds_; }
  [[nodiscard]] const std::string& result() const { return result_; }
  [[nodiscard]] const std::vector<std::pair<std::string, double>>& fields() const { return fields_; }

 private:
  std::int64_t size_;
  unsigned workers_;
  int depth_;
  double started_ = 0, seconds_ = 0, cpu_seconds_ = 0;
  std::string result_;
  std::vector<std::pair<std::string, double>> fields_;
};

/// `warm`: the system runs before the first repetition. `cold`: every repetition has a new process in which
/// no system was started (with_system is not called).
enum class start { warm, cold };

/// Registers a benchmark with the program. Objects of this type are namespace-scope constants.
struct registration {
  registration(std::string_view name, void (*measure)(run&), start how = start::warm);
};

/// Registers the tuned program of a benchmark, which --depth selects.
struct tuned_registration {
  tuned_registration(std::string_view name, void (*measure)(run&));
};

/// Each program defines this: it starts its system with that number of workers, calls body on the calling
/// thread, and stops the system.
void with_system(unsigned workers, const std::function<void()>& body);

/// Each program defines this: it does a little parallel work, so that all threads of the running system
/// exist.
void warm_up();

}  // namespace bench
