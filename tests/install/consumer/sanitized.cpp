// SPDX-License-Identifier: Apache-2.0
// A user's program that is compiled with a sanitizer: sanitized WORKERS [race|overflow|stolen-overflow]
//
// Without a second argument no sanitizer has anything to report: what one task writes, others read only where
// the library's documentation allows it. None of it is atomic, so ThreadSanitizer would notice. `race` and
// the overflows are real faults, which must be reported.
#include <sukima/sukima.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <ranges>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using sukima::context;

void expect(bool holds, const char* claim) {
  if (holds) return;
  std::fprintf(stderr, "sanitized: wrong result: %s\n", claim);
  std::exit(3);
}

/// Forks until the condition holds, so that idle workers are served during the wait.
template <class Condition> void poll_until(context c, Condition condition) {
  while (!condition()) {
    sukima::fork2(c, [] {}, [] {});
    std::this_thread::yield();
  }
}

/// Writes the numbers [from, to) in two halves, and reads what both have written.
long fill(context c, std::vector<long>& cells, std::size_t from, std::size_t to) {
  if (to - from == 1) {
    cells[from] = static_cast<long>(from);
    return cells[from];
  }
  const std::size_t middle = (from + to) / 2;
  const std::vector<long> captured(3, static_cast<long>(to));
  const auto [a, b] = sukima::fork2(
      c, [&](context below) { return fill(below, cells, from, middle); },
      [&cells, middle, captured](context below) {
        return fill(below, cells, middle, static_cast<std::size_t>(captured[1]));
      });
  const auto begin = cells.begin() + static_cast<std::ptrdiff_t>(from);
  const long sum = std::accumulate(begin, cells.begin() + static_cast<std::ptrdiff_t>(to), 0L);
  expect(sum == a + b, "what both branches wrote");
  return sum;
}

void forks(context c) {
  std::vector<long> cells(2000);
  expect(fill(c, cells, 0, cells.size()) == 1999000, "forks");
}

