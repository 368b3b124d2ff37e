// SPDX-License-Identifier: Apache-2.0
// Senders: work that has not begun, what follows it, and a scope that awaits all of it.
#include <sukima/execution.hpp>
#include <sukima/sukima.hpp>

#include <atomic>
#include <cstdio>
#include <exception>
#include <thread>
#include <utility>

namespace ex = sukima::execution;

namespace {

/// Receives what a sender sends.
struct printing {
  void set_value(int value) noexcept { std::printf("received %d\n", value); }
  void set_error(const std::exception_ptr& /*error*/) noexcept { std::puts("failed"); }
  void set_stopped() noexcept { std::puts("cancelled"); }
};

}  // namespace

int main() {
  // just sends a value at once, then passes it through a function; connect and start run the whole.
  auto operation = ex::connect(ex::just(20) | ex::then([](int i) { return i + 1; }), printing{});
  ex::start(operation);

  // ensure_started begins work now; its future is taken later.
  ex::pool pool;
  const ex::scheduler on = pool.get_scheduler();
  auto begun = ex::ensure_started(ex::schedule(on) | ex::then([] { return 6 * 7; }));
  while (!begun.is_ready()) std::this_thread::yield();  // instead of other work
  std::printf("computed %d\n", std::move(begun).get());

  // A scope runs any number of senders; join awaits them.
  std::atomic<int> sum{0};
  ex::counting_scope scope;
  for (int i = 1; i <= 10; ++i) scope.spawn(ex::schedule(on) | ex::then([&sum, i] { sum += i; }));
  ex::sync_wait(scope.join());
  std::printf("added up %d\n", sum.load());
}
