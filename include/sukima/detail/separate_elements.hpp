// SPDX-License-Identifier: Apache-2.0
// Whether several threads may write different elements of a sequence at the same time.
#pragma once

#include <iterator>
#include <type_traits>

namespace sukima::detail {

/// Whether the references of an iterator are proxies of single bits, as those of std::vector<bool> are. From
/// C++23 on such proxies meet the requirements of the standard's concepts for iterators to write to.
template <class Value, class Reference>
inline constexpr bool shares_words = std::is_same_v<Value, bool> && !std::is_reference_v<Reference>;
/// The same for the iterators of std::views::zip.
template <template <class...> class Tuple, class... Value, class... Reference>
  requires(sizeof...(Value) == sizeof...(Reference))
inline constexpr bool shares_words<Tuple<Value...>, Tuple<Reference...>> =
    (shares_words<Value, Reference> || ...);

/// An iterator whose elements share no memory, so that different threads may write different elements.
template <class I>
concept separate_elements = !shares_words<std::iter_value_t<I>, std::iter_reference_t<I>>;

}  // namespace sukima::detail
