// SPDX-License-Identifier: Apache-2.0
// Shares by enumeration; see enumeration.hpp.
#include "enumeration.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <stdexcept>

namespace sukima::host::examples {
namespace {

constexpr std::int64_t unit = 100;  // a CPU

wide product(wide a, wide b) {
  wide result;
  if (__builtin_mul_overflow(a, b, &result)) throw std::overflow_error("a fraction is too large");
  return result;
}

wide magnitude(wide a) { return a < 0 ? -a : a; }
wide greatest_divisor(wide a, wide b) { return b == 0 ? magnitude(a) : greatest_divisor(b, a % b); }

std::int64_t whole(double cpus) { return std::llround(cpus * static_cast<double>(unit)); }

struct member {
  std::uint32_t may;  // a bit for each pCPU
  std::int64_t most;
};
struct party {
  std::size_t vm;
  std::int64_t weight;
  std::vector<member> vcpus;
};

class enumeration {
 public:
  explicit enumeration(const description& host) : host_(host) {
    for (const pcpu& one : host.pcpus) capacity_.push_back(whole(one.capacity));
    for (std::size_t j = 0; j < host.vms.size(); ++j) {
      const vm& one = host.vms[j];
      if (*one.weight_of == weight_owner::vm) parties_.push_back({j, whole_weight(one), {}});
      for (const vcpu& each : one.vcpus) {
        if (*one.weight_of == weight_owner::vcpu) parties_.push_back({j, whole_weight(one), {}});
        parties_.back().vcpus.push_back({places(each), bound(each)});
      }
    }
    if (parties_.size() > 12 || capacity_.size() > 6) throw std::logic_error("too much to enumerate");
    for (std::uint32_t set = 1; set < 1u << parties_.size(); ++set) limits_.push_back({set, most_of(set)});
    for (std::size_t j = 0; j < host.vms.size(); ++j) {
      std::uint32_t set = 0;
      for (std::size_t c = 0; c < parties_.size(); ++c)
        if (parties_[c].vm == j) set |= 1u << c;
      if (host.vms[j].cap && set != 0) limits_.push_back({set, whole(*host.vms[j].cap)});
    }
  }

  std::vector<std::vector<fraction>> shares() {
    std::uint32_t weighted = 0;
    for (std::size_t c = 0; c < parties_.size(); ++c)
      if (parties_[c].weight > 0) weighted |= 1u << c;
    result_.resize(parties_.size());
    fill(weighted);
    // Those without weight share what is left evenly.
    for (party& one : parties_) one.weight = one.weight > 0 ? one.weight : 1;
    fill((1u << parties_.size()) - 1);
    std::vector<std::vector<fraction>> by_vm(host_.vms.size());
    for (std::size_t c = 0; c < parties_.size(); ++c) by_vm[parties_[c].vm].push_back(result_[c] / unit);
    return by_vm;
  }

 private:
  static std::int64_t whole_weight(const vm& one) { return std::llround(one.weight); }
  static std::int64_t bound(const vcpu& one) {
    return one.online ? std::min({unit, whole(one.cap.value_or(1)), whole(one.demand.value_or(1))}) : 0;
  }
  std::uint32_t places(const vcpu& one) const {
    std::uint32_t set = one.hard.empty() ? (1u << capacity_.size()) - 1 : 0;
    for (const std::uint32_t p : one.hard) set |= 1u << p;
    return set;
  }

  /// f(A): the smallest cut.
  std::int64_t most_of(std::uint32_t set) const {
    std::int64_t least = INT64_MAX;
    for (std::uint32_t cut = 0; cut < 1u << capacity_.size(); ++cut) {
      std::int64_t sum = 0;
      for (std::size_t p = 0; p < capacity_.size(); ++p) sum += (cut >> p & 1) != 0 ? capacity_[p] : 0;
      std::vector<std::int64_t> outside(host_.vms.size());
      for (std::size_t c = 0; c < parties_.size(); ++c)
        for (const member& one : parties_[c].vcpus)
          if ((set >> c & 1) != 0 && (one.may & ~cut) != 0) outside[parties_[c].vm] += one.most;
      for (std::size_t j = 0; j < outside.size(); ++j) {
        const vm& one = host_.vms[j];
        const bool capped = one.cap && *one.weight_of == weight_owner::vm;
        sum += capped ? std::min(whole(*one.cap), outside[j]) : outside[j];
      }
      least = std::min(least, sum);
    }
    return least;
  }

  /// Fixes the shares of these parties, after those that are fixed.
  void fill(std::uint32_t of) {
    while ((of & ~fixed_) != 0) {
      // Of each set: what is fixed in it, and the weight of what grows.
      std::vector<fraction> given(1u << parties_.size());
      std::vector<std::int64_t> weight(given.size());
      for (std::uint32_t set = 1; set < given.size(); ++set) {
        const auto last = static_cast<std::size_t>(std::countr_zero(set));
        const std::uint32_t others = set & (set - 1);
        given[set] = given[others] + (fixed_ >> last & 1 ? result_[last] : fraction());
        weight[set] = weight[others] + ((of & ~fixed_) >> last & 1 ? parties_[last].weight : 0);
      }
      std::optional<fraction> level;
      std::uint32_t full = 0;
      for (const limit& one : limits_) {
        if (weight[one.set] == 0) continue;
        const fraction here = (fraction(one.most) - given[one.set]) / weight[one.set];
        if (!level || here < *level) {
          level = here;
          full = 0;
        }
        if (here == *level) full |= one.set;
      }
      full &= of & ~fixed_;
      for (std::size_t c = 0; c < parties_.size(); ++c)
        if (full >> c & 1) result_[c] = *level * parties_[c].weight;
      fixed_ |= full;
    }
  }

  struct limit {
    std::uint32_t set;
    std::int64_t most;
  };

  const description& host_;
  std::vector<std::int64_t> capacity_;
  std::vector<party> parties_;
  std::vector<limit> limits_;
  std::uint32_t fixed_ = 0;
  std::vector<fraction> result_;
};

}  // namespace

fraction::fraction(wide top, wide bottom) : top_(top), bottom_(bottom) {
  const wide common = greatest_divisor(top, bottom) * (bottom < 0 ? -1 : 1);
  top_ /= common;
  bottom_ /= common;
}
fraction fraction::operator+(const fraction& other) const {
  return {product(top_, other.bottom_) + product(other.top_, bottom_), product(bottom_, other.bottom_)};
}
fraction fraction::operator-(const fraction& other) const {
  return *this + fraction(-other.top_, other.bottom_);
}
fraction fraction::operator*(const fraction& other) const {
  return {product(top_, other.top_), product(bottom_, other.bottom_)};
}
fraction fraction::operator/(const fraction& other) const {
  return {product(top_, other.bottom_), product(bottom_, other.top_)};
}
bool fraction::operator<(const fraction& other) const {
  return product(top_, other.bottom_) < product(other.top_, bottom_);
}

std::vector<std::vector<fraction>> enumerate(const description& host) { return enumeration(host).shares(); }

}  // namespace sukima::host::examples
