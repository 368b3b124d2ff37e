// SPDX-License-Identifier: Apache-2.0
// Places: NUMA domains, last-level caches and cores of the machine; where code runs, and where memory is.
#pragma once

#include <sukima/capacity/places.h>

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

/// \file
/// A place is a set of CPUs that are near to each other: a node of the tree machine ⊃ numa_domain ⊃ ll_cache
/// ⊃ core. <sukima/capacity/places.h> says where the tree comes from and how unknown CPUs are treated.
/// docs/placement.md describes places.

namespace sukima {
/// \addtogroup places
/// @{

/// The levels of the tree, from the largest place to the smallest, with the names of OpenMP's OMP_PLACES.
enum class place_level {
  machine = SUKIMA_PLACE_MACHINE,  ///< all CPUs
  numa_domain = SUKIMA_PLACE_NUMA_DOMAIN,  ///< CPUs that are equally near to one part of the memory
  ll_cache = SUKIMA_PLACE_LL_CACHE,  ///< CPUs that share the last level of cache
  core = SUKIMA_PLACE_CORE,  ///< hardware threads of one core
};

/// A place of the running machine, or *any*: no place in particular. It has two bytes, so it can be stored
/// with data, and stays valid when the CPUs that the process may use change. Two places are equal if they are
/// the same node of the tree. Any comes first in their order, then the levels from the largest. On one level,
/// domains are ordered by their number, other places by their lowest CPU.
class place {
 public:
  /// Any: no wish, or unknown.
  constexpr place() noexcept = default;
  /// \param number of the C interface. A number that the machine does not have counts as any
  explicit constexpr place(sukima_place number) noexcept : number_(number) {}

  /// Returns the number of the place in the C interface.
  [[nodiscard]] constexpr sukima_place number() const noexcept { return number_; }
  /// Whether this is *any*: no place in particular, or unknown.
  [[nodiscard]] constexpr bool is_any() const noexcept { return number_ == SUKIMA_PLACE_ANY; }

  /// Returns the level of the place; of any: machine. \par Complexity constant
  [[nodiscard]] place_level level() const noexcept {
    sukima_place_facts facts{};
    sukima_place_table_facts(sukima_place_table_of_machine(), number_, &facts);
    return static_cast<place_level>(facts.level);
  }
  /// Returns the smallest place at this level or a larger one that contains this one; of any: any.
  /// \par Complexity at most three steps
  [[nodiscard]] place around(place_level at) const noexcept {
    return place(sukima_place_table_around(sukima_place_table_of_machine(), number_,
                                           static_cast<sukima_place_level>(at)));
  }
  /// Whether `inner` is this place or inside it. Any contains everything, and nothing else contains it.
  /// \par Complexity at most four steps
  [[nodiscard]] bool contains(place inner) const noexcept {
    return sukima_place_table_contains(sukima_place_table_of_machine(), number_, inner.number_) != 0;
  }
  /// Returns the name of the place: "core 3", "machine", "any". A domain has the kernel's number; caches and
  /// cores are counted in the order of their lowest CPU.
  /// \throws std::bad_alloc
  [[nodiscard]] std::string text() const {
    std::array<char, 32> memory{};
    const std::size_t length =
        sukima_place_table_text(sukima_place_table_of_machine(), number_, memory.data(), memory.size());
    return {memory.data(), length};
  }

  friend constexpr bool operator==(place, place) noexcept = default;
  friend constexpr std::strong_ordering operator<=>(place, place) noexcept = default;

 private:
  sukima_place number_ = SUKIMA_PLACE_ANY;
};

static_assert(sizeof(place) == 2 && std::is_trivially_copyable_v<place>);

/// Returns a smallest set of places, at this level or a larger one, that together have all CPUs which this
/// process may use now, in ascending order. If the machine does not state a level, the larger place counts.
/// \returns at least one place; the machine if nothing is known
/// \throws std::bad_alloc
/// \par Complexity about 0.5 ms, and linear in the number of CPUs: keep the result
inline std::vector<place> places(place_level level) {
  const auto at = static_cast<sukima_place_level>(level);
  std::vector<sukima_place> numbers(sukima_place_table_count(sukima_place_table_of_machine()));
  numbers.resize(sukima_places(at, numbers.data(), numbers.size()));
  std::vector<place> result;
  result.reserve(numbers.size());
  for (const sukima_place one : numbers) result.emplace_back(one);
  return result;
}

/// Returns the place of the calling thread: the smallest one at this level or a larger one. Code may continue
/// on another worker after the next fork, and the kernel may move a thread at any moment.
/// \returns the machine if the kernel does not say
/// \par Complexity about 10 ns; the first call of the process reads the table of places
inline place here(place_level level = place_level::core) noexcept {
  return place(sukima_here(static_cast<sukima_place_level>(level)));
}

/// Returns the NUMA domain whose memory holds the page of `pointer`.
/// \returns any if the page does not exist or was not touched yet, if the kernel or a sandbox refuses the
///     answer, or on a machine with one domain
/// \par Complexity one system call, 0.6 µs; none on a machine with one domain
inline place place_of(const void* pointer) noexcept { return place(sukima_place_of(pointer)); }

/// The same for many pages at once. \throws std::bad_alloc
/// \par Complexity a system call for each 256 pointers, 0.2 to 0.4 µs each; none on a machine with one domain
inline std::vector<place> place_of(std::span<const void* const> pointers) {
  std::vector<place> result;
  result.reserve(pointers.size());
  std::array<sukima_place, 256> numbers{};
  while (!pointers.empty()) {
    const std::size_t count = std::min(pointers.size(), numbers.size());
    sukima_place_table_of_memory(sukima_place_table_of_machine(), pointers.data(), count, numbers.data());
    for (std::size_t i = 0; i < count; ++i) result.emplace_back(numbers[i]);
    pointers = pointers.subspan(count);
  }
  return result;
}

/// @}
}  // namespace sukima

/// The hash of a place, for unordered containers.
template <> struct std::hash<sukima::place> {
  std::size_t operator()(sukima::place p) const noexcept { return std::hash<sukima_place>{}(p.number()); }
};
