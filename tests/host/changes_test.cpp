// SPDX-License-Identifier: Apache-2.0
// Estimates after changes are those of a new estimate.
#include <gtest/gtest.h>

#include "random_hosts.hpp"

namespace sukima::host {
namespace {

void expect_as_new(const estimator& changed) {
  ASSERT_EQ(changed.defect(), "") << description_text(changed.given());
  const estimator fresh(changed.given());
  for (std::size_t j = 0; j < changed.given().vms.size(); ++j)
    ASSERT_NEAR(changed.usable(j), fresh.usable(j), 1e-7) << "VM " << j << "\n"
                                                          << description_text(changed.given());
}

TEST(changes, of_a_vm_have_the_result_of_a_new_estimate) {
  examples::generator random(3);
  for (int k = 0; k < 300; ++k) {
    SCOPED_TRACE(k);
    const examples::shape like = examples::random_shape(12, 40, random);
    estimator exact(examples::random_host(like, random));
    for (int change = 0; change < 5; ++change) {
      const std::size_t j = examples::draw(random, 0, exact.given().vms.size() - 1);
      vm now = exact.given().vms[j];
      examples::change_vm(now, like, random);
      exact.change(j, now);
      ASSERT_NO_FATAL_FAILURE(expect_as_new(exact));
    }
  }
}

TEST(changes, of_a_pcpu_have_the_result_of_a_new_estimate) {
  examples::generator random(4);
  for (int k = 0; k < 100; ++k) {
    SCOPED_TRACE(k);
    const examples::shape like = examples::random_shape(12, 40, random);
    estimator exact(examples::random_host(like, random));
    for (int change = 0; change < 3; ++change) {
      exact.change_capacity(examples::draw(random, 0, like.pcpus - 1),
                            static_cast<double>(examples::draw(random, 0, 100)) / 100);
      ASSERT_NO_FATAL_FAILURE(expect_as_new(exact));
    }
  }
}

TEST(changes, that_are_refused_change_nothing) {
  estimator exact(examples::figure_14());
  vm wrong = exact.given().vms[0];
  wrong.vcpus[1].hard = {7};
  wrong.weight = 1;
  EXPECT_THROW(exact.change(0, wrong), description_error);
  wrong.vcpus.pop_back();
  EXPECT_THROW(exact.change(0, wrong), description_error);
  wrong = exact.given().vms[0];
  wrong.weight_of = weight_owner::vm;
  EXPECT_THROW(exact.change(0, wrong), description_error);
  EXPECT_NEAR(exact.usable(0), 1.6, 1e-12);
  EXPECT_EQ(exact.defect(), "");
  exact.change_capacity(3, 1);
  EXPECT_NEAR(exact.usable(0), 1.6, 1e-12);
}

}  // namespace
}  // namespace sukima::host
