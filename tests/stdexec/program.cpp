// SPDX-License-Identifier: Apache-2.0
// A program for stdexec, on Sukima's workers.
#include <sukima/fork.hpp>
#include <sukima/parallel_scheduler.hpp>
#include <sukima/runtime.hpp>

#include <atomic>
#include <cstdio>
#include <exec/async_scope.hpp>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <vector>

namespace {

int failures = 0;

void expect(bool holds, const char* claim) {
  if (holds) return;
  std::printf("failed: %s\n", claim);
  ++failures;
}

void test_bulk(stdexec::parallel_scheduler scheduler, std::size_t count) {
  std::vector<std::atomic<int>> seen(count);
  const auto visit = [&](std::size_t k) { ++seen[k]; };
  const auto visit_all = [&](std::size_t from, std::size_t to) {
    for (; from < to; ++from) ++seen[from];
  };
  stdexec::sync_wait(stdexec::schedule(scheduler) | stdexec::bulk(stdexec::par, count, visit));
  stdexec::sync_wait(stdexec::schedule(scheduler) | stdexec::bulk_unchunked(stdexec::par, count, visit));
  stdexec::sync_wait(stdexec::schedule(scheduler) | stdexec::bulk_chunked(stdexec::par, count, visit_all));
  bool thrice = true;
  for (const auto& one : seen) thrice = thrice && one == 3;
  expect(thrice, "bulk visits each item once");
}

/// Two pieces of work that wait for each other. Forks let their worker give the other one away.
void test_meeting(stdexec::parallel_scheduler scheduler) {
  std::atomic<int> begun{0};
  const auto meet = [&] {
    ++begun;
    while (begun.load() < 2) sukima::fork2([] {}, [] {});
  };
  const auto work = stdexec::schedule(scheduler) | stdexec::then(meet);
  stdexec::sync_wait(stdexec::when_all(work, work));
  expect(begun == 2, "two pieces of work meet");
}

void test_errors(stdexec::parallel_scheduler scheduler) {
  const auto fails = [] { throw std::runtime_error("thrown"); };
  try {
    stdexec::sync_wait(stdexec::schedule(scheduler) | stdexec::then(fails));
    expect(false, "an exception arrives");
  } catch (const std::runtime_error& error) {
    expect(std::string_view(error.what()) == "thrown", "an exception arrives as it was");
  }
}

void test_stop(stdexec::parallel_scheduler scheduler) {
  exec::async_scope scope;
  scope.request_stop();
  std::atomic<bool> ran{false};
  scope.spawn(stdexec::schedule(scheduler) | stdexec::then([&] { ran = true; }));
  stdexec::sync_wait(scope.on_empty());
  expect(!ran, "stopped work does not run");
}

}  // namespace

int main() {
  const stdexec::parallel_scheduler scheduler = stdexec::get_parallel_scheduler();
  const auto id = stdexec::schedule(scheduler) | stdexec::then([] { return std::this_thread::get_id(); });
  expect(std::get<0>(*stdexec::sync_wait(id)) != std::this_thread::get_id(), "work runs on another thread");
  for (const std::size_t count : {0, 1, 1000, 100'003}) test_bulk(scheduler, count);
  if (sukima::default_runtime().workers() > 1) test_meeting(scheduler);
  test_errors(scheduler);
  test_stop(scheduler);
  if (failures == 0) std::puts("passed");
  return failures == 0 ? 0 : 1;
}
