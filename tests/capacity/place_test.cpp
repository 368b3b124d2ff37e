// SPDX-License-Identifier: Apache-2.0
// The places of recorded and of made-up machines, and of this one.
//
// A file places/NAME.tree holds a title, the places of the machine, those that the process may use, the
// number of files that make no sense, and the files of the tree: see load_tree().
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "recorded_tree.hpp"

namespace {

using sukima_test::place_table_pointer;
using sukima_test::recorded_tree;

place_table_pointer open_table(const recorded_tree& tree) {
  const sukima_capacity_options options = tree.options();
  return place_table_pointer(sukima_place_table_open(&options));
}

std::string name_of(const sukima_place_table* table, sukima_place place) {
  char text[32];
  const std::size_t length = sukima_place_table_text(table, place, text, sizeof text);
  EXPECT_EQ(length, std::string(text).size());
  return text;
}

/// " 0-3,8": the CPUs of a place; "" if there is none.
std::string cpus_of(const sukima_place_table* table, sukima_place place) {
  const auto has = [&](std::uint32_t cpu) { return sukima_place_table_has_cpu(table, place, cpu) != 0; };
  std::string text;
  std::uint32_t count = 0;
  for (std::uint32_t cpu = 0; cpu < SUKIMA_CAPACITY_MAX_CPUS; cpu++) {
    if (!has(cpu)) continue;
    const std::uint32_t first = cpu;
    while (has(cpu + 1)) cpu++;
    text += text.empty() ? " " : ",";
    text += std::to_string(first) + (cpu != first ? "-" + std::to_string(cpu) : "");
    count += cpu - first + 1;
  }
  sukima_place_facts facts{};
  sukima_place_table_facts(table, place, &facts);
  EXPECT_EQ(facts.cpus, count);
  EXPECT_EQ(text.rfind(" " + std::to_string(facts.first_cpu), 0), count != 0 ? 0 : std::string::npos);
  return text;
}

std::string places_of(const sukima_place_table* table) {
  std::string text;
  for (std::uint32_t place = 1; place <= sukima_place_table_count(table); place++) {
    sukima_place_facts facts{};
    EXPECT_EQ(sukima_place_table_facts(table, static_cast<sukima_place>(place), &facts), 1);
    text += name_of(table, static_cast<sukima_place>(place));
    if (facts.around != SUKIMA_PLACE_ANY) text += " in " + name_of(table, facts.around);
    text += ":" + cpus_of(table, static_cast<sukima_place>(place)) + "\n";
  }
  return text;
}

std::vector<sukima_place> usable_at(const sukima_place_table* table, sukima_place_level level) {
  std::vector<sukima_place> places(sukima_place_table_usable(table, level, nullptr, 0));
  EXPECT_EQ(sukima_place_table_usable(table, level, places.data(), places.size()), places.size());
  return places;
}

constexpr sukima_place_level all_levels[] = {SUKIMA_PLACE_MACHINE, SUKIMA_PLACE_NUMA_DOMAIN,
                                             SUKIMA_PLACE_LL_CACHE, SUKIMA_PLACE_CORE};

std::string usable_of(const sukima_place_table* table) {
  std::string text;
  for (const sukima_place_level level : all_levels) {
    text += std::string(sukima_place_level_name(level)) + ":";
    const char* separator = " ";
    for (const sukima_place place : usable_at(table, level)) {
      text += separator + name_of(table, place);
      separator = ", ";
    }
    text += "\n";
  }
  return text;
}

class place_zoo : public testing::TestWithParam<std::string> {};

TEST_P(place_zoo, has_the_expected_places) {
  recorded_tree tree;
  const sukima_test::tree_file one =
      sukima_test::load_tree(std::string(SUKIMA_PLACES) + "/" + GetParam() + ".tree", tree);
  SCOPED_TRACE(one.title);
  const place_table_pointer table = open_table(tree);
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(usable_of(table.get()), one.sections.at("usable"));
  EXPECT_EQ(std::to_string(sukima_place_table_ignored(table.get())) + "\n", one.sections.at("ignored"));
  EXPECT_EQ(places_of(table.get()), one.sections.at("places"));
}

INSTANTIATE_TEST_SUITE_P(all, place_zoo, testing::ValuesIn(sukima_test::tree_names(SUKIMA_PLACES)),
                         [](const testing::TestParamInfo<std::string>& one) {
                           std::string name = one.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(place_zoo_size, holds_at_least_17_trees) {
  EXPECT_GE(sukima_test::tree_names(SUKIMA_PLACES).size(), 17u);
}

/// Two domains with two caches of two cores each; each core has one CPU.
recorded_tree& make_machine(recorded_tree& tree) {
  tree.machine("0-7", "0-7").file("/sys/devices/system/node/online", "0-1\n");
  tree.file("/sys/devices/system/node/node0/cpulist", "0-3\n");
  tree.file("/sys/devices/system/node/node1/cpulist", "4-7\n");
  for (int cpu = 0; cpu < 8; cpu++) {
    const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu);
    const int first = cpu / 2 * 2;
    tree.file(folder + "/cache/index0/level", "2\n").file(folder + "/cache/index0/type", "Unified\n");
    tree.file(folder + "/cache/index0/shared_cpu_list",
              std::to_string(first) + "-" + std::to_string(first + 1));
    tree.file(folder + "/topology/core_cpus_list", std::to_string(cpu) + "\n");
  }
  return tree;
}

TEST(place, is_around_what_it_contains) {
  recorded_tree tree;
  const place_table_pointer table = open_table(make_machine(tree));
  const auto count = static_cast<sukima_place>(sukima_place_table_count(table.get()));
  ASSERT_EQ(count, 1 + 2 + 4 + 8);
  for (sukima_place outer = 1; outer <= count; outer++) {
    sukima_place_facts facts{};
    sukima_place_table_facts(table.get(), outer, &facts);
    for (sukima_place inner = 1; inner <= count; inner++) {
      const bool is_around = sukima_place_table_around(table.get(), inner, facts.level) == outer;
      EXPECT_EQ(sukima_place_table_contains(table.get(), outer, inner) != 0, is_around)
          << outer << " " << inner;
    }
    EXPECT_TRUE(sukima_place_table_contains(table.get(), SUKIMA_PLACE_ANY, outer));
    EXPECT_FALSE(sukima_place_table_contains(table.get(), outer, SUKIMA_PLACE_ANY));
  }
  EXPECT_TRUE(sukima_place_table_contains(table.get(), SUKIMA_PLACE_ANY, SUKIMA_PLACE_ANY));
  EXPECT_EQ(sukima_place_table_around(table.get(), SUKIMA_PLACE_ANY, SUKIMA_PLACE_CORE), SUKIMA_PLACE_ANY);
}

TEST(place, that_the_table_does_not_have_is_any) {
  recorded_tree tree;
  const place_table_pointer table = open_table(make_machine(tree));
  for (const sukima_place unknown : {sukima_place{16}, sukima_place{1000}, sukima_place{65535}}) {
    sukima_place_facts facts{};
    EXPECT_EQ(sukima_place_table_facts(table.get(), unknown, &facts), 0);
    EXPECT_EQ(facts.cpus, 8u);
    EXPECT_EQ(sukima_place_table_around(table.get(), unknown, SUKIMA_PLACE_CORE), SUKIMA_PLACE_ANY);
    EXPECT_TRUE(sukima_place_table_contains(table.get(), unknown, SUKIMA_PLACE_WHOLE));
    EXPECT_EQ(name_of(table.get(), unknown), "any");
  }
  EXPECT_EQ(sukima_place_table_of_domain(table.get(), 2), SUKIMA_PLACE_ANY);
  EXPECT_EQ(sukima_place_table_of_domain(table.get(), 4'000'000'000), SUKIMA_PLACE_ANY);
  EXPECT_EQ(sukima_place_table_of_cpu(table.get(), 8), SUKIMA_PLACE_WHOLE);
  EXPECT_EQ(sukima_place_table_of_cpu(table.get(), 4'000'000'000), SUKIMA_PLACE_WHOLE);
}

TEST(place, numbers_stay_when_the_cpuset_changes) {
  recorded_tree tree;
  make_machine(tree);
  const place_table_pointer table = open_table(tree);
  const std::string before = places_of(table.get());
  ASSERT_EQ(usable_at(table.get(), SUKIMA_PLACE_CORE).size(), 8u);
  tree.machine("0-7", "3,6-7");
  EXPECT_EQ(usable_of(table.get()),
            "machine: machine\nnuma_domain: numa_domain 0, numa_domain 1\n"
            "ll_cache: ll_cache 1, ll_cache 3\ncore: core 3, core 6, core 7\n");
  // Another process that has only these CPUs sees the same places.
  EXPECT_EQ(places_of(open_table(tree).get()), before);
}

TEST(place, list_is_cut_off_where_it_does_not_fit) {
  recorded_tree tree;
  const place_table_pointer table = open_table(make_machine(tree));
  sukima_place places[3] = {99, 99, 99};
  EXPECT_EQ(sukima_place_table_usable(table.get(), SUKIMA_PLACE_LL_CACHE, places, 2), 4u);
  EXPECT_EQ(name_of(table.get(), places[0]), "ll_cache 0");
  EXPECT_EQ(name_of(table.get(), places[1]), "ll_cache 1");
  EXPECT_EQ(places[2], 99);
}

TEST(place, names_are_cut_off_where_they_do_not_fit) {
  recorded_tree tree;
  const place_table_pointer table = open_table(make_machine(tree));
  char text[8];
  EXPECT_EQ(sukima_place_table_text(table.get(), 2, text, sizeof text), 7u);
  EXPECT_STREQ(text, "numa_do");
}

TEST(place, a_machine_of_256_cpus_has_all_of_them) {
  recorded_tree tree;
  tree.machine("0-255", "0-255").file("/sys/devices/system/node/online", "0-1");
  tree.file("/sys/devices/system/node/node0/cpulist", "0-63,128-191");
  tree.file("/sys/devices/system/node/node1/cpulist", "64-127,192-255");
  // A group's lists are read from its lowest CPU only.
  for (int core = 0; core < 128; core++) {
    const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(core);
    const auto both = [](int first, int last) {
      return std::to_string(first) + "-" + std::to_string(last) + "," + std::to_string(first + 128) + "-" +
             std::to_string(last + 128) + "\n";
    };
    tree.file(folder + "/topology/core_cpus_list", both(core, core));
    if (core % 8 != 0) continue;
    tree.file(folder + "/cache/index0/level", "3\n").file(folder + "/cache/index0/type", "Unified\n");
    tree.file(folder + "/cache/index0/shared_cpu_list", both(core, core + 7));
  }
  const place_table_pointer table = open_table(tree);
  EXPECT_EQ(usable_at(table.get(), SUKIMA_PLACE_NUMA_DOMAIN).size(), 2u);
  EXPECT_EQ(usable_at(table.get(), SUKIMA_PLACE_LL_CACHE).size(), 16u);
  EXPECT_EQ(usable_at(table.get(), SUKIMA_PLACE_CORE).size(), 128u);
  EXPECT_EQ(name_of(table.get(), sukima_place_table_of_cpu(table.get(), 200)), "core 72");
  const sukima_place cache = sukima_place_table_around(
      table.get(), sukima_place_table_of_cpu(table.get(), 200), SUKIMA_PLACE_LL_CACHE);
  EXPECT_EQ(cpus_of(table.get(), cache), " 72-79,200-207");
}

TEST(place, too_long_a_root_is_refused) {
  const std::string root(5000, 'a');
  sukima_capacity_options options{};
  options.root = root.c_str();
  EXPECT_EQ(sukima_place_table_open(&options), nullptr);
  sukima_place_table_close(nullptr);
}

TEST(place_here, is_one_of_the_usable_places) {
  errno = 77;
  const sukima_place_table* const table = sukima_place_table_of_machine();
  for (const sukima_place_level level : all_levels) {
    std::vector<sukima_place> places(sukima_places(level, nullptr, 0));
    ASSERT_EQ(sukima_places(level, places.data(), places.size()), places.size());
    EXPECT_TRUE(std::ranges::is_sorted(places));
    EXPECT_NE(std::ranges::find(places, sukima_here(level)), places.end());
  }
  EXPECT_EQ(sukima_here(SUKIMA_PLACE_MACHINE), SUKIMA_PLACE_WHOLE);
  EXPECT_EQ(table, sukima_place_table_of_machine());
  EXPECT_EQ(errno, 77);
}

TEST(place_here, is_the_place_of_the_cpu_that_a_thread_is_pinned_to) {
  sukima_place_table_of_machine();  // read before the thread is pinned
  std::thread([] {
    cpu_set_t allowed;
    ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
      if (!CPU_ISSET(cpu, &allowed)) continue;
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      if (sched_setaffinity(0, sizeof one, &one) != 0) continue;
      EXPECT_EQ(sukima_here(SUKIMA_PLACE_CORE),
                sukima_place_table_of_cpu(sukima_place_table_of_machine(), static_cast<unsigned>(cpu)));
    }
  }).join();
}

}  // namespace
