// SPDX-License-Identifier: Apache-2.0
// blocking: 64 questions to a slow server, which takes 20 ms for each answer. Without `blocking`, two workers
// would wait for more than half a second.
#include <sukima/sukima.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

/// Stands for a read from a socket, a query, a call of another program.
static int answer_of_the_server(int question) {
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return 2 * question;
}

int main() {
  std::atomic<long> sum{0};
  sukima::run([&](sukima::context c) {
    sukima::parallel_for(c, 0, 64, [&](sukima::context below, int question) {
      // Others run this worker's share of the loop while it waits.
      const int answer = sukima::blocking(below, [&] { return answer_of_the_server(question); });
      sum += answer;
    });
  });
  std::printf("the answers sum up to %ld\n", sum.load());
}
