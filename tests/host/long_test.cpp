// SPDX-License-Identifier: Apache-2.0
// 10,000 random hosts: the certificate; of them, those small enough for it, against the enumeration.
#include <gtest/gtest.h>

#include <random>

#include "enumeration.hpp"
#include "random_hosts.hpp"

namespace sukima::host {
namespace {

std::uint64_t fresh_seed() {
  const std::uint64_t seed = std::random_device()();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

TEST(shares, of_10000_random_hosts_pass_their_certificate) {
  for (const std::uint64_t seed : {std::uint64_t{7}, fresh_seed()}) {
    examples::generator random(seed);
    for (int k = 0; k < 10000; ++k) {
      const estimator exact(examples::random_host(examples::random_shape(12, 40, random), random));
      ASSERT_EQ(exact.defect(), "") << "seed " << seed << ", case " << k << "\n"
                                    << description_text(exact.given());
    }
  }
}

TEST(shares, of_500_random_hosts_are_those_of_an_enumeration) {
  for (const std::uint64_t seed : {std::uint64_t{8}, fresh_seed()}) {
    examples::generator random(seed);
    for (int k = 0; k < 500; ++k) {
      const description host = examples::random_host(examples::random_shape(5, 11, random), random);
      const std::vector<vm_estimate> found = estimate_shares(host);
      const auto exact = examples::enumerate(host);
      for (std::size_t j = 0; j < exact.size(); ++j) {
        const bool joint = host.vms[j].weight_of == weight_owner::vm;
        for (std::size_t i = 0; i < exact[j].size(); ++i)
          ASSERT_NEAR(joint ? found[j].usable : found[j].vcpus[i], exact[j][i].value(), 1e-8)
              << "seed " << seed << ", case " << k << "\n"
              << description_text(host);
      }
    }
  }
}

TEST(changes, of_10000_have_the_result_of_a_new_estimate) {
  for (const std::uint64_t seed : {std::uint64_t{9}, fresh_seed()}) {
    examples::generator random(seed);
    for (int k = 0; k < 2500; ++k) {
      const examples::shape like = examples::random_shape(12, 40, random);
      estimator exact(examples::random_host(like, random));
      for (int change = 0; change < 4; ++change) {
        const std::size_t changed = examples::draw(random, 0, exact.given().vms.size() - 1);
        vm now = exact.given().vms[changed];
        examples::change_vm(now, like, random);
        exact.change(changed, now);
        const estimator fresh(exact.given());
        for (std::size_t j = 0; j < fresh.given().vms.size(); ++j)
          ASSERT_NEAR(exact.usable(j), fresh.usable(j), 1e-7) << "seed " << seed << ", case " << k << "\n"
                                                              << description_text(fresh.given());
      }
    }
  }
}

}  // namespace
}  // namespace sukima::host
