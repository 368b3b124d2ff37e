// SPDX-License-Identifier: Apache-2.0
// tbb::blocked_nd_range: a box of any number of dimensions that algorithms divide.
#pragma once

#include <oneapi/tbb/blocked_range.h>

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace tbb {

/// The base of blocked_nd_range, with an index for each dimension: its constructor takes a braced list for
/// each.
template <class Value, class Indices> class indexed_nd_range;
template <class Value, std::size_t... I> class indexed_nd_range<Value, std::index_sequence<I...>> {
  static_assert(sizeof...(I) > 0, "a blocked_nd_range has at least one dimension");
  template <std::size_t> using dimension = blocked_range<Value>;

 public:
  using dim_range_type = blocked_range<Value>;
  using value_type = Value;
  using size_type = typename dim_range_type::size_type;

  /// A box with one range for each dimension.
  indexed_nd_range(const dimension<I>&... ranges)
      : dims_{ranges...} {}  // NOLINT(google-explicit-constructor)
  /// A box whose dimensions begin at 0 and have these lengths.
  indexed_nd_range(const Value (&size)[sizeof...(I)],  // NOLINT(google-explicit-constructor)
                   size_type grainsize = 1)
      : dims_{dim_range_type(Value(0), size[I], grainsize)...} {}
  /// Takes half of r, in the dimension with most grains.
  indexed_nd_range(indexed_nd_range& r, split half) : indexed_nd_range(r, half, 0) {}
  indexed_nd_range(indexed_nd_range& r, proportional_split sizes) : indexed_nd_range(r, sizes, 0) {}

  static constexpr unsigned dim_count() noexcept { return sizeof...(I); }
  static constexpr unsigned ndims() noexcept { return sizeof...(I); }
  /// \pre number < dim_count()
  const dim_range_type& dim(unsigned number) const { return dims_[number]; }
  bool empty() const { return (dims_[I].empty() || ...); }
  bool is_divisible() const { return (dims_[I].is_divisible() || ...); }

 private:
  template <class Split> indexed_nd_range(indexed_nd_range& r, Split how, int) : dims_(r.dims_) {
    unsigned longest = 0;
    for (unsigned i = 1; i < dim_count(); ++i)
      if (static_cast<double>(dims_[longest].size()) * static_cast<double>(dims_[i].grainsize()) <
          static_cast<double>(dims_[i].size()) * static_cast<double>(dims_[longest].grainsize()))
        longest = i;
    dims_[longest].begin_ = dim_range_type(r.dims_[longest], how).begin_;
  }

  std::array<dim_range_type, sizeof...(I)> dims_;
};

template <class Value, unsigned N>
class blocked_nd_range : public indexed_nd_range<Value, std::make_index_sequence<N>> {
  using base = indexed_nd_range<Value, std::make_index_sequence<N>>;

 public:
  using base::base;
  blocked_nd_range(blocked_nd_range& r, split half) : base(r, half) {}
  blocked_nd_range(blocked_nd_range& r, proportional_split sizes) : base(r, sizes) {}
};

template <class Value, class... Values>
  requires(std::is_same_v<Value, Values> && ...)
blocked_nd_range(blocked_range<Value>, blocked_range<Values>...)
    -> blocked_nd_range<Value, 1 + sizeof...(Values)>;
template <class Value, unsigned N>
blocked_nd_range(const Value (&)[N], typename blocked_nd_range<Value, N>::size_type = 1)
    -> blocked_nd_range<Value, N>;
template <class Value, unsigned... Lengths>
  requires((sizeof...(Lengths) > 1) && ((Lengths == 2 || Lengths == 3) && ...))
blocked_nd_range(const Value (&... lists)[Lengths]) -> blocked_nd_range<Value, sizeof...(Lengths)>;
template <class Value, unsigned N> blocked_nd_range(blocked_nd_range<Value, N>&, split)
    -> blocked_nd_range<Value, N>;
template <class Value, unsigned N>
blocked_nd_range(blocked_nd_range<Value, N>&, proportional_split) -> blocked_nd_range<Value, N>;

/// The former name of blocked_nd_range.
template <class Value, unsigned N> using blocked_rangeNd = blocked_nd_range<Value, N>;

}  // namespace tbb
