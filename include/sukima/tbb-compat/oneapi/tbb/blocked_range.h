// SPDX-License-Identifier: Apache-2.0
// tbb::blocked_range: an interval that algorithms divide.
#pragma once

#include <sukima/detail/tbb/names.hpp>
#include <sukima/detail/tbb/partitioner.hpp>

#include <cstddef>

namespace tbb {

template <class Value> class blocked_range {
 public:
  using const_iterator = Value;
  using size_type = std::size_t;

  /// \pre grainsize > 0, and end is not before begin
  blocked_range(Value begin, Value end, size_type grainsize = 1)
      : end_(end), begin_(begin), grainsize_(grainsize) {}
  /// Takes the upper half of r.
  blocked_range(blocked_range& r, split)
      : end_(r.end_), begin_(r.cut(r.size() / 2)), grainsize_(r.grainsize_) {}
  /// Takes the upper part of r.
  blocked_range(blocked_range& r, proportional_split sizes)
      : end_(r.end_), begin_(r.cut(r.size() - r.part(sizes))), grainsize_(r.grainsize_) {}

  const_iterator begin() const { return begin_; }
  const_iterator end() const { return end_; }
  /// \pre end is not before begin
  size_type size() const { return static_cast<size_type>(end_ - begin_); }
  size_type grainsize() const { return grainsize_; }
  bool empty() const { return !(begin_ < end_); }
  bool is_divisible() const { return grainsize_ < size(); }

 private:
  template <class, class> friend class blocked_range2d;
  template <class, class, class> friend class blocked_range3d;
  template <class, class> friend class indexed_nd_range;

  /// Ends this range after `left` elements. \returns that end
  Value cut(size_type left) {
    const Value middle = static_cast<Value>(begin_ + left);
    end_ = middle;
    return middle;
  }
  /// Returns the size of the upper part.
  size_type part(const proportional_split& sizes) const {
    const double all = static_cast<double>(sizes.left() + sizes.right());
    return static_cast<size_type>(static_cast<double>(size()) * static_cast<double>(sizes.right()) / all +
                                  0.5);
  }

  Value end_;
  Value begin_;
  size_type grainsize_;
};

}  // namespace tbb
