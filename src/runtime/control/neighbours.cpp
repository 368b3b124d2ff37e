// SPDX-License-Identifier: Apache-2.0
// How many workers are worth running beside other programs.
#include "control/neighbours.hpp"

#include <sukima/capacity.h>
#include <base/shared/clock.hpp>

#include <cstdio>

namespace sukima::detail {

namespace {

/// A guess is no reason to run fewer workers. A figure that was measured, or computed from all neighbours,
/// is.
bool is_certain(sukima_capacity_basis basis) {
  return basis == SUKIMA_CAPACITY_BASIS_TREE || basis == SUKIMA_CAPACITY_BASIS_HOST ||
         basis == SUKIMA_CAPACITY_BASIS_EXPERIMENT;
}

}  // namespace

neighbours::~neighbours() { sukima_capacity_estimator_close(estimator_); }

bool neighbours::open() {
  // The runtime itself may have bound the workers to CPUs, which does not limit the process.
  sukima_capacity_options options{};
  options.affinity = SUKIMA_CAPACITY_AT_OPEN;
  estimator_ = sukima_capacity_estimator_open(&options);
  return is_open();
}

unsigned neighbours::worth_running(unsigned most) {
  sukima_capacity_estimator_sample(estimator_, 0);
  const double now = steady_seconds();
  const double since = last_sample_ != 0 ? now - last_sample_ : 0;
  last_sample_ = now;
  bool certain = true;
  gets_.clear();
  for (unsigned k = 1; k <= most; k++) {
    sukima_capacity_estimate one{};
    sukima_capacity_estimator_usable(estimator_, k, &one);
    certain = certain && is_certain(one.basis);
    gets_.push_back(one.usable);
  }
  answer_ = enough_.judge(since, gets_, certain);
  with_most_ = gets_.back();
  with_answer_ = gets_[answer_ - 1];
  return answer_;
}

std::string neighbours::reason() const {
  char text[120];
  std::snprintf(text, sizeof text, "beside the neighbours %u workers get %.2f CPUs; all would get %.2f",
                answer_, with_answer_, with_most_);
  return text;
}

}  // namespace sukima::detail
