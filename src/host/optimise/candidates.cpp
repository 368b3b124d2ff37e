// SPDX-License-Identifier: Apache-2.0
#include "optimise/candidates.hpp"

#include <base/shared/assert.hpp>

#include <algorithm>

#include "optimise/constants.hpp"

namespace sukima::host {

candidates::candidates(unsigned best, unsigned estimate, unsigned highest, unsigned lowest)
    : best_(best), estimate_(estimate), highest_(highest), lowest_(lowest), tried_{best} {}

bool candidates::may_try(long count) {
  if (count < static_cast<long>(lowest_) || count > static_cast<long>(highest_)) return false;
  return tried_.insert(static_cast<unsigned>(count)).second;
}

/// Returns the count at the present place of the search if it may be tried, and moves to the next place.
std::optional<unsigned> candidates::at_place() {
  const long best = best_;
  long count = 0;
  switch (place_) {
    case place::estimate:
      count = estimate_;
      place_ = place::step;
      break;
    case place::step:
      count = best + sign_ * step_;
      place_ = place::dent;  // `judged` changes this if the step was better
      break;
    case place::dent:
      place_ = place::turn;
      if (again_) return std::nullopt;
      count = best + sign_ * 2;
      break;
    case place::turn:
      return std::nullopt;
  }
  if (!may_try(count)) return std::nullopt;
  return static_cast<unsigned>(count);
}

std::optional<unsigned> candidates::next() {
  for (;;) {
    if (place_ == place::turn) {
      if (sign_ < 0 && !again_) return std::nullopt;
      if (sign_ < 0) again_ = false;
      sign_ = -sign_;
      step_ = 1;
      place_ = place::step;
    }
    if (const auto count = at_place()) {
      candidate_ = *count;
      SUKIMA_ASSERT_VALID(*this);
      return count;
    }
  }
}

void candidates::judged(bool better) {
  if (better) {
    best_ = candidate_;
    if (place_ == place::dent) {  // the candidate was a step
      step_ = std::min<long>(constants::longest_step, step_ * 2);
      place_ = place::step;
      again_ = true;
    } else if (place_ == place::turn) {
      again_ = true;
    }
  }
  candidate_ = 0;
  SUKIMA_ASSERT_VALID(*this);
}

const char* candidates::violated_invariant() const {
  if (!tried_.contains(best_)) return "the best count was tried";
  if (candidate_ != 0 && !tried_.contains(candidate_)) return "a candidate is tried once";
  if (candidate_ != 0 && (candidate_ < lowest_ || candidate_ > highest_))
    return "a candidate is within the bounds of the search";
  if (step_ < 1 || step_ > constants::longest_step) return "a step has one of its lengths";
  if (sign_ != 1 && sign_ != -1) return "a search goes up or down";
  return nullptr;
}

}  // namespace sukima::host
