// SPDX-License-Identifier: Apache-2.0
// Computes weighted max-min fair shares by enumeration, in exact fractions. It is slow, and uses another
// method than the product.
#pragma once

#include <host/shared/estimate.hpp>

namespace sukima::host::examples {

__extension__ using wide = __int128;

/// A fraction in lowest terms, with a positive denominator. On overflow it throws std::overflow_error.
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

/// Returns the shares of each VM in CPUs: their sum if the VM owns the weight, and otherwise the share of
/// each vCPU. Preconditions: bounds and capacities are multiples of 0.01, weights are whole numbers, and
/// there are at most 12 claimants and 6 pCPUs.
///
/// A set A of claimants can get at most f(A) together, the smallest cut over sets R of pCPUs. The vCPUs of a
/// VM can get at most its cap together. All shares grow with the level until one of these bounds is reached.
/// That fixes the shares of its claimants. The others continue to grow in the same way.
std::vector<std::vector<fraction>> enumerate(const description& host);

}  // namespace sukima::host::examples
