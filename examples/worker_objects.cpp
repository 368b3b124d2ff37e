// SPDX-License-Identifier: Apache-2.0
// The objects of a worker_local one by one, results that are errors, and statistics as JSON.
#include <sukima/sukima.hpp>

#include <cstdio>
#include <exception>
#include <stdexcept>

namespace {

/// Two loops with the same objects, which `clear` destroys between them.
void count_twice() {
  sukima::worker_local<long> counted;
  for (const int size : {1000, 2000}) {
    sukima::parallel_for(0, size, [&](int) { ++counted.local(); });
    long sum = 0;
    counted.for_each([&](const long& mine) { sum += mine; });
    std::printf("%ld\n", sum);
    counted.clear();
  }
}

/// A promise that fails; the touch throws.
void fail() {
  sukima::promise<int> answer;
  const auto read = answer.get_future();
  std::printf("%s\n", read.is_done() ? "done" : "not yet");
  answer.set_exception(std::make_exception_ptr(std::runtime_error("no answer")));
  std::printf("%s\n", read.is_done() ? "done" : "not yet");
  try {
    read.touch(sukima::helping);
  } catch (const std::runtime_error& error) {
    std::printf("%s\n", error.what());
  }
}

}  // namespace

int main() {
  count_twice();
  fail();
  std::fprintf(stderr, "%s\n", sukima::default_runtime().statistics().json().c_str());
}
