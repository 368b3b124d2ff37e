// SPDX-License-Identifier: Apache-2.0
// The programs of docs/guide.md.
#include <sukima/sukima.hpp>

#include <array>
#include <atomic>
#include <cstdio>
#include <functional>
#include <limits>
#include <mutex>
#include <ranges>
#include <thread>
#include <vector>

namespace {

// A context is passed on …
long count(sukima::context c, int depth) {
  if (depth == 0) return 1;
  auto [a, b] = sukima::fork2(
      c, [=](sukima::context below) { return count(below, depth - 1); },
      [=](sukima::context below) { return count(below, depth - 1); });
  return a + b;
}

// … or looked up.
long count(int depth) {
  if (depth == 0) return 1;
  auto [a, b] = sukima::fork2([=] { return count(depth - 1); }, [=] { return count(depth - 1); });
  return a + b;
}

// The shortest way through all cities, from the first one on and back.
constexpr int cities = 9;
constexpr int distance(int a, int b) { return (a * 7 + b * 7) % 11 + (a > b ? a - b : b - a) + 1; }

struct tour {
  std::array<int, cities> order{};
  int length = 1;  // of `order`
  int cost = 0;
  unsigned visited = 1;

  bool go_to(int city) {
    if ((visited >> city & 1U) != 0) return false;  // not possible, nothing changed
    cost += distance(order[static_cast<std::size_t>(length - 1)], city);
    order[static_cast<std::size_t>(length++)] = city;
    visited |= 1U << city;
    return true;
  }
  void go_back(int city) {
    visited &= ~(1U << city);
    --length;
    cost -= distance(order[static_cast<std::size_t>(length - 1)], city);
  }
};
using best_tour = sukima::best_solution<std::array<int, cities>, int>;

void extend(sukima::context c, tour& t, best_tour& best) {
  if (t.length == cities) {
    best.offer(t.cost + distance(t.order.back(), 0), t.order);
    return;
  }
  sukima::search(
      c, t, std::views::iota(1, cities), [](tour& mine, int city) { return mine.go_to(city); },
      [](tour& mine, int city) { mine.go_back(city); },
      [&](sukima::context below, tour& mine, int) {
        if (best.promising(mine.cost)) extend(below, mine, best);  // prune here, and not in `go_to`
        return 0;
      },
      std::plus{});
}

// A value that another thread brings.
int wait_for_answer(sukima::context c) {
  int answer = 0;
  std::thread other;
  sukima::suspend(c, [&](sukima::resumer resume) {
    other = std::thread([&answer, resume] {
      answer = 42;
      resume.resume();
    });
  });
  other.join();
  return answer;
}

// A lock that is held while other functions fork.
class log {
 public:
  void add(sukima::context c, int depth) {
    sukima::thread_bound([&] {
      const std::lock_guard hold(lock_);
      lines_.push_back(count(c, depth));
    });
  }
  std::size_t size() const { return lines_.size(); }

 private:
  std::mutex lock_;
  std::vector<long> lines_;
};

}  // namespace

int main() {
  const long with = sukima::run([](sukima::context c) { return count(c, 12); });
  const long without = count(12);
  std::printf("%ld %ld\n", with, without);

  best_tour best(std::numeric_limits<int>::max());
  tour t;
  sukima::run([&](sukima::context c) { extend(c, t, best); });
  std::printf("shortest tour: %d\n", best.bound());

  std::printf("answer: %d\n", sukima::run([](sukima::context c) { return wait_for_answer(c); }));

  log lines;
  sukima::parallel_for(0, 20, [&](sukima::context c, int) { lines.add(c, 5); });
  std::printf("%zu lines\n", lines.size());

  int left = 1;
  int right = 2;
  auto [a, b] = sukima::fork2([&]() -> int& { return left; }, [&]() -> const int& { return right; });
  a += b;  // changes `left`
  std::printf("left: %d\n", left);

  // Each of the runtime's own threads says hello and goodbye.
  std::atomic<int> threads{0};
  sukima::settings settings;
  settings.workers = 3;
  settings.elastic = false;
  settings.on_worker_start = [&](int /*worker*/) { ++threads; };
  settings.on_worker_end = [&](int /*worker*/) { --threads; };
  {
    sukima::runtime runtime(settings);
    runtime.run([](sukima::context c) { return count(c, 10); });
  }
  std::printf("threads left: %d\n", threads.load());
}
