// SPDX-License-Identifier: Apache-2.0
// The algorithms of the TBB headers give the results of sequential code, in arenas of several sizes.
#include <tbb/parallel_for.h>
#include <tbb/parallel_for_each.h>
#include <tbb/parallel_invoke.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/parallel_reduce.h>
#include <tbb/parallel_scan.h>
#include <tbb/parallel_sort.h>
#include <tbb/task_arena.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <forward_list>
#include <functional>
#include <iterator>
#include <list>
#include <mutex>
#include <numeric>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

class algorithms : public testing::TestWithParam<int> {
 protected:
  /// Calls f in an arena with so many workers.
  template <class F> void run(F f) {
    tbb::task_arena arena(GetParam());
    arena.execute(f);
  }
};
INSTANTIATE_TEST_SUITE_P(workers, algorithms, testing::Values(1, 2, 4),
                         [](const auto& each) { return std::to_string(each.param) + "_workers"; });

template <class F> void with_partitioners(F f) {
  f(tbb::simple_partitioner());
  f(tbb::auto_partitioner());
  f(tbb::static_partitioner());
  tbb::affinity_partitioner affinity;
  f(affinity);
}

TEST_P(algorithms, for_calls_each_index_once) {
  run([] {
    for (const int n : {0, 1, 2, 3, 17, 1000, 20'000})
      with_partitioners([n](auto&& partitioner) {
        std::vector<std::atomic<int>> calls(static_cast<std::size_t>(n));
        tbb::parallel_for(0, n, [&](int i) { ++calls[static_cast<std::size_t>(i)]; }, partitioner);
        for (const auto& each : calls) ASSERT_EQ(each.load(), 1);
      });
  });
}

TEST_P(algorithms, for_goes_in_steps) {
  run([] {
    std::vector<std::atomic<int>> calls(100);
    tbb::parallel_for(std::size_t{1}, std::size_t{100}, std::size_t{7}, [&](std::size_t i) { ++calls[i]; });
    for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(calls[i].load(), i % 7 == 1 ? 1 : 0) << i;
  });
  EXPECT_THROW(tbb::parallel_for(0, 10, 0, [](int) {}), std::invalid_argument);
}

/// An index with the operations that TBB requires, and no others.
class place {
 public:
  place(int number) : number_(number) {}  // NOLINT(google-explicit-constructor)
  friend bool operator<(const place& a, const place& b) { return a.number_ < b.number_; }
  friend std::size_t operator-(const place& a, const place& b) {
    return static_cast<std::size_t>(a.number_ - b.number_);
  }
  friend place operator+(const place& a, std::size_t distance) {
    return {a.number_ + static_cast<int>(distance)};
  }
  int number() const { return number_; }

 private:
  int number_;
};
TEST_P(algorithms, for_takes_indices_that_are_not_numbers) {
  run([] {
    with_partitioners([](auto&& partitioner) {
      std::vector<std::atomic<int>> calls(100);
      const auto count = [&](const place& at) { ++calls[static_cast<std::size_t>(at.number())]; };
      tbb::parallel_for(place(1), place(100), count, partitioner);
      tbb::parallel_for(place(1), place(100), place(7), count, partitioner);
      for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(calls[i].load(), i == 0 ? 0 : i % 7 == 1 ? 2 : 1) << i;
    });
  });
}
/// More iterations than the index type can count.
TEST_P(algorithms, for_takes_all_values_of_a_small_index) {
  run([] {
    std::atomic<int> calls{0};
    std::atomic<int> sum{0};
    tbb::parallel_for(static_cast<signed char>(-128), static_cast<signed char>(127), [&](signed char i) {
      ++calls;
      sum += i;
    });
    EXPECT_EQ(calls.load(), 255);
    EXPECT_EQ(sum.load(), -255);
  });
}

/// A leaf of simple_partitioner is as long as half a grain at least, and as a grain at most.
TEST_P(algorithms, for_respects_the_grain) {
  run([] {
    std::atomic<std::size_t> sum{0};
    tbb::parallel_for(
        tbb::blocked_range<std::size_t>(0, 10'000, 64),
        [&](const tbb::blocked_range<std::size_t>& part) {
          EXPECT_LE(part.size(), 64u);
          EXPECT_GE(part.size(), 32u);
          sum += part.size();
        },
        tbb::simple_partitioner());
    EXPECT_EQ(sum, 10'000u);
  });
}

/// Joins in order, so that the concatenation is right.
struct concatenation {
  std::string text;
  concatenation() = default;
  concatenation(concatenation&, tbb::split) {}
  void operator()(const tbb::blocked_range<int>& part) {
    for (int i = part.begin(); i != part.end(); ++i) text += static_cast<char>('a' + i % 26);
  }
  void join(concatenation& right) { text += right.text; }
};
std::string alphabets(int n) {
  concatenation all;
  all(tbb::blocked_range<int>(0, n));
  return all.text;
}

TEST_P(algorithms, reduce_keeps_the_order) {
  run([] {
    for (const int n : {0, 1, 26, 5000})
      with_partitioners([n](auto&& partitioner) {
        concatenation body;
        tbb::parallel_reduce(tbb::blocked_range<int>(0, n), body, partitioner);
        EXPECT_EQ(body.text, alphabets(n));
        const std::string text = tbb::parallel_reduce(
            tbb::blocked_range<int>(0, n), std::string(),
            [](const tbb::blocked_range<int>& part, std::string before) {
              for (int i = part.begin(); i != part.end(); ++i) before += static_cast<char>('a' + i % 26);
              return before;
            },
            std::plus<>(), partitioner);
        EXPECT_EQ(text, alphabets(n));
      });
  });
}

/// Floating-point sums differ if they are grouped in another way.
/// Values may be expensive to copy: the functions get them as rvalues.
TEST_P(algorithms, reduce_moves_its_values) {
  run([] {
    using numbers = std::vector<int>;
    const numbers all = tbb::parallel_reduce(
        tbb::blocked_range<int>(0, 1000), numbers(),
        [](const tbb::blocked_range<int>& part, numbers&& before) {
          for (int i = part.begin(); i < part.end(); ++i) before.push_back(i);
          return std::move(before);
        },
        [](numbers&& left, numbers&& right) {
          left.insert(left.end(), right.begin(), right.end());
          return std::move(left);
        });
    ASSERT_EQ(all.size(), 1000u);
    for (int i = 0; i < 1000; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)], i);
  });
}

TEST_P(algorithms, deterministic_reduce_always_groups_in_the_same_way) {
  run([] {
    const auto sum = [] {
      return tbb::parallel_deterministic_reduce(
          tbb::blocked_range<int>(0, 3000, 10), 0.0,
          [](const tbb::blocked_range<int>& part, double before) {
            for (int i = part.begin(); i != part.end(); ++i) before += 1.0 / (1 + i);
            return before;
          },
          std::plus<>());
    };
    const double first = sum();
    for (int i = 0; i < 20; ++i) EXPECT_EQ(sum(), first);
  });
}

TEST_P(algorithms, scan_gives_the_running_sums) {
  run([] {
    for (const std::size_t n : {0, 1, 2, 100, 10'000})
      for (const bool simple : {false, true}) {
        std::vector<long> sums(n);
        const auto scan = [&](const tbb::blocked_range<std::size_t>& part, long before, bool is_final) {
          for (std::size_t i = part.begin(); i != part.end(); ++i) {
            before += static_cast<long>(i);
            if (is_final) sums[i] = before;
          }
          return before;
        };
        const tbb::blocked_range<std::size_t> all(0, n, 3);
        const long total = simple
                               ? tbb::parallel_scan(all, 0L, scan, std::plus<>(), tbb::simple_partitioner())
                               : tbb::parallel_scan(all, 0L, scan, std::plus<>());
        long expected = 0;
        for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(sums[i], expected += static_cast<long>(i));
        EXPECT_EQ(total, expected);
      }
  });
}

/// Forks now and then while it waits, so that another worker can take a part.
template <class Condition> void wait_until(Condition condition) {
  while (!condition()) {
    tbb::parallel_invoke([] {}, [] {});
    std::this_thread::yield();
  }
}

/// The function takes the tag itself, as bodies do.
TEST_P(algorithms, scan_gives_its_tag_to_functions) {
  run([] {
    std::vector<int> sums(1000);
    const int sum = tbb::parallel_scan(
        tbb::blocked_range<int>(0, 1000), 0,
        [&]<class Tag>(const tbb::blocked_range<int>& part, int before, Tag) -> int {
          for (int i = part.begin(); i < part.end(); ++i) {
            before += i;
            if (Tag::is_final_scan()) sums[static_cast<std::size_t>(i)] = before;
          }
          return before;
        },
        std::plus<>());
    EXPECT_EQ(sum, 999 * 500);
    for (int i = 0; i < 1000; ++i) EXPECT_EQ(sums[static_cast<std::size_t>(i)], i * (i + 1) / 2);
  });
}

/// The first part waits until another worker has begun one, so there are two bodies at least.
TEST(algorithms_of_two, reduce_joins_bodies_in_order) {
  tbb::task_arena two(2);
  two.execute([] {
    std::atomic<bool> taken{false};
    const std::string text = tbb::parallel_reduce(
        tbb::blocked_range<int>(0, 5000), std::string(),
        [&](const tbb::blocked_range<int>& part, std::string before) {
          if (part.begin() == 0) wait_until([&] { return taken.load(); });
          taken = true;
          for (int i = part.begin(); i != part.end(); ++i) before += static_cast<char>('a' + i % 26);
          return before;
        },
        std::plus<>());
    EXPECT_EQ(text, alphabets(5000));
  });
}

TEST(algorithms_of_two, scan_goes_again_over_parts_that_were_taken) {
  tbb::task_arena two(2);
  two.execute([] {
    constexpr std::size_t n = 10'000;
    std::atomic<bool> taken{false};
    std::vector<long> sums(n);
    const long total = tbb::parallel_scan(
        tbb::blocked_range<std::size_t>(0, n), 0L,
        [&](const tbb::blocked_range<std::size_t>& part, long before, bool is_final) {
          if (part.begin() == 0) wait_until([&] { return taken.load(); });
          if (!is_final) taken = true;
          for (std::size_t i = part.begin(); i != part.end(); ++i) {
            before += static_cast<long>(i);
            if (is_final) sums[i] = before;
          }
          return before;
        },
        std::plus<>());
    long expected = 0;
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(sums[i], expected += static_cast<long>(i));
    EXPECT_EQ(total, expected);
  });
}

template <class Sequence> void expect_sum(Sequence&& items, long expected) {
  std::atomic<long> sum{0};
  tbb::parallel_for_each(items.begin(), items.end(), [&](int item) { sum += item; });
  EXPECT_EQ(sum, expected);
  tbb::parallel_for_each(items, [&](int item) { sum -= item; });
  EXPECT_EQ(sum, 0);
}

/// Sums, and checks that each body takes the steps of TBB's bodies.
struct stepping_scan {
  enum class state { partial, full, assigned };
  std::vector<long>& sums;
  std::atomic<bool>& taken;
  long sum = 0;
  state now = state::full;
  stepping_scan(std::vector<long>& s, std::atomic<bool>& t) : sums(s), taken(t) {}
  stepping_scan(stepping_scan& other, tbb::split)
      : sums(other.sums), taken(other.taken), now(state::partial) {}
  template <class Tag> void operator()(const tbb::blocked_range<std::size_t>& part, Tag tag) {
    if (part.begin() == 0) wait_until([&] { return taken.load(); });
    taken = taken || !tag;
    EXPECT_EQ(now, tag ? state::full : state::partial);
    for (std::size_t i = part.begin(); i != part.end(); ++i) {
      sum += static_cast<long>(i);
      if (tag) sums[i] = sum;
    }
  }
  void reverse_join(const stepping_scan& left) {
    EXPECT_EQ(now, state::partial);
    EXPECT_NE(left.now, state::assigned);
    sum += left.sum;
    now = left.now;
  }
  void assign(const stepping_scan& last) {
    EXPECT_EQ(now, state::full);
    EXPECT_EQ(last.now, state::full);
    sum = last.sum;
    now = state::assigned;
  }
};
TEST(algorithms_of_two, scan_assigns_at_its_end_only) {
  tbb::task_arena two(2);
  two.execute([] {
    constexpr std::size_t n = 10'000;
    std::atomic<bool> taken{false};
    std::vector<long> sums(n);
    stepping_scan body(sums, taken);
    tbb::parallel_scan(tbb::blocked_range<std::size_t>(0, n), body);
    long expected = 0;
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(sums[i], expected += static_cast<long>(i));
    EXPECT_EQ(body.sum, expected);
    EXPECT_EQ(body.now, stepping_scan::state::assigned);
  });
}

/// TBB does not look whether a sequence has a `begin` that is const.
struct only_mutable {
  int* begin() { return nullptr; }
  int* end() { return nullptr; }
};
template <class Sequence>
concept takes_each = requires(Sequence& items) { tbb::parallel_for_each(items, [](int&) {}); };
static_assert(takes_each<only_mutable>);
static_assert(takes_each<const only_mutable>);
static_assert(!takes_each<const int>);

/// Its move may throw, so that a growing vector would copy it.
struct counted_item {
  static inline std::atomic<int> copies{0};
  counted_item() = default;
  counted_item(const counted_item&) { ++copies; }
  counted_item(counted_item&&) noexcept(false) {}
};
/// Makes its items.
class maker {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = counted_item;
  using difference_type = std::ptrdiff_t;
  using pointer = counted_item*;
  using reference = counted_item;
  explicit maker(int left) : left_(left) {}
  counted_item operator*() const { return {}; }
  maker& operator++() {
    --left_;
    return *this;
  }
  void operator++(int) { --left_; }
  bool operator==(const maker&) const = default;

 private:
  int left_;
};
TEST_P(algorithms, for_each_moves_items) {
  run([] {
    counted_item::copies = 0;
    std::atomic<int> calls{0};
    tbb::parallel_for_each(maker(100), maker(0), [&](counted_item&&) { ++calls; });
    EXPECT_EQ(calls.load(), 100);
    EXPECT_EQ(counted_item::copies.load(), 0);
  });
}

TEST_P(algorithms, for_each_takes_all_kinds_of_iterators) {
  run([] {
    std::vector<int> numbers(3000);
    std::iota(numbers.begin(), numbers.end(), 0);
    const long expected = std::accumulate(numbers.begin(), numbers.end(), 0L);
    expect_sum(numbers, expected);
    expect_sum(std::list<int>(numbers.begin(), numbers.end()), expected);
    expect_sum(std::forward_list<int>(numbers.begin(), numbers.end()), expected);
    std::stringstream text;
    for (const int number : numbers) text << number << ' ';
    std::atomic<long> sum{0};
    tbb::parallel_for_each(std::istream_iterator<int>(text), std::istream_iterator<int>(),
                           [&](int item) { sum += item; });
    EXPECT_EQ(sum, expected);
  });
}

TEST_P(algorithms, for_each_calls_what_the_feeder_adds) {
  run([] {
    std::mutex lock;
    std::multiset<int> seen;
    const std::vector<int> roots{1};
    tbb::parallel_for_each(roots, [&](int item, tbb::feeder<int>& feeder) {
      {
        const std::lock_guard hold(lock);
        seen.insert(item);
      }
      if (item >= 1024) return;
      feeder.add(2 * item);
      feeder.add(2 * item + 1);
    });
    ASSERT_EQ(seen.size(), 2047u);
    int next = 1;
    for (const int item : seen) EXPECT_EQ(item, next++);
  });
}

/// The body names the type of its items. The sequence has others, which are converted.
TEST_P(algorithms, for_each_converts_to_the_items_of_the_feeder) {
  run([] {
    struct depth {
      depth(int d) : left(d) {}  // NOLINT(google-explicit-constructor)
      int left;
    };
    std::atomic<int> calls{0};
    tbb::parallel_for_each(std::list<int>{3, 4}, [&](const depth& item, tbb::feeder<depth>& feeder) {
      ++calls;
      if (item.left > 0) feeder.add(depth(item.left - 1));
    });
    EXPECT_EQ(calls.load(), 4 + 5);
  });
}

TEST_P(algorithms, invoke_calls_all_functions) {
  run([] {
    std::atomic<int> bits{0};
    tbb::parallel_invoke([&] { bits += 1; }, [&] { bits += 2; }, [&] { bits += 4; }, [&] { bits += 8; });
    EXPECT_EQ(bits, 15);
    tbb::task_group_context context;
    tbb::parallel_invoke([&] { bits += 16; }, [&] { bits += 32; }, context);
    EXPECT_EQ(bits, 63);
  });
}

struct incomparable {};
template <class T>
concept sorted_by_itself = requires(std::vector<T>& all) { tbb::parallel_sort(all); } &&
                           requires(typename std::vector<T>::iterator at) { tbb::parallel_sort(at, at); };
static_assert(sorted_by_itself<int>);
static_assert(!sorted_by_itself<incomparable>);

TEST_P(algorithms, sort_sorts) {
  run([] {
    std::vector<int> numbers(20'000);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int>(i * 7919 % 10'007);
    std::vector<int> others = numbers;
    tbb::parallel_sort(numbers);
    EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
    tbb::parallel_sort(others.begin(), others.end(), std::greater<>());
    EXPECT_TRUE(std::is_sorted(others.rbegin(), others.rend()));
    EXPECT_TRUE(std::equal(numbers.begin(), numbers.end(), others.rbegin()));
  });
}

TEST_P(algorithms, pipeline_keeps_the_order_where_it_must) {
  run([] {
    for (const std::size_t tokens : {1, 3, 1000}) {
      int next = 0;
      std::vector<int> seen;
      std::atomic<int> sum{0};
      tbb::parallel_pipeline(
          tokens, tbb::make_filter<void, int>(tbb::filter_mode::serial_in_order,
                                              [&](tbb::flow_control& control) {
                                                if (next == 500) control.stop();
                                                return next++;
                                              }) &
                      tbb::make_filter<int, std::string>(tbb::filter_mode::parallel,
                                                         [](int number) { return std::to_string(number); }) &
                      tbb::make_filter<std::string, int>(tbb::filter_mode::serial_out_of_order,
                                                         [&](const std::string& text) {
                                                           sum += std::stoi(text);
                                                           return std::stoi(text);
                                                         }) &
                      tbb::make_filter<int, void>(tbb::filter_mode::serial_in_order,
                                                  [&](int number) { seen.push_back(number); }));
      ASSERT_EQ(seen.size(), 500u);
      for (int i = 0; i < 500; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], i);
      EXPECT_EQ(sum, 499 * 250);
    }
  });
}

/// The bodies name the types of the stages.
TEST_P(algorithms, pipeline_deduces_the_types_of_its_stages) {
  run([] {
    constexpr tbb::filter_mode mode = tbb::filter_mode::serial_in_order;
    int next = 0;
    const auto read = [&](tbb::flow_control& control) {
      if (next == 100) control.stop();
      return next++;
    };
    const auto text = [](const int& number) noexcept { return std::to_string(number); };
    std::string all;
    const auto write = [&](std::string part) { all += part; };
    const auto stages = tbb::make_filter(mode, read) & tbb::make_filter(tbb::filter_mode::parallel, text) &
                        tbb::filter(mode, write);
    static_assert(std::is_same_v<decltype(stages), const tbb::filter<void, void>>);
    tbb::parallel_pipeline(10, stages);
    std::string expected;
    for (int i = 0; i < 100; ++i) expected += std::to_string(i);
    EXPECT_EQ(all, expected);
  });
}

TEST_P(algorithms, nest) {
  run([] {
    std::atomic<long> sum{0};
    tbb::parallel_for(0, 30, [&](int i) {
      sum += tbb::parallel_reduce(
          tbb::blocked_range<int>(0, 100), 0,
          [i](const tbb::blocked_range<int>& part, int before) {
            return before + static_cast<int>(part.size()) * i;
          },
          std::plus<>());
    });
    EXPECT_EQ(sum, 100L * 30 * 29 / 2);
  });
}

}  // namespace
