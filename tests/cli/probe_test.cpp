// SPDX-License-Identifier: Apache-2.0
// The parts of `sukima probe`: warnings on made-up machines, choosing CPUs, the chart.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include <base/shared/temporary_directory.hpp>
#include "capacity/meter.hpp"
#include "capacity/topology.hpp"
#include "probe/places.hpp"
#include "probe/warnings.hpp"
#include "probe/watch.hpp"
#include "shared/console.hpp"

namespace sukima::cli::probe {
namespace {

/// Two nodes of four cores of two CPUs. hwloc numbers the siblings of a core as neighbours here.
const std::vector<cpu_place> large = read_topology("numa:2 core:4 pu:2");

class probe_warnings : public testing::Test {
 protected:
  probe_warnings() {
    place.facts.online = place.facts.affinity = place.facts.cpuset = place.facts.cap = 16;
    place.facts.quota = std::numeric_limits<double>::infinity();
    place.facts.usable = place.usable = 16;
    place.machine = large;
    for (const cpu_place& p : large) place.allowed.insert(p.cpu);
    place.memory_nodes = {0, 1};
    place.variable = [this](const std::string& name) -> std::optional<std::string> {
      const auto found = variables.find(name);
      return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
  }

  void allow(const std::set<unsigned>& cpus) {
    place.allowed = cpus;
    place.facts.affinity = place.facts.cap = static_cast<unsigned>(cpus.size());
    place.facts.usable = place.usable = static_cast<double>(cpus.size());
    place.facts.binding = SUKIMA_CAPACITY_AFFINITY;
  }
  void limit_to(double cpus) {
    place.facts.quota = cpus;
    place.facts.usable = place.usable = std::min(cpus, place.usable);
    place.facts.binding = SUKIMA_CAPACITY_QUOTA;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const warning& w : warnings_for(place)) all.push_back(w.name);
    return all;
  }

