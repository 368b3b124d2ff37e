// SPDX-License-Identifier: Apache-2.0
// worker_local: one object for each worker, factories, reductions, misuse.
#include "support.hpp"

#include <sukima/worker_local.hpp>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

using sukima::context;
using sukima::worker_local;
using support::counted;
using support::test_error;

class worker_local_test : public support::runtimes {};
INSTANTIATE_TEST_SUITE_P(workers, worker_local_test, support::worker_counts(), support::name_of_count);

TEST_P(worker_local_test, adds_up_what_all_workers_did) {
  for (int round = 0; round < 10; ++round) {
    worker_local<long> sums;
    runtime.run([&](context c) {
      sukima::parallel_for(c, 0, 100'000, [&](int i) { sums.local() += i; });
      sukima::parallel_for(c, 0, 1000, [&](context below, int i) {
        support::fib(below, i % 8);
        sums.local() += i;
      });
    });
    EXPECT_EQ(sums.combine(std::plus{}), 100'000L * 99'999 / 2 + 1000L * 999 / 2);
    EXPECT_GE(sums.size(), 1u);
    EXPECT_LE(sums.size(), GetParam() + 0u);
    long again = 0;
    sums.for_each([&](long& x) { again += std::exchange(x, 0); });
    EXPECT_EQ(again, 100'000L * 99'999 / 2 + 1000L * 999 / 2);
    EXPECT_EQ(sums.combine(std::plus{}), 0);
  }
}

TEST_P(worker_local_test, is_the_same_object_until_the_fiber_moves) {
  worker_local<int> numbers;
  runtime.run([&](context c) {
    sukima::parallel_for(c, 0, 1000, [&](context below, int) {
      int& first = numbers.local();
      EXPECT_EQ(&first, &numbers.local());
      const int before = first++;
      EXPECT_EQ(numbers.local(), before + 1);
      support::fib(below, 8);
      sukima::thread_bound([&] {
        int& mine = numbers.local();
        support::fib(below, 8);
        EXPECT_EQ(&mine, &numbers.local());
      });
    });
  });
  EXPECT_EQ(numbers.combine(std::plus{}), 1000);
}

TEST_P(worker_local_test, makes_each_object_by_its_factory) {
  counted::reset();
  {
    std::atomic<int> made{0};
    worker_local<std::unique_ptr<counted>> objects([&] {
      ++made;
      return std::make_unique<counted>(7);
    });
    EXPECT_EQ(objects.size(), 0u);
    runtime.run([&](context c) {
      sukima::parallel_for(c, 0, 5000, [&](context below, int i) {
        support::fib(below, i % 6);
        EXPECT_EQ(objects.local()->value(), 7);
      });
    });
    EXPECT_EQ(static_cast<std::size_t>(made), objects.size());
    EXPECT_EQ(counted::alive(), made);
    objects.clear();
    EXPECT_EQ(objects.size(), 0u);
    EXPECT_EQ(counted::alive(), 0);
    runtime.run([&] { EXPECT_EQ(objects.local()->value(), 7); });
  }
  EXPECT_EQ(counted::alive(), 0);
  EXPECT_EQ(counted::errors(), 0);
}

TEST_P(worker_local_test, has_factories_that_fork_and_throw) {
  counted::reset();
  {
    worker_local<counted> objects([] {
      const auto [a, b] = sukima::fork2([] { return 3; }, [] { return 4; });
      return counted(a + b);
    });
    runtime.run([&] { sukima::parallel_for(0, 2000, [&](int) { EXPECT_EQ(objects.local().value(), 7); }); });
    worker_local<counted> none([]() -> counted { throw test_error(1); });
    runtime.run([&] { EXPECT_THROW(none.local(), test_error); });
    EXPECT_EQ(none.size(), 0u);
  }
  EXPECT_EQ(counted::alive(), 0);
  EXPECT_EQ(counted::errors(), 0);
}

TEST_P(worker_local_test, combines_nothing_and_other_types) {
  worker_local<std::string> texts([] { return std::string("none"); });
  EXPECT_EQ(texts.combine([](std::string a, const std::string& b) { return a + b; }), "none");
  worker_local<std::vector<int>> found;
  runtime.run(
      [&](context c) { sukima::parallel_for(c, 0, 10'000, [&](int i) { found.local().push_back(i); }); });
  std::vector<int> all = found.combine([](std::vector<int> a, const std::vector<int>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  });
  std::sort(all.begin(), all.end());
  ASSERT_EQ(all.size(), 10'000u);
  for (int i = 0; i < 10'000; ++i) ASSERT_EQ(all[static_cast<std::size_t>(i)], i);
}

TEST_P(worker_local_test, combines_by_a_pointer_to_a_member_function) {
  struct total {
    long value = 0;
    total plus(const total& other) const { return {value + other.value}; }
  };
  sukima::worker_local<total> sums;
  runtime.run([&] { sukima::parallel_for(0, 1000, [&](int) { ++sums.local().value; }); });
  EXPECT_EQ(sums.combine(&total::plus).value, 1000);
}

TEST(worker_local, keeps_objects_of_different_workers_apart) {
  sukima::runtime many(support::with_workers(4));
  struct place {
    std::thread::id thread = std::this_thread::get_id();
    long uses = 0;
  };
  worker_local<place> places;
  std::atomic<bool> others{false};
  const auto first_thread = std::this_thread::get_id();
  many.run([&](context c) {
    sukima::parallel_for(c, 0, 200, [&](context below, int) {
      place& here = places.local();
      EXPECT_EQ(here.thread, std::this_thread::get_id());
      ++here.uses;
      if (std::this_thread::get_id() != first_thread) {
        others = true;
      } else {
        EXPECT_TRUE(support::poll_until(below, [&] { return others.load(); }));
      }
    });
  });
  std::set<std::thread::id> threads;
  long uses = 0;
  places.for_each([&](const place& p) {
    EXPECT_TRUE(threads.insert(p.thread).second);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&p) % 128, 0u);
    uses += p.uses;
  });
  EXPECT_GE(threads.size(), 2u);
  EXPECT_EQ(uses, 200);
}

TEST(worker_local, says_where_it_cannot_be_used) {
  worker_local<int> numbers;
  EXPECT_NE(support::message_of([&] { numbers.local(); }).find("not in a runtime"), std::string::npos);
  sukima::runtime one(support::with_workers(1));
  sukima::runtime two(support::with_workers(2));
  one.run([&] { numbers.local() = 1; });
  two.run([&] {
    EXPECT_NE(support::message_of([&] { numbers.local(); }).find("two runtimes"), std::string::npos);
  });
  numbers.clear();
  two.run([&] { EXPECT_EQ(numbers.local(), 0); });
}

}  // namespace
