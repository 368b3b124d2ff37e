// SPDX-License-Identifier: Apache-2.0
// Random programs on several nodes give what they give sequentially, whatever the delays of the messages.
//
// PROGRAMS and FRESH_SEEDS come from CMakeLists.txt; SUKIMA_CLUSTER_SEED=N runs what begins with the seed N.
#include "random_programs.hpp"
#include "support.hpp"

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

namespace {

using namespace cluster_support;
using namespace random_programs;

constexpr unsigned programs_of_a_cluster = 10;

shape shape_of(std::uint64_t seed) {
  constexpr std::chrono::microseconds delays[]{0us, 50us, 200us, 2000us};
  constexpr unsigned published[]{0, 1, 3};
  const std::uint64_t draw = mixed(seed + 99);
  return {.nodes = 2 + static_cast<unsigned>(draw % 3),
          .workers = 1 + static_cast<unsigned>(draw / 3 % 2),
          .published = published[draw / 6 % 3],
          .seed = seed,
          .longest_delay = delays[draw / 18 % 4]};
}

/// \returns how many tasks travelled
std::uint64_t run_programs(std::uint64_t seed) {
  nodes_in_process nodes(shape_of(seed));
  for (unsigned i = 0; i < programs_of_a_cluster; ++i) {
    const spec program{mixed(seed * programs_of_a_cluster + i), 5 + i % 4};
    const std::uint64_t expected = alone(program);
    for (const std::uint64_t found : nodes.everywhere(call<piece>(program)))
      EXPECT_EQ(found, expected) << "program " << i << " of SUKIMA_CLUSTER_SEED=" << seed;
  }
  return nodes.given();
}

TEST(random_programs, give_the_sequential_result) {
  std::uint64_t seed = 1;
#if FRESH_SEEDS
  seed = std::random_device{}();
#endif
  unsigned clusters = PROGRAMS / programs_of_a_cluster;
  if (const char* const given = std::getenv("SUKIMA_CLUSTER_SEED")) {
    seed = std::stoull(given);
    clusters = 1;
  }
  std::printf("seeds %llu to %llu\n", static_cast<unsigned long long>(seed),
              static_cast<unsigned long long>(seed + clusters - 1));
  std::fflush(stdout);
  std::uint64_t given = 0;
  for (unsigned i = 0; i < clusters && !testing::Test::HasFailure(); ++i) given += run_programs(seed + i);
  EXPECT_GT(given, 0u) << "no task has travelled";
  std::printf("%llu tasks travelled\n", static_cast<unsigned long long>(given));
}

}  // namespace
