// SPDX-License-Identifier: Apache-2.0
// tbb::tick_count: a moment of a clock that never goes back.
#pragma once

#include <sukima/detail/tbb/names.hpp>

#include <chrono>

namespace tbb {

class tick_count {
  using clock = std::chrono::steady_clock;

 public:
  class interval_t {
   public:
    interval_t() = default;
    explicit interval_t(double seconds)
        : span_(std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(seconds))) {}
    double seconds() const { return std::chrono::duration<double>(span_).count(); }
    friend interval_t operator+(const interval_t& a, const interval_t& b) {
      return interval_t(a.span_ + b.span_);
    }
    friend interval_t operator-(const interval_t& a, const interval_t& b) {
      return interval_t(a.span_ - b.span_);
    }
    interval_t& operator+=(const interval_t& other) {
      span_ += other.span_;
      return *this;
    }
    interval_t& operator-=(const interval_t& other) {
      span_ -= other.span_;
      return *this;
    }

    /// For tick_count.
    explicit interval_t(clock::duration span) : span_(span) {}

   private:
    clock::duration span_{};
  };

  static tick_count now() {
    tick_count found;
    found.at_ = clock::now();
    return found;
  }
  static double resolution() {
    return static_cast<double>(clock::period::num) / static_cast<double>(clock::period::den);
  }
  friend interval_t operator-(const tick_count& a, const tick_count& b) { return interval_t(a.at_ - b.at_); }

 private:
  clock::time_point at_{};
};

}  // namespace tbb
