// SPDX-License-Identifier: Apache-2.0
// tbb::blocked_range2d: a rectangle that algorithms divide.
#pragma once

#include <oneapi/tbb/blocked_range.h>

#include <cstddef>

namespace tbb {

template <class RowValue, class ColValue = RowValue> class blocked_range2d {
 public:
  using row_range_type = blocked_range<RowValue>;
  using col_range_type = blocked_range<ColValue>;

  blocked_range2d(RowValue row_begin, RowValue row_end, typename row_range_type::size_type row_grainsize,
                  ColValue col_begin, ColValue col_end, typename col_range_type::size_type col_grainsize)
      : rows_(row_begin, row_end, row_grainsize), cols_(col_begin, col_end, col_grainsize) {}
  blocked_range2d(RowValue row_begin, RowValue row_end, ColValue col_begin, ColValue col_end)
      : rows_(row_begin, row_end), cols_(col_begin, col_end) {}
  blocked_range2d(const row_range_type& rows, const col_range_type& cols) : rows_(rows), cols_(cols) {}
  /// Takes half of r, in the dimension with more grains.
  blocked_range2d(blocked_range2d& r, split half) : blocked_range2d(r, half, 0) {}
  blocked_range2d(blocked_range2d& r, proportional_split sizes) : blocked_range2d(r, sizes, 0) {}

  bool empty() const { return rows_.empty() || cols_.empty(); }
  bool is_divisible() const { return rows_.is_divisible() || cols_.is_divisible(); }
  const row_range_type& rows() const { return rows_; }
  const col_range_type& cols() const { return cols_; }

 private:
  template <class Split> blocked_range2d(blocked_range2d& r, Split& how, int)
      : rows_(r.rows_), cols_(r.cols_) {
    const auto grains = [](const auto& a, const auto& b) {
      return static_cast<double>(a.size()) * static_cast<double>(b.grainsize());
    };
    if (grains(rows_, cols_) < grains(cols_, rows_))
      cols_.begin_ = col_range_type(r.cols_, how).begin_;
    else
      rows_.begin_ = row_range_type(r.rows_, how).begin_;
  }

  row_range_type rows_;
  col_range_type cols_;
};

}  // namespace tbb
