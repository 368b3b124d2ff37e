// SPDX-License-Identifier: Apache-2.0
// Runs the fuzz targets on the stored inputs, with every compiler.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "fuzz_targets.h"

namespace {

struct target {
  const char* name;
  void (*function)(const uint8_t*, size_t);
};

void PrintTo(const target& value, std::ostream* out) { *out << value.name; }

class corpus : public testing::TestWithParam<target> {};

TEST_P(corpus, every_input_keeps_the_promises) {
  std::size_t count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(SUKIMA_CORPUS) + "/" + GetParam().name)) {
    SCOPED_TRACE(entry.path());
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    GetParam().function(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    count++;
  }
  EXPECT_GT(count, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    all, corpus,
    testing::Values(target{"cpu_max", fuzz_cpu_max}, target{"cfs_quota", fuzz_cfs_quota},
                    target{"cpu_list", fuzz_cpu_list}, target{"status", fuzz_status},
                    target{"cgroup_line", fuzz_cgroup_line}, target{"mount_line", fuzz_mount_line},
                    target{"relate", fuzz_relate}, target{"stat", fuzz_stat}, target{"cpus", fuzz_cpus},
                    target{"counters", fuzz_counters}, target{"host", fuzz_host}, target{"times", fuzz_times},
                    target{"profile", fuzz_profile}, target{"lines", fuzz_lines},
                    target{"places", fuzz_places}, target{"tree", fuzz_tree}),
    [](const testing::TestParamInfo<target>& one) { return std::string(one.param.name); });

}  // namespace
