// SPDX-License-Identifier: Apache-2.0
// Coroutines and senders: work that an event loop hands to the workers and waits for without a thread.
#include <sukima/execution.hpp>
#include <sukima/sukima.hpp>

#include <cstdio>
#include <vector>

namespace ex = sukima::execution;

namespace {

long sum_of_squares(long n) {
  return sukima::parallel_reduce(0L, n, 0L, [](long i) { return i * i; }, std::plus{});
}

/// Runs on the thread that starts it until the first co_await, and on workers from then on.
ex::task<long> difference(ex::scheduler on, long n) {
  auto larger = ex::async(on, [n] { return sum_of_squares(n + 1); });  // begins now
  co_await ex::schedule(on);                                           // from here on a worker
  const long smaller = sum_of_squares(n);
  co_return co_await std::move(larger) - smaller;
}

}  // namespace

int main() {
  ex::pool pool;
  const ex::scheduler on = pool.get_scheduler();
  if (const auto root = ex::sync_wait(difference(on, 1000)))  // nothing if it was cancelled
    std::printf("%ld\n", std::get<0>(*root));

  // The same without coroutines.
  const auto squares = ex::schedule(on) | ex::then([] { return sum_of_squares(10); });
  if (const auto sum = ex::sync_wait(squares)) std::printf("%ld\n", std::get<0>(*sum));
}
