// SPDX-License-Identifier: Apache-2.0
// The machine profile: written and read again, malformed ones, age and machine.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "recorded_tree.hpp"

namespace {

using sukima_test::recorded_tree;

struct profile_deleter {
  void operator()(sukima_capacity_profile* one) const { sukima_capacity_profile_free(one); }
};
using profile_pointer = std::unique_ptr<sukima_capacity_profile, profile_deleter>;

struct sample {
  std::array<std::uint32_t, 3> cpus{0, 1, 7};
  std::array<sukima_capacity_pair, 2> pairs{{{0, 1, 0.385, 41.5}, {0, 7, 0, 180}}};
  std::array<sukima_capacity_latency, 2> latencies{{{0, 0, 92.25}, {0, 1, 141}}};
  sukima_capacity_profile profile{.machine = 0x0123456789abcdef,
                                  .written = 1763740000,
                                  .valid_seconds = 2592000,
                                  .switch_ns = 1234.5,
                                  .wake_ns = 5321,
                                  .cpus = cpus.data(),
                                  .cpu_count = cpus.size(),
                                  .pairs = pairs.data(),
                                  .pair_count = pairs.size(),
                                  .latencies = latencies.data(),
                                  .latency_count = latencies.size()};
};

class profile : public testing::Test {
 protected:
  std::string path() const { return tree_.root() + "/new/folder/profile"; }

  profile_pointer read(const std::string& text) {
    tree_.file("/text", text);
    std::array<char, 300> why{};
    profile_pointer result(
        sukima_capacity_profile_read((tree_.root() + "/text").c_str(), why.data(), why.size()));
    error_ = why.data();
    return result;
  }

