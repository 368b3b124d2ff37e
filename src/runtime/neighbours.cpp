// SPDX-License-Identifier: Apache-2.0
// How many workers are worth running beside others.
#include "neighbours.hpp"

#include <sukima/capacity.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace sukima::detail {

namespace {

/// Fewer workers are as good as more if they get this part of the CPU.
constexpr double nearly_all = 0.95;
/// So long fewer have to be enough before they are. Neighbours that rest for a moment come back.
constexpr double seconds_to_shrink = 1;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// A guess is no reason to give a worker up: only what was computed from all neighbours is.
bool is_certain(sukima_capacity_basis basis) {
  return basis == SUKIMA_CAPACITY_BASIS_TREE || basis == SUKIMA_CAPACITY_BASIS_HOST;
}

}  // namespace

neighbours::~neighbours() { sukima_capacity_estimator_close(estimator_); }

bool neighbours::open() {
  // The workers may be bound by ourselves: that is no limit for the process.
  sukima_capacity_options options{};
  options.affinity = SUKIMA_CAPACITY_AT_OPEN;
  estimator_ = sukima_capacity_estimator_open(&options);
  return is_open();
}

unsigned neighbours::worth_running(unsigned most) {
  sukima_capacity_estimator_sample(estimator_, 0);
  const double now = seconds_now();
  const double since = now - last_sample_;
  last_sample_ = now;
  sukima_capacity_estimate all{};
  sukima_capacity_estimator_usable(estimator_, most, &all);
  with_most_ = all.usable;
  unsigned enough = most;
  double gets = all.usable;
  if (is_certain(all.basis)) {
    for (unsigned k = 1; k < most; k++) {
      sukima_capacity_estimate fewer{};
      sukima_capacity_estimator_usable(estimator_, k, &fewer);
      if (!is_certain(fewer.basis) || fewer.usable < nearly_all * all.usable) continue;
      enough = k;
      gets = fewer.usable;
      break;
    }
  }
  agreed_seconds_ = enough <= before_ && before_ != 0 ? agreed_seconds_ + since : 0;
  before_ = enough;
  const bool shrinks = answer_ != 0 && enough < answer_;
  if (answer_ == 0) answer_ = most;  // the first second decides nothing
  if (enough > answer_ || (shrinks && agreed_seconds_ >= seconds_to_shrink)) {
    answer_ = enough;
    with_answer_ = gets;
  }
  answer_ = std::min(answer_, most);
  return answer_;
}

std::string neighbours::reason() const {
  char text[120];
  std::snprintf(text, sizeof text, "beside the neighbours %u workers get %.2f CPUs; all would get %.2f",
                answer_, with_answer_, with_most_);
  return text;
}

}  // namespace sukima::detail