  surroundings place;
  std::map<std::string, std::string> variables;
};

using list = std::vector<std::string>;

TEST_F(probe_warnings, are_silent_where_all_is_well) {
  ASSERT_EQ(large.size(), 16U);
  EXPECT_EQ(names(), list{});
  allow({0, 2, 4, 6});
  EXPECT_EQ(names(), list{}) << "four cores of one node";
}

TEST_F(probe_warnings, warn_of_an_affinity_narrower_than_the_quota) {
  allow({0, 2});
  place.facts.quota = 4;
  EXPECT_EQ(names(), list{"affinity-below-quota"});
}

TEST_F(probe_warnings, warn_of_siblings_while_cores_idle) {
  allow({0, 1, 2, 3});
  ASSERT_EQ(names(), list{"siblings"});
  const warning found = warnings_for(place).front();
  EXPECT_NE(found.text.find("only 2 of the machine's 8 cores"), std::string::npos) << found.text;
  EXPECT_NE(found.advice.find("0,2,4,6"), std::string::npos) << found.advice;
}

TEST_F(probe_warnings, report_cpus_spread_over_nodes) {
  allow({0, 2, 8, 10});
  ASSERT_EQ(names(), list{"nodes"});
  EXPECT_NE(warnings_for(place).front().advice.find("0,2,4,6"), std::string::npos);
}

TEST_F(probe_warnings, warn_of_memory_that_is_far_away) {
  allow({0, 2});
  place.memory_nodes = {1};
  EXPECT_EQ(names(), list{"far-memory"});
}

TEST_F(probe_warnings, warn_of_runtimes_that_know_no_quota) {
  limit_to(1.5);
  EXPECT_EQ(names(), list{"threads"});
  variables["OMP_NUM_THREADS"] = "2";
  EXPECT_EQ(names(), list{});
  variables["OMP_NUM_THREADS"] = "8,2";
  EXPECT_EQ(names(), list{"variable"});
  variables["OMP_NUM_THREADS"] = "eight";
  EXPECT_EQ(names(), list{});
}

TEST_F(probe_warnings, accept_as_many_threads_as_sukima_run_starts) {
  limit_to(0.6);
  place.facts.cap = 2;
  ASSERT_EQ(names(), list{"threads"});
  place.threads = 2;
  EXPECT_EQ(names(), list{});
  variables["OMP_NUM_THREADS"] = "2";
  EXPECT_EQ(names(), list{});
  variables["OMP_NUM_THREADS"] = "3";
  EXPECT_EQ(names(), list{"variable"});
}

TEST_F(probe_warnings, warn_of_spinning_where_cpu_is_short) {
  variables = {{"OMP_WAIT_POLICY", "ACTIVE"},  {"KMP_BLOCKTIME", "200"},
               {"GOMP_SPINCOUNT", "infinity"}, {"SUKIMA_WAIT", "spin"},
               {"OMP_NUM_THREADS", "2"},       {"OMPI_MCA_mpi_yield_when_idle", "0"}};
  EXPECT_EQ(names(), list{}) << "16 CPUs for 16 threads";
  limit_to(1.5);
  EXPECT_EQ(names(), (list{"spinning", "spinning", "spinning", "spinning", "spinning"}));
  variables = {{"OMP_WAIT_POLICY", "passive"},
               {"KMP_BLOCKTIME", "0"},
               {"GOMP_SPINCOUNT", "0"},
               {"SUKIMA_WAIT", "adaptive"},
               {"OMP_NUM_THREADS", "2"}};
  EXPECT_EQ(names(), list{});
}

TEST_F(probe_warnings, warn_of_groups_that_cannot_be_seen) {
  place.facts.ancestors_hidden = 1;
  EXPECT_EQ(names(), list{"hidden"});
  limit_to(16);
  EXPECT_EQ(names(), list{}) << "there is a quota to be seen";
}

TEST_F(probe_warnings, need_no_knowledge_of_the_machine) {
  place.machine.clear();
  place.allowed.clear();
  place.memory_nodes.clear();
  place.variable = nullptr;
  limit_to(1.5);
  EXPECT_EQ(names(), list{"threads"});
}

TEST(choosing_cpus, takes_cores_of_one_node_first) {
  std::set<unsigned> all;
  for (const cpu_place& p : large) all.insert(p.cpu);
  EXPECT_EQ(choose_cpus(large, all, 4), (std::set<unsigned>{0, 2, 4, 6}));
  EXPECT_EQ(choose_cpus(large, all, 6), (std::set<unsigned>{0, 1, 2, 3, 4, 6}));
  EXPECT_EQ(choose_cpus(large, all, 16), all);
  EXPECT_EQ(choose_cpus(large, {1, 9, 11, 13}, 2), (std::set<unsigned>{9, 11})) << "the node that has enough";
  EXPECT_EQ(choose_cpus({}, {3, 5, 7}, 2), (std::set<unsigned>{3, 5})) << "nothing is known of the machine";
}

TEST(choosing_cpus, prints_lists) {
  EXPECT_EQ(cpu_list_text({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
  EXPECT_EQ(cpu_list_text({}), "");
}

TEST(cpu_list, is_read_as_it_is_written) {
  using cpus = std::set<unsigned>;
  EXPECT_EQ(read_cpu_list("0-2,5,7-8"), (cpus{0, 1, 2, 5, 7, 8}));
  EXPECT_EQ(read_cpu_list("4,1,4-4"), (cpus{1, 4}));
  for (const char* wrong :
       {"", ",", "1,", ",1", "1,,2", "-", "1-", "-1", "2-1", "x", "0x1", "1 ", "1-2-3", "4294967295"})
    EXPECT_EQ(read_cpu_list(wrong), std::nullopt) << wrong;
}

TEST(machine_places, say_which_ones_have_cpus_for_the_process) {
  const process::temporary_directory root("places");
  const auto write = [&](const std::string& name, const std::string& text) {
    const std::filesystem::path path = std::filesystem::path(root.path()) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << '\n';
  };
  write("sys/devices/system/cpu/online", "0-3");
  write("sys/devices/system/node/online", "0-1");
  write("sys/devices/system/node/node0/cpulist", "0-1");
  write("sys/devices/system/node/node1/cpulist", "2-3");
  write("sys/devices/system/cpu/cpu0/topology/core_cpus_list", "0-1");
  write("sys/devices/system/cpu/cpu2/topology/core_cpus_list", "2");
  write("sys/devices/system/cpu/cpu3/topology/core_cpus_list", "3");
  write("proc/self/status", "Cpus_allowed_list:\t3");
  const std::vector<machine_place> places = read_places({.root = root.path(), .is_recorded = true});
  EXPECT_EQ(text_of(places), "Places with CPUs for you: 1 of 2 NUMA domains, 1 of 3 cores.\n");
  std::vector<std::string> lines;
  for (const machine_place& p : places)
    lines.push_back(p.name + " in " + p.around + ": " + p.cpus + (p.usable ? " *" : ""));
  EXPECT_EQ(lines,
            (std::vector<std::string>{"machine in : 0-3 *", "numa_domain 0 in machine: 0-1",
                                      "numa_domain 1 in machine: 2-3 *", "core 0 in numa_domain 0: 0-1",
                                      "core 1 in numa_domain 1: 2", "core 2 in numa_domain 1: 3 *"}));
  const nlohmann::json json = json_of(places);
  EXPECT_TRUE(json[0]["around"].is_null());
  EXPECT_EQ(json[5], (nlohmann::json{{"name", "core 2"},
                                     {"level", "core"},
                                     {"around", "numa_domain 1"},
                                     {"cpus", "3"},
                                     {"usable", true}}));
}

TEST(machine_places, are_not_mentioned_where_none_is_known) {
  const process::temporary_directory root("places");
  const std::vector<machine_place> places = read_places({.root = root.path(), .is_recorded = true});
  ASSERT_EQ(places.size(), 1u);
  EXPECT_EQ(places[0].name, "machine");
  EXPECT_EQ(text_of(places), "");
}

TEST(chart, draws_the_latest_values_on_the_right) {
  EXPECT_EQ(chart({1, 2, 4, 0}, 4, 3, 2),
            "     4  █ \n"
            "     0 ██ \n");
  EXPECT_EQ(chart({0.25}, 2, 10, 2),
            "     2  \n"
            "     0 ▂\n");
}

TEST(chart, has_a_scale_for_the_largest_machine) {
  EXPECT_EQ(chart({65536}, 65536, 3, 2),
            " 65536 █\n"
            "     0 █\n");
}

TEST(pace, measures_once_an_interval_and_makes_up_for_nothing) {
  using namespace std::chrono_literals;
  const pace::clock::time_point start{};
  pace due(start + 200ms, 1s);
  EXPECT_FALSE(due.take(start + 199ms));
  EXPECT_TRUE(due.take(start + 210ms));
  EXPECT_FALSE(due.take(start + 210ms));
  EXPECT_EQ(due.next(), start + 1200ms) << "a late one does not move the next one";
  EXPECT_TRUE(due.take(start + 10s)) << "this process was stopped";
  EXPECT_FALSE(due.take(start + 10s));
  EXPECT_EQ(due.next(), start + 11s);
}

TEST(cpus_text, has_two_decimals_at_most) {
  EXPECT_EQ(cpus_text(1), "1 CPU");
  EXPECT_EQ(cpus_text(1.5), "1.5 CPUs");
  EXPECT_EQ(cpus_text(0.999), "1 CPU");
  EXPECT_EQ(cpus_text(10), "10 CPUs");
  EXPECT_EQ(cpus_text(65536), "65536 CPUs");
  EXPECT_EQ(cpus_text(1234.567), "1234.57 CPUs");
  EXPECT_EQ(cpus_text(0.001), "less than 0.01 CPUs");
  EXPECT_EQ(cpus_text(0), "0 CPUs");
}

TEST(cut_lines, keeps_characters_whole) {
  EXPECT_EQ(cut_lines("abcdef\nab\n", 3), "abc\nab\n");
  EXPECT_EQ(cut_lines("\u00e9\u00e9\u00e9x", 2), "\u00e9\u00e9");
  EXPECT_EQ(cut_lines("", 3), "");
}

}  // namespace
}  // namespace sukima::cli::probe
