// SPDX-License-Identifier: Apache-2.0
// Weighted max-min fair shares by enumeration, in exact fractions: slow, and by another method than the
// product's.
#pragma once

#include <host/shared/estimate.hpp>

namespace sukima::host::examples {

__extension__ using wide = __int128;

/// A fraction in lowest terms, with a positive denominator. What does not fit throws std::overflow_error.
class fraction {
 public:
  fraction(wide top = 0, wide bottom = 1);
  fraction operator+(const fraction& other) const;
  fraction operator-(const fraction& other) const;
  fraction operator*(const fraction& other) const;
  fraction operator/(const fraction& other) const;
  bool operator<(const fraction& other) const;
  bool operator==(const fraction& other) const { return top_ == other.top_ && bottom_ == other.bottom_; }
  double value() const { return static_cast<double>(top_) / static_cast<double>(bottom_); }

 private:
  wide top_, bottom_;
};

/// For each VM what it gets: the sum where the weight is the VM's, otherwise each vCPU, in CPUs.
/// Preconditions: bounds and capacities are multiples of 0.01, weights are whole, at most 12 claimants and 6
/// pCPUs.
///
/// What a set A of claimants can get together is at most f(A), the smallest cut over sets R of pCPUs; and
/// what the vCPUs of a VM get, at most its cap. All shares grow with the level until one of these becomes an
/// equation: that fixes the shares of its claimants. And so on with the others.
std::vector<std::vector<fraction>> enumerate(const description& host);

}  // namespace sukima::host::examples
