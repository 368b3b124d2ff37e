// SPDX-License-Identifier: Apache-2.0
// tbb::blocked_range3d: a box that algorithms divide.
#pragma once

#include <oneapi/tbb/blocked_range.h>

#include <cstddef>

namespace tbb {

template <class PageValue, class RowValue = PageValue, class ColValue = RowValue> class blocked_range3d {
 public:
  using page_range_type = blocked_range<PageValue>;
  using row_range_type = blocked_range<RowValue>;
  using col_range_type = blocked_range<ColValue>;

  blocked_range3d(PageValue page_begin, PageValue page_end, RowValue row_begin, RowValue row_end,
                  ColValue col_begin, ColValue col_end)
      : pages_(page_begin, page_end), rows_(row_begin, row_end), cols_(col_begin, col_end) {}
  blocked_range3d(PageValue page_begin, PageValue page_end,
                  typename page_range_type::size_type page_grainsize, RowValue row_begin, RowValue row_end,
                  typename row_range_type::size_type row_grainsize, ColValue col_begin, ColValue col_end,
                  typename col_range_type::size_type col_grainsize)
      : pages_(page_begin, page_end, page_grainsize),
        rows_(row_begin, row_end, row_grainsize),
        cols_(col_begin, col_end, col_grainsize) {}
  blocked_range3d(const page_range_type& pages, const row_range_type& rows, const col_range_type& cols)
      : pages_(pages), rows_(rows), cols_(cols) {}
  /// Takes half of r, in the dimension with most grains.
  blocked_range3d(blocked_range3d& r, split half) : blocked_range3d(r, half, 0) {}
  blocked_range3d(blocked_range3d& r, proportional_split sizes) : blocked_range3d(r, sizes, 0) {}

  bool empty() const { return pages_.empty() || rows_.empty() || cols_.empty(); }
  bool is_divisible() const { return pages_.is_divisible() || rows_.is_divisible() || cols_.is_divisible(); }
  const page_range_type& pages() const { return pages_; }
  const row_range_type& rows() const { return rows_; }
  const col_range_type& cols() const { return cols_; }

 private:
  template <class Split>
  blocked_range3d(blocked_range3d& r, Split& how, int) : pages_(r.pages_), rows_(r.rows_), cols_(r.cols_) {
    const auto less = [](const auto& a, const auto& b) {
      return static_cast<double>(a.size()) * static_cast<double>(b.grainsize()) <
             static_cast<double>(b.size()) * static_cast<double>(a.grainsize());
    };
    const bool more_rows = less(pages_, rows_);
    if (more_rows ? less(rows_, cols_) : less(pages_, cols_))
      cols_.begin_ = col_range_type(r.cols_, how).begin_;
    else if (more_rows)
      rows_.begin_ = row_range_type(r.rows_, how).begin_;
    else
      pages_.begin_ = page_range_type(r.pages_, how).begin_;
  }

  page_range_type pages_;
  row_range_type rows_;
  col_range_type cols_;
};

}  // namespace tbb
