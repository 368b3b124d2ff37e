// SPDX-License-Identifier: Apache-2.0
// A benchmark program whose benchmarks go wrong, each in its own way.
#include <iostream>

#include "harness/harness.hpp"

namespace {

void wrong_number(bench::run& run) {
  run.time([] {});
  run.result(run.size() == 30 ? "832041" : "0");  // the 30th Fibonacci number is 832040
}

void no_result(bench::run& run) {
  run.time([] {});
}

void found_wrong_by_itself(bench::run&) { throw bench::wrong_result("three is not four"); }

void second_repetition_fails(bench::run& run) {
  static int repetitions = 0;
  if (++repetitions == 2) throw bench::wrong_result("the second one is wrong");
  run.record(0.25, 0.5);
  run.field("bytes", 4096);
  run.field("p99", 0.125);
  run.result("ok");
}

void count_repetitions(bench::run& run) {
  static int repetitions = 0;
  run.record(0.25, 0.5);
  run.result(std::to_string(++repetitions));
}

const bench::registration registered[]{
    {"fib", wrong_number},           {"cmp", no_result},
    {"sort", found_wrong_by_itself}, {"empty", second_repetition_fails},
    {"saxpy", count_repetitions},    {"startup", count_repetitions, bench::start::cold},
};

}  // namespace

void bench::with_system(unsigned workers, const std::function<void()>& body) {
  if (workers == 13) throw bad_argument("SUKIMA_WORKERS='abc' is not accepted");
  std::cerr << "started with " << workers << "\n";
  body();
  std::cerr << "stopped\n";
}

void bench::warm_up() { std::cerr << "warm\n"; }
