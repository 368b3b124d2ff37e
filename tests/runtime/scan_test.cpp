// SPDX-License-Identifier: Apache-2.0
// parallel_scan and parallel_exclusive_scan against sequential ones: every form, order, counts, exceptions.
#include "support.hpp"

#include <sukima/scan.hpp>

#include <array>
#include <deque>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

using sukima::context;
using sukima::parallel_exclusive_scan;
using sukima::parallel_scan;
using support::counted;
using support::test_error;

class scan_test : public support::runtimes {};
INSTANTIATE_TEST_SUITE_P(workers, scan_test, support::worker_counts(), support::name_of_count);

std::vector<long> some_numbers(std::size_t n) {
  std::mt19937_64 random(n + 1);
  std::vector<long> numbers(n);
  for (long& x : numbers) x = static_cast<long>(random() % 1000) - 500;
  return numbers;
}

TEST_P(scan_test, equals_the_sequential_scans) {
  for (const std::size_t n : std::initializer_list<std::size_t>{0, 1, 2, 3, 10, 1000, 100'000, 1'000'000}) {
    const std::vector<long> in = some_numbers(n);
    std::vector<long> out(n);
    std::vector<long> expected(n);
    const auto expect_same = [&](const char* form) {
      EXPECT_EQ(out, expected) << form << " of " << n;
      std::fill(out.begin(), out.end(), -1);
    };
    std::inclusive_scan(in.begin(), in.end(), expected.begin());
    runtime.run(
        [&](context c) { EXPECT_EQ(parallel_scan(c, in.begin(), in.end(), out.begin()), out.end()); });
    expect_same("inclusive");
    runtime.run([&] { EXPECT_EQ(parallel_scan(in, out.begin()), out.end()); });
    expect_same("inclusive, range, no context");
    std::inclusive_scan(in.begin(), in.end(), expected.begin(), std::plus<>{}, 7L);
    runtime.run([&](context c) { parallel_scan(c, in, out.begin(), std::plus{}, 7L); });
    expect_same("inclusive with a start");
    runtime.run([&] { parallel_scan(in.begin(), in.end(), out.begin(), std::plus{}, 7L); });
    expect_same("inclusive with a start, no context");
    std::exclusive_scan(in.begin(), in.end(), expected.begin(), 7L);
    runtime.run([&](context c) {
      EXPECT_EQ(parallel_exclusive_scan(c, in.begin(), in.end(), out.begin(), 7L), out.end());
    });
    expect_same("exclusive");
    runtime.run([&] { EXPECT_EQ(parallel_exclusive_scan(in, out.begin(), 7L), out.end()); });
    expect_same("exclusive, range, no context");
  }
}

TEST_P(scan_test, may_write_over_its_input) {
  for (int round = 0; round < 10; ++round) {
    const std::vector<long> in = some_numbers(200'000);
    std::vector<long> expected(in.size());
    std::vector<long> both = in;
    std::inclusive_scan(in.begin(), in.end(), expected.begin());
    runtime.run([&](context c) { parallel_scan(c, both, both.begin()); });
    EXPECT_EQ(both, expected);
    both = in;
    std::exclusive_scan(in.begin(), in.end(), expected.begin(), 3L);
    runtime.run([&](context c) { parallel_exclusive_scan(c, both, both.begin(), 3L); });
    EXPECT_EQ(both, expected);
  }
}

/// A part of a sequence: joining parts that are no neighbours shows a wrong order.
struct part {
  int first = 0;
  int last = 0;
};

TEST_P(scan_test, needs_associativity_only) {
  constexpr int n = 20'000;
  std::vector<part> in(n);
  for (int i = 0; i < n; ++i) in[static_cast<std::size_t>(i)] = {i, i + 1};
  for (int round = 0; round < 5; ++round) {
    std::vector<part> out(n);
    std::atomic<int> errors{0};
    runtime.run([&](context c) {
      parallel_scan(c, in, out.begin(), [&](part a, part b) {
        if (a.last != b.first) ++errors;
        support::plain_fib(a.last % 7 + 3);
        return part{a.first, b.last};
      });
    });
    EXPECT_EQ(errors, 0);
    for (int i = 0; i < n; ++i) {
      ASSERT_EQ(out[static_cast<std::size_t>(i)].first, 0);
      ASSERT_EQ(out[static_cast<std::size_t>(i)].last, i + 1);
    }
  }
}

TEST_P(scan_test, carries_another_type_than_the_elements) {
  const std::vector<std::string_view> letters(3000, "x");
  std::vector<std::string> out(letters.size());
  const auto append = [](std::string a, std::string_view b) { return std::move(a.append(b)); };
  runtime.run([&](context c) { parallel_exclusive_scan(c, letters, out.begin(), std::string(">"), append); });
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], ">" + std::string(i, 'x'));
}

