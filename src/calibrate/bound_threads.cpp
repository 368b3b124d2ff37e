// SPDX-License-Identifier: Apache-2.0
// Runs threads that are bound to CPUs; see bound_threads.hpp.
#include "bound_threads.hpp"

#include <sched.h>
#include <base/shared/assert.hpp>

#include <cerrno>
#include <exception>
#include <memory>
#include <system_error>
#include <thread>

namespace sukima::calibrate_detail {

namespace {

/// Deletes a set that has room for CPU numbers of any size.
struct free_set {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};
using set_pointer = std::unique_ptr<cpu_set_t, free_set>;

set_pointer make_set(std::size_t cpus) {
  set_pointer set(CPU_ALLOC(cpus));
  if (!set) throw std::bad_alloc();
  CPU_ZERO_S(CPU_ALLOC_SIZE(cpus), set.get());
  return set;
}

}  // namespace

int bind_this_thread(unsigned cpu) {
  const std::size_t size = CPU_ALLOC_SIZE(cpu + 1);
  const set_pointer set(CPU_ALLOC(cpu + 1));
  if (!set) return ENOMEM;  // a thread must not end by an exception
  CPU_ZERO_S(size, set.get());
  CPU_SET_S(cpu, size, set.get());
  return sched_setaffinity(0, size, set.get()) == 0 ? 0 : errno;
}

double seconds_since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}

void run_bound(const std::vector<bound_function>& functions) {
  // Each thread increments this counter when it is bound, and all threads start when all are counted.
  // Partner: the release of fetch_add and the acquire of load make an error, which a thread stores before it
  // counts itself, visible to all.
  std::atomic<std::size_t> ready{0};
  std::atomic<int> error{0};
  // The first exception of a function. Relaxed: `threads.clear()` joins the thread that stored it.
  std::atomic<bool> has_thrown{false};
  std::exception_ptr thrown;
  const auto run = [&](const bound_function& one) {
    try {
      one.body();
    } catch (...) {
      if (!has_thrown.exchange(true, std::memory_order_relaxed)) thrown = std::current_exception();
    }
  };
  std::vector<std::jthread> threads;
  threads.reserve(functions.size());
  try {
    for (const bound_function& one : functions) {
      threads.emplace_back([&] {
        if (const int failed = bind_this_thread(one.cpu); failed != 0)
          error.store(failed, std::memory_order_relaxed);
        ready.fetch_add(1, std::memory_order_release);
        while (ready.load(std::memory_order_acquire) != functions.size()) std::this_thread::yield();
        if (error.load(std::memory_order_relaxed) == 0) run(one);
      });
    }
  } catch (...) {
    // The threads that have started must not wait for threads that could not be started.
    error.store(EAGAIN, std::memory_order_relaxed);
    ready.fetch_add(functions.size() - threads.size(), std::memory_order_release);
    throw;
  }
  threads.clear();  // joins them, which makes their stores of `error` visible here
  if (const int failed = error.load(std::memory_order_relaxed); failed != 0)
    throw std::system_error(failed, std::generic_category(), "a thread cannot be bound to a CPU");
  if (thrown) std::rethrow_exception(thrown);
}

std::vector<unsigned> allowed_cpus() {
  for (std::size_t cpus = 1024; cpus <= (1U << 20); cpus *= 2) {
    const std::size_t size = CPU_ALLOC_SIZE(cpus);
    const set_pointer set = make_set(cpus);
    if (sched_getaffinity(0, size, set.get()) != 0) {
      if (errno == EINVAL) continue;  // the kernel's mask is longer than the set
      break;
    }
    std::vector<unsigned> result;
    for (unsigned cpu = 0; cpu < cpus; cpu++) {
      if (CPU_ISSET_S(cpu, size, set.get())) result.push_back(cpu);
    }
    SUKIMA_ASSERT(!result.empty(), "a thread may use a CPU");
    return result;
  }
  throw std::system_error(errno, std::generic_category(), "the affinity mask cannot be read");
}

}  // namespace sukima::calibrate_detail