void loops(context c) {
  std::vector<int> v(20'000);
  sukima::parallel_for(c, std::size_t{0}, v.size(), [&](std::size_t i) { v[i] = static_cast<int>(i % 7); });
  expect(std::accumulate(v.begin(), v.end(), 0L) == 59'997, "a loop");
  std::vector<std::string> texts(300);
  sukima::parallel_for(c, 0, 300, [&](context below, int i) {
    sukima::parallel_for(below, 0, 4, [&](int k) {
      if (k == i % 4) texts[static_cast<std::size_t>(i)] = std::to_string(i % 10);
    });
  });
  const std::string text =
      sukima::parallel_reduce(c, texts, std::string(), [](const std::string& s) { return s; }, std::plus{});
  expect(text.size() == 300 && text.substr(0, 11) == "01234567890", "a reduction");
  sukima::parallel_sort(c, v);
  expect(std::is_sorted(v.begin(), v.end()), "a sort");
  std::vector<int> totals(v.size());
  sukima::parallel_scan(c, v, totals.begin());
  expect(totals.back() == 59'997, "a scan");
  sukima::worker_local<std::vector<int>> found;
  sukima::parallel_for(c, 0, 5000, [&](int i) { found.local().push_back(i); });
  std::size_t count = 0;
  found.for_each([&](const std::vector<int>& some) { count += some.size(); });
  expect(count == 5000, "objects of the workers");
}

struct board {
  std::vector<int> columns;
  bool allows(int column) const {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const int distance = static_cast<int>(columns.size() - i);
      if (std::abs(columns[i] - column) == distance || columns[i] == column) return false;
    }
    return true;
  }
};

long queens(context c, board& b, int n) {
  if (static_cast<int>(b.columns.size()) == n) return 1;
  return sukima::search(
      c, b, std::views::iota(0, n),
      [](board& w, int column) {
        if (!w.allows(column)) return false;
        w.columns.push_back(column);
        return true;
      },
      [](board& w, int) { w.columns.pop_back(); },
      [n](context below, board& w, int) { return queens(below, w, n); }, std::plus{});
}

void searches(context c) {
  board b;
  expect(queens(c, b, 7) == 40, "a search");
  expect(b.columns.empty(), "the workspace after a search");
}

void suspensions(context c) {
  sukima::parallel_for(c, 0, 20, [](context below, int i) {
    int before = i;
    int answer = 0;
    std::thread other;
    sukima::fork2(
        below,
        [&](context deeper) {
          sukima::suspend(deeper, [&](sukima::resumer r) {
            other = std::thread([&answer, &before, r] {
              answer = before + 1;
              r.resume();
            });
          });
          expect(answer == i + 1, "what was written before resume");
        },
        [&](context) { return std::string("work that others may take"); });
    other.join();
  });
}

void groups(context c) {
  std::vector<int> seen(300);
  sukima::task_group group(c);
  for (std::size_t i = 0; i < 100; ++i)
    group.run(c, [&seen, &group, i](context below) {
      seen[i] = 1;
      group.run(below, [&seen, i] { seen[100 + i] = seen[i]; });
      group.run(below, [&seen, i] { seen[200 + i] = seen[i]; });
    });
  group.wait(c);
  expect(std::accumulate(seen.begin(), seen.end(), 0) == 300, "a group");
  for (int round = 0; round < 100; ++round) {
    std::vector<int> some(8);
    sukima::task_group small(c);
    for (int& n : some) small.run(c, [&n] { n = 1; });
    small.wait(c);
    expect(std::accumulate(some.begin(), some.end(), 0) == 8, "a small group");
  }
}

/// Something with a destructor in each frame that an exception leaves.
void throw_at(context c, int depth) {
  const std::string here(40, static_cast<char>('a' + depth));
  volatile char frame[64] = {};
  frame[static_cast<std::size_t>(depth)] = 1;
  expect(frame[depth] == 1, "a frame");
  if (depth == 0) throw std::runtime_error("thrown by " + here);
  sukima::fork2(
      c, [&](context below) { poll_until(below, [n = 0]() mutable { return ++n > 3; }); },
      [&](context below) { throw_at(below, depth - 1); });
}

void exceptions(context c) {
  for (int round = 0; round < 30; ++round) {
    try {
      throw_at(c, 12);
      expect(false, "an exception");
    } catch (const std::runtime_error& e) {
      expect(std::strlen(e.what()) == 50, "the text of an exception");
    }
    bool ended = true;
    int reason = 0;
    std::thread other;
    ended = sukima::cancellable(c, [&](context below, sukima::canceller cancel) {
      other = std::thread([&reason, cancel] {
        reason = 5;
        cancel.cancel();
      });
      poll_until(below, [] { return false; });
    });
    expect(!ended && reason == 5, "a cancelled computation");
    other.join();
  }
}

void everything(sukima::runtime& runtime) {
  runtime.run([](context c) {
    forks(c);
    loops(c);
    searches(c);
    suspensions(c);
    groups(c);
    exceptions(c);
    sukima::fork(c, forks, loops, searches, groups);
  });
}

/// The second branch writes, sets a flag for the first one, and then does not use the runtime until the first
/// one has written, too: nothing orders the two writes, and yet they do not happen at the same moment, when
/// ThreadSanitizer may miss them. Each variable has a cache line of its own, because it remembers only four
/// accesses to the same eight bytes.
void race(context c) {
  alignas(64) volatile int shared = 0;
  alignas(64) std::atomic<bool> begun{false};
  alignas(64) std::atomic<bool> written{false};
  sukima::fork2(
      c,
      [&](context below) {
        poll_until(below, [&] { return begun.load(std::memory_order_relaxed); });
        shared = 1;
        written.store(true, std::memory_order_relaxed);
      },
      [&](context) {
        shared = 2;
        begun.store(true, std::memory_order_relaxed);
        while (!written.load(std::memory_order_relaxed)) std::this_thread::yield();
      });
  std::printf("shared %d\n", shared);
}

volatile int too_large = 17;

[[gnu::noinline]] void overflow() {
  volatile char buffer[16] = {};
  buffer[too_large] = 1;
  std::printf("buffer %d\n", buffer[3]);
}

void stolen_overflow(context c) {
  std::atomic<bool> begun{false};
  sukima::fork2(
      c, [&](context below) { poll_until(below, [&] { return begun.load(); }); },
      [&](context) {
        begun = true;
        overflow();
      });
}

}  // namespace

int main(int count, char** arguments) {
  sukima::settings chosen = sukima::settings::from_environment();
  chosen.workers = count > 1 ? static_cast<unsigned>(std::atoi(arguments[1])) : 2;
  chosen.elastic = false;
  const std::string fault = count > 2 ? arguments[2] : "";
  sukima::runtime runtime(chosen);
  if (fault == "race") runtime.run(race);
  if (fault == "overflow") runtime.run([](context c) { sukima::fork2(c, overflow, [] {}); });
  if (fault == "stolen-overflow") runtime.run(stolen_overflow);
  if (!fault.empty()) return 0;
  everything(runtime);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back([&] { runtime.run(forks); });
  for (std::thread& t : threads) t.join();
  std::printf("ok\n");
  return 0;
}