TEST_P(scan_test, does_at_most_twice_the_operations) {
  constexpr std::size_t n = 20'000;
  const std::vector<long> in(n, 1);
  std::vector<long> out(n);
  for (int round = 0; round < 10; ++round) {
    std::atomic<std::size_t> operations{0};
    const auto add = [&](long a, long b) {
      ++operations;
      support::plain_fib(6);
      return a + b;
    };
    runtime.run([&](context c) { parallel_scan(c, in, out.begin(), add); });
    EXPECT_LE(operations, 2 * (n - 1));
    EXPECT_GE(operations, n - 1);
    if (GetParam() == 1) {
      EXPECT_EQ(operations, n - 1);
    }
    operations = 0;
    runtime.run([&](context c) { parallel_exclusive_scan(c, in, out.begin(), 0L, add); });
    EXPECT_LE(operations, 2 * n);
    EXPECT_EQ(out[n - 1], static_cast<long>(n) - 1);
  }
}

TEST_P(scan_test, lets_exceptions_pass_and_destroys_all_sums) {
  counted::reset();
  for (int place = 0; place < 3000; place += 250) {
    const std::vector<int> in(3000, 1);
    std::vector<counted> out(in.size());
    const auto add = [&](const counted& a, const auto& b) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(b)>, int>) {
        support::plain_fib(8);
        if (a.value() == place) throw test_error(place);
        return counted(a.value() + b);
      } else {
        return counted(a.value() + b.value());
      }
    };
    EXPECT_EQ(support::message_of([&] {
                runtime.run([&](context c) { parallel_scan(c, in, out.begin(), add, counted(0)); });
              }),
              "error " + std::to_string(place));
  }
  EXPECT_EQ(counted::alive(), 0);
  EXPECT_EQ(counted::errors(), 0);
}

TEST_P(scan_test, takes_other_iterators_and_operations_that_fork) {
  std::deque<int> in(5000, 2);
  std::vector<int> out(in.size());
  runtime.run([&] {
    parallel_scan(in.begin(), in.end(), out.begin(), [](int a, int b) {
      const auto [x, y] = sukima::fork2([=] { return a; }, [=] { return b; });
      return x + y;
    });
  });
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], 2 * (static_cast<int>(i) + 1));
}

/// A number whose sum is a member function.
struct summand {
  long value = 1;
  summand plus(summand other) const { return {value + other.value}; }
};
TEST_P(scan_test, takes_pointers_to_member_functions) {
  const std::vector<summand> ones(10'000);
  std::vector<summand> totals(ones.size());
  runtime.run([&](context c) {
    sukima::parallel_scan(c, ones, totals.begin(), &summand::plus);
    EXPECT_EQ(totals.back().value, 10'000);
    sukima::parallel_exclusive_scan(c, ones, totals.begin(), summand{5}, &summand::plus);
    EXPECT_EQ(totals.back().value, 10'004);
  });
}

TEST_P(scan_test, nests) {
  std::vector<std::vector<long>> rows(50, std::vector<long>(2000, 1));
  runtime.run([&](context c) {
    sukima::parallel_for(
        c, rows, [](context below, std::vector<long>& row) { parallel_scan(below, row, row.begin()); });
  });
  for (const auto& row : rows) ASSERT_EQ(row.back(), 2000);
}

TEST(scan, is_shared_by_two_workers) {
  sukima::runtime two(support::with_workers(2));
  std::vector<int> in(2000, 1);
  std::vector<int> out(in.size());
  const auto here = std::this_thread::get_id();
  std::atomic<int> others{0};
  // The other worker may have no CPU during a scan.
  do {
    two.run([&](context c) {
      parallel_scan(c, in, out.begin(), [&](int a, int b) {
        if (std::this_thread::get_id() != here) ++others;
        std::this_thread::sleep_for(std::chrono::microseconds(50));
        return a + b;
      });
    });
    EXPECT_EQ(out.back(), 2000);
  } while (others == 0);
}

}  // namespace
