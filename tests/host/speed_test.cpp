// SPDX-License-Identifier: Apache-2.0
// How long estimates of a large host take: 256 pCPUs, 4096 vCPUs.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "random_hosts.hpp"

namespace sukima::host {
namespace {

double ms_of(const auto& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double>& times) {
  std::ranges::sort(times);
  return times[times.size() / 2];
}

/// Kinds of affinity × weights × bounds, nine hosts of each.
void measure(weight_owner owner, bool vm_caps) {
  std::vector<double> all, changes;
  for (int kind = 0; kind < examples::affinity_kinds; ++kind) {
    for (const bool weights : {false, true}) {
      for (const bool bounds : {false, true}) {
        const examples::shape like{.pcpus = 256,
                                   .vcpus = 4096,
                                   .where = static_cast<examples::affinity>(kind),
                                   .weights = weights,
                                   .bounds = bounds,
                                   .vm_caps = vm_caps,
                                   .owner = owner};
        std::vector<double> times, after;
        for (std::uint64_t seed = 0; seed < 9; ++seed) {
          examples::generator random(seed);
          const description host = examples::random_host(like, random);
          estimator exact{description(host)};
          times.push_back(ms_of([&] { exact = estimator(host); }));
          for (int k = 0; k < 10; ++k) {
            const std::size_t j = examples::draw(random, 0, host.vms.size() - 1);
            vm now = exact.given().vms[j];
            examples::change_vm(now, like, random);
            after.push_back(ms_of([&] { exact.change(j, now); }));
          }
          if (seed == 0) {
            EXPECT_EQ(exact.defect(), "");
          }
        }
        all.insert(all.end(), times.begin(), times.end());
        changes.insert(changes.end(), after.begin(), after.end());
        const double middle = median(times), middle_after = median(after);
        std::printf("%-16s weights %d bounds %d: %6.2f / %6.2f ms; a changed VM %6.2f / %6.2f ms\n",
                    name_of(like.where), weights, bounds, middle, times.back(), middle_after, after.back());
      }
    }
  }
  const double middle = median(all), middle_change = median(changes);
  std::printf(
      "all: median %.2f ms, worst of %zu %.2f ms; a changed VM: median %.2f ms, worst of %zu %.2f ms\n",
      middle, all.size(), all.back(), middle_change, changes.size(), changes.back());
  EXPECT_LE(middle, 15);
  EXPECT_LE(all.back(), 50);
  EXPECT_LE(middle_change, 5);
}

TEST(speed, with_weights_of_vcpus) { measure(weight_owner::vcpu, false); }
TEST(speed, with_weights_of_vms) { measure(weight_owner::vm, true); }

}  // namespace
}  // namespace sukima::host