  recorded_tree tree_;
  std::string error_;
};

TEST_F(profile, is_read_as_it_was_written) {
  const sample given;
  ASSERT_EQ(sukima_capacity_profile_write(path().c_str(), &given.profile), 0);
  const profile_pointer read(sukima_capacity_profile_read(path().c_str(), nullptr, 0));
  ASSERT_NE(read, nullptr);
  EXPECT_EQ(read->machine, given.profile.machine);
  EXPECT_EQ(read->written, given.profile.written);
  EXPECT_EQ(read->valid_seconds, given.profile.valid_seconds);
  EXPECT_EQ(read->switch_ns, given.profile.switch_ns);
  EXPECT_EQ(read->wake_ns, given.profile.wake_ns);
  ASSERT_EQ(read->cpu_count, 3u);
  EXPECT_EQ(read->cpus[2], 7u);
  ASSERT_EQ(read->pair_count, 2u);
  EXPECT_NEAR(read->pairs[0].slowdown, 0.385, 1e-9);
  EXPECT_NEAR(read->pairs[0].handover_ns, 41.5, 1e-9);
  EXPECT_EQ(read->pairs[1].slowdown, 0);
  ASSERT_EQ(read->latency_count, 2u);
  EXPECT_EQ(read->latencies[1].memory_node, 1u);
  EXPECT_NEAR(read->latencies[0].ns, 92.25, 1e-9);
  EXPECT_EQ(sukima_capacity_profile_pair(read.get(), 7, 0), &read->pairs[1]);
  EXPECT_EQ(sukima_capacity_profile_pair(read.get(), 1, 7), nullptr);
  struct stat status{};
  ASSERT_EQ(stat(path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0644u);
}

TEST_F(profile, writing_keeps_the_lines_that_others_have_added_if_they_hold) {
  const auto text = [&](const std::string& machine, const std::string& written) {
    return "sukima-profile 1\nmachine " + machine + "\nwritten " + written +
           "\nvalid 1000\nswitch 1\nmessage thread 8 1 2.5 3\n\nobjects-switch 90\nend\nmessage after the "
           "end\n";
  };
  const auto written_over = [&](const std::string& before) {
    const sample given;
    tree_.file("/kept", before);
    const std::string file = tree_.root() + "/kept";
    EXPECT_EQ(sukima_capacity_profile_write(file.c_str(), &given.profile), 0);
    const profile_pointer after(sukima_capacity_profile_read(file.c_str(), nullptr, 0));
    EXPECT_TRUE(after != nullptr && after->switch_ns == given.profile.switch_ns);
    std::ifstream in(file);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const auto kept = written_over(text("0123456789abcdef", "1763739000"));
  EXPECT_NE(kept.find("\nmessage thread 8 1 2.5 3\nobjects-switch 90\nend\n"), std::string::npos) << kept;
  EXPECT_EQ(kept.find("after the end"), std::string::npos) << kept;
  EXPECT_EQ(kept.find("\nswitch 1\n"), std::string::npos) << kept;
  EXPECT_EQ(written_over(kept), kept);
  for (const std::string& other :
       {text("fedcba9876543210", "1763739000"), text("0123456789abcdef", "1763738000"),
        std::string("message thread 8 1 2.5 3\nend\n")})
    EXPECT_EQ(written_over(other).find("message"), std::string::npos) << other;
}

TEST_F(profile, a_profile_that_cannot_be_read_again_is_not_written) {
  sample no_number;  // one each: a sample points into itself
  no_number.pairs[0].slowdown = NAN;
  EXPECT_EQ(sukima_capacity_profile_write(path().c_str(), &no_number.profile), EINVAL);
  sample negative;
  negative.profile.wake_ns = -1;
  EXPECT_EQ(sukima_capacity_profile_write(path().c_str(), &negative.profile), EINVAL);
  sample out_of_order;
  out_of_order.pairs[1] = {7, 0, 0, 0};
  EXPECT_EQ(sukima_capacity_profile_write(path().c_str(), &out_of_order.profile), EINVAL);
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(profile, a_file_in_the_way_is_an_error_and_stays) {
  const sample given;
  tree_.file("/new", "a file");
  EXPECT_EQ(sukima_capacity_profile_write(path().c_str(), &given.profile), ENOTDIR);
}

TEST_F(profile, a_missing_one_says_what_to_do) {
  std::array<char, 300> why{};
  EXPECT_EQ(sukima_capacity_profile_read(path().c_str(), why.data(), why.size()), nullptr);
  EXPECT_NE(std::string(why.data()).find("run 'sukima calibrate' to write it"), std::string::npos);
}

TEST_F(profile, malformed_ones_are_refused_with_the_line) {
  const std::string head = "sukima-profile 1\nvalid 10\n";
  ASSERT_NE(read(head + "end\n"), nullptr) << error_;
  ASSERT_NE(read(head + "a word of a later version\n\nend\nwhat follows does not count\n"), nullptr);
  for (const std::string line :
       {"pair 1 0 0 1", "pair 0 0 0 1", "pair 0 1 1.5 1", "pair 0 1 0", "pair 0 1 0 1 1", "pair 0 70000 0 1",
        "cpu x", "cpu 3\ncpu 3", "machine 12", "machine 0123456789ABCDEF", "written soon", "wake -1",
        "wake 1.", "latency 0 1", "valid 0", "switch 99999999999999999999"}) {
    SCOPED_TRACE(line);
    EXPECT_EQ(read(head + line + "\nend\n"), nullptr);
    EXPECT_NE(error_.find("line "), std::string::npos);
    EXPECT_NE(error_.find("malformed"), std::string::npos);
  }
  EXPECT_EQ(read("sukima-profile 2\nvalid 10\nend\n"), nullptr);
  EXPECT_EQ(read(head), nullptr) << "no end";
  EXPECT_EQ(read("sukima-profile 1\nend\n"), nullptr) << "no validity";
  EXPECT_EQ(read(""), nullptr);
}

TEST_F(profile, holds_for_this_machine_and_for_a_time) {
  sample given;
  given.profile.machine = sukima_capacity_machine(nullptr);
  given.profile.written = static_cast<std::uint64_t>(std::time(nullptr)) - 100;
  given.profile.valid_seconds = 1000;
  EXPECT_EQ(sukima_capacity_profile_check(&given.profile), SUKIMA_CAPACITY_PROFILE_VALID);
  given.profile.valid_seconds = 50;
  EXPECT_EQ(sukima_capacity_profile_check(&given.profile), SUKIMA_CAPACITY_PROFILE_OLD);
  given.profile.machine++;
  EXPECT_EQ(sukima_capacity_profile_check(&given.profile), SUKIMA_CAPACITY_PROFILE_OTHER_MACHINE);
}

TEST_F(profile, a_machine_is_known_by_its_cpus_and_its_kernel) {
  recorded_tree other;
  for (recorded_tree* tree : {&tree_, &other}) {
    tree->file("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: A\nmodel name\t: B\ncpu MHz\t: 1000\n");
    tree->file("/sys/devices/system/cpu/online", "0-3\n").file("/proc/sys/kernel/osrelease", "6.1\n");
  }
  const auto machine = [](const recorded_tree& tree) { return sukima_capacity_machine(tree.root().c_str()); };
  EXPECT_EQ(machine(tree_), machine(other));
  other.file("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: A\nmodel name\t: B\ncpu MHz\t: 2000\n");
  EXPECT_EQ(machine(tree_), machine(other)) << "the clock rate changes all the time";
  other.file("/sys/devices/system/cpu/online", "0-1\n");
  EXPECT_NE(machine(tree_), machine(other));
}

TEST_F(profile, the_path_follows_the_environment) {
  const auto path_with = [](const char* own, const char* cache, const char* home) {
    const auto set = [](const char* name, const char* value) {
      if (value != nullptr) {
        setenv(name, value, 1);
      } else {
        unsetenv(name);
      }
    };
    set("SUKIMA_PROFILE", own);
    set("XDG_CACHE_HOME", cache);
    set("HOME", home);
    std::array<char, 200> path{};
    const std::size_t length = sukima_capacity_profile_path(path.data(), path.size());
    EXPECT_EQ(length, std::string(path.data()).size());
    return std::string(path.data());
  };
  EXPECT_EQ(path_with("/own/file", "/cache", "/home/me"), "/own/file");
  EXPECT_EQ(path_with("", "/cache", "/home/me"), "/cache/sukima/profile");
  EXPECT_EQ(path_with(nullptr, "relative", "/home/me"), "/home/me/.cache/sukima/profile");
  EXPECT_EQ(path_with(nullptr, nullptr, nullptr), "/var/cache/sukima/profile");
  std::array<char, 5> small{};
  EXPECT_GT(sukima_capacity_profile_path(small.data(), small.size()), small.size());
}

TEST_F(profile, has_room_for_all_pairs_of_384_cpus) {
  std::vector<sukima_capacity_pair> pairs;
  for (std::uint32_t one = 0; one < 384; one++)
    for (std::uint32_t other = one + 1; other < 384; other++) pairs.push_back({one, other, 0.5, 100});
  sample given;
  given.profile.pairs = pairs.data();
  given.profile.pair_count = pairs.size();
  ASSERT_EQ(sukima_capacity_profile_write(path().c_str(), &given.profile), 0);
  const profile_pointer read(sukima_capacity_profile_read(path().c_str(), nullptr, 0));
  ASSERT_NE(read, nullptr);
  EXPECT_EQ(read->pair_count, 73536u);
}

}  // namespace
