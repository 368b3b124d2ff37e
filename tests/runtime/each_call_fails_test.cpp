// SPDX-License-Identifier: Apache-2.0
// Each call of a user's fails in turn: copies and moves of captures and results, steps of searches, what a
// suspension calls. The first failure has nothing behind it that must be undone; later ones have.
#include "support.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <thread>
#include <vector>

namespace {

using sukima::context;
using support::fail_each_call;
using support::failing_call;
using support::fragile;

fragile sum(context c, int n) {
  if (n < 2) return fragile(n);
  const fragile captured(n);
  auto [a, b] = sukima::fork2(
      c, [captured](context below) { return sum(below, captured.value() - 1); },
      [captured](context below) { return sum(below, captured.value() - 2); });
  return fragile(a.value() + b.value());
}

TEST(each_call_fails, of_forks) {
  fail_each_call(300,
                 [](sukima::runtime& r) { return r.run([](context c) { return sum(c, 8).value(); }) == 21; });
}

TEST(each_call_fails, of_loops) {
  fail_each_call(60, [](sukima::runtime& r) {
    std::atomic<int> n{0};
    r.run([&](context c) {
      const fragile captured(1);
      sukima::parallel_for(c, 0, 50, [&n, captured](int) {
        failing_call::may_fail();
        n += captured.value();
      });
    });
    return n == 50;
  });
}

TEST(each_call_fails, of_reductions) {
  fail_each_call(300, [](sukima::runtime& r) {
    const fragile all = r.run([](context c) {
      return sukima::parallel_reduce(
          c, 0, 60, fragile(0), [](int i) { return fragile(i); },
          [](const fragile& a, const fragile& b) { return fragile(a.value() + b.value()); });
    });
    return all.value() == 1770;
  });
}

TEST(each_call_fails, of_scans) {
  fail_each_call(200, [](sukima::runtime& r) {
    const std::vector<int> in(60, 1);
    std::vector<int> out(60);
    r.run([&](context c) {
      sukima::parallel_scan(c, in, out.begin(), [](int a, int b) {
        failing_call::may_fail();
        return a + b;
      });
    });
    return out.back() == 60;
  });
}

TEST(each_call_fails, of_sorting) {
  fail_each_call(200, [](sukima::runtime& r) {
    std::vector<int> v(3000);
    std::iota(v.begin(), v.end(), 0);
    std::reverse(v.begin(), v.end());
    const long every = 100;
    std::atomic<long> compared{0};
    r.run([&](context c) {
      sukima::parallel_sort(c, v, [&](int a, int b) {
        if (compared++ % every == 0) failing_call::may_fail();
        return a < b;
      });
    });
    return std::is_sorted(v.begin(), v.end());
  });
}

struct path {
  std::vector<int> taken;
  support::counted mark;
  path() = default;
  path(const path& other) : taken((failing_call::may_fail(), other.taken)), mark(other.mark) {}
  path& operator=(const path&) = delete;
  ~path() = default;
};

int leaves(context c, path& p, const std::vector<int>& choices, int depth) {
  if (depth == 0) {
    // After a failure the workspace does not matter: the fiber leaves by its next join.
    const std::size_t taken = p.taken.size();
    EXPECT_TRUE(taken == 4 || failing_call::failed() != 0) << taken;
    return 1;
  }
  return sukima::search(
      c, p, choices,
      [](path& v, int i) {
        failing_call::may_fail();
        v.taken.push_back(i);
      },
      [](path& v, int i) {
        const bool is_last = !v.taken.empty() && v.taken.back() == i;
        EXPECT_TRUE(is_last || failing_call::failed() != 0) << "undone in another order than done";
        if (is_last) v.taken.pop_back();
        failing_call::may_fail();
      },
      [&](context below, path& v, int) { return leaves(below, v, choices, depth - 1); }, 0, std::plus<>{});
}

TEST(each_call_fails, of_searches) {
  const std::vector<int> choices{0, 1, 2};
  fail_each_call(260, [&](sukima::runtime& r) {
    path root;
    return r.run([&](context c) { return leaves(c, root, choices, 4); }) == 81;
  });
}

TEST(each_call_fails, of_groups) {
  fail_each_call(100, [](sukima::runtime& r) {
    std::atomic<int> n{0};
    r.run([&](context c) {
      sukima::task_group group(c);
      for (int i = 0; i < 20; ++i) {
        const fragile captured(1);
        group.run(c, [&n, captured] {
          failing_call::may_fail();
          n += captured.value();
        });
      }
      group.wait(c);
    });
    return n == 20;
  });
}

TEST(each_call_fails, of_suspensions) {
  fail_each_call(20, [](sukima::runtime& r) {
    std::atomic<int> n{0};
    r.run([&](context c) {
      sukima::parallel_for(c, 0, 10, [&](context below, int) {
        const fragile captured(1);
        sukima::suspend(below, [captured](sukima::resumer s) {
          failing_call::may_fail();
          s.resume();
        });
        n += captured.value();
      });
    });
    return n == 10;
  });
}

}  // namespace
