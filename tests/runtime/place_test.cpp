// SPDX-License-Identifier: Apache-2.0
// Places in C++, and the counting of workers in places.
#include "place/worker_places.hpp"

#include "made_up_machine.hpp"
#include "support.hpp"

#include <sukima/place.hpp>

#include <sched.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

namespace {

using sukima::place;
using sukima::place_level;
using sukima::detail::last_cpu;
using sukima::detail::worker_places;

constexpr place_level all_levels[] = {place_level::machine, place_level::numa_domain, place_level::ll_cache,
                                      place_level::core};

TEST(place, any_contains_everything_and_is_first) {
  EXPECT_TRUE(place().is_any());
  EXPECT_EQ(place().text(), "any");
  EXPECT_EQ(place().level(), place_level::machine);
  EXPECT_EQ(place().around(place_level::core), place());
  for (const place_level level : all_levels)
    for (const place p : sukima::places(level)) {
      EXPECT_TRUE(place().contains(p));
      EXPECT_FALSE(p.contains(place()));
      EXPECT_LT(place(), p);
    }
}

TEST(place, has_a_level_a_name_and_places_around_it) {
  for (const place_level level : all_levels)
    for (const place p : sukima::places(level)) {
      EXPECT_LE(p.level(), level);  // a larger one where the machine does not state this level
      EXPECT_EQ(p.around(level), p);
      const place whole = p.around(place_level::machine);
      EXPECT_EQ(whole.text(), "machine");
      EXPECT_TRUE(whole.contains(p));
      EXPECT_EQ(p.contains(whole), p == whole);
      EXPECT_NE(p.text(), "any");
    }
}

TEST(place, list_has_each_place_once) {
  for (const place_level level : all_levels) {
    const std::vector<place> list = sukima::places(level);
    ASSERT_FALSE(list.empty());
    EXPECT_TRUE(std::ranges::is_sorted(list));
    EXPECT_EQ(std::unordered_set<place>(list.begin(), list.end()).size(), list.size());
  }
}

TEST(place, here_is_one_of_the_list_on_every_worker) {
  const std::vector<place> cores = sukima::places(place_level::core);
  sukima::runtime runtime;
  runtime.run([&](sukima::context c) {
    sukima::parallel_for(c, 0, 1000, [&](int) {
      EXPECT_NE(std::ranges::find(cores, sukima::here()), cores.end());
      EXPECT_TRUE(sukima::here(place_level::machine).contains(sukima::here()));
    });
  });
}

TEST(place, of_memory_is_a_domain_or_any) {
  std::vector<int> data(1000, 1);
  const place p = sukima::place_of(data.data());
  EXPECT_TRUE(p.is_any() || p.level() == place_level::numa_domain) << p.text();
  std::vector<const void*> pointers;
  for (const int& one : data) pointers.push_back(&one);
  pointers.push_back(nullptr);
  const std::vector<place> found = sukima::place_of(pointers);
  ASSERT_EQ(found.size(), pointers.size());
  EXPECT_EQ(found.front(), p);
  EXPECT_TRUE(found.back().is_any());
  EXPECT_TRUE(sukima::place_of(std::span<const void* const>()).empty());
}

using support::made_up_machine;

TEST(worker_places, count_a_worker_in_all_places_around_its_last_cpu) {
  const made_up_machine machine;
  worker_places places(machine.table());
  last_cpu one;
  EXPECT_EQ(places.count(SUKIMA_PLACE_WHOLE), 0u);
  places.see(one, 5);
  EXPECT_EQ(one.read(), 5);
  for (const place_level level : all_levels) {
    EXPECT_EQ(places.count(machine.of(5, level)), 1u);
    EXPECT_TRUE(places.is_in(one, machine.of(5, level)));
  }
  EXPECT_EQ(places.count(machine.of(4, place_level::core)), 0u);
  EXPECT_EQ(places.count(machine.of(0, place_level::numa_domain)), 0u);
  EXPECT_FALSE(places.is_in(one, machine.of(0, place_level::numa_domain)));
  places.see(one, 4);  // another core of the same cache
  EXPECT_EQ(places.count(machine.of(5, place_level::core)), 0u);
  EXPECT_EQ(places.count(machine.of(5, place_level::ll_cache)), 1u);
  places.forget(one);
  EXPECT_EQ(one.read(), -1);
  EXPECT_FALSE(places.is_in(one, SUKIMA_PLACE_WHOLE));
  for (std::uint32_t p = 1; p <= sukima_place_table_count(&machine.table()); ++p)
    EXPECT_EQ(places.count(static_cast<sukima_place>(p)), 0u);
  places.forget(one);  // has left already
  EXPECT_EQ(places.count(SUKIMA_PLACE_WHOLE), 0u);
}

TEST(worker_places, a_place_without_a_worker_means_the_smallest_around_that_has_one) {
  const made_up_machine machine;
  worker_places places(machine.table());
  const sukima_place core = machine.of(7, place_level::core);
  EXPECT_EQ(places.nearest_with_worker(core), SUKIMA_PLACE_ANY);  // no worker is left anywhere
  last_cpu far, near, here;
  places.see(far, 0);
  EXPECT_EQ(places.nearest_with_worker(core), SUKIMA_PLACE_WHOLE);
  places.see(near, 4);
  EXPECT_EQ(places.nearest_with_worker(core), machine.of(7, place_level::numa_domain));
  places.see(near, 6);
  EXPECT_EQ(places.nearest_with_worker(core), machine.of(7, place_level::ll_cache));
  places.see(here, 7);
  EXPECT_EQ(places.nearest_with_worker(core), core);
  places.forget(here);
  EXPECT_EQ(places.nearest_with_worker(core), machine.of(7, place_level::ll_cache));
  EXPECT_EQ(places.nearest_with_worker(SUKIMA_PLACE_ANY), SUKIMA_PLACE_ANY);
  EXPECT_EQ(places.nearest_with_worker(65535), SUKIMA_PLACE_ANY);
}

TEST(worker_places, a_worker_on_an_unknown_cpu_is_in_the_machine_only) {
  const made_up_machine machine;
  worker_places places(machine.table());
  last_cpu one;
  for (const int cpu : {-1, 8, 100000}) {
    places.see(one, cpu);
    EXPECT_EQ(places.count(SUKIMA_PLACE_WHOLE), 1u);
    EXPECT_EQ(places.nearest_with_worker(machine.of(0, place_level::core)), SUKIMA_PLACE_WHOLE);
  }
  places.forget(one);
  EXPECT_EQ(places.count(SUKIMA_PLACE_WHOLE), 0u);
}

TEST(worker_places, counts_are_right_after_workers_have_moved_at_the_same_time) {
  const made_up_machine machine;
  worker_places places(machine.table());
  constexpr unsigned workers = 4;
  std::vector<last_cpu> seen(workers);
  std::vector<std::thread> threads;
  for (unsigned w = 0; w < workers; ++w) {
    threads.emplace_back([&, w] {
      std::minstd_rand random(w + 1);
      for (int i = 0; i < 10000; ++i) places.see(seen[w], static_cast<int>(random() % 10) - 1);
    });
  }
  for (std::thread& t : threads) t.join();
  for (std::uint32_t i = 1; i <= sukima_place_table_count(&machine.table()); ++i) {
    const auto p = static_cast<sukima_place>(i);
    const auto there = std::ranges::count_if(seen, [&](const last_cpu& one) { return places.is_in(one, p); });
    EXPECT_EQ(places.count(p), static_cast<unsigned>(there)) << p;
  }
}

}  // namespace
