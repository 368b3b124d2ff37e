// SPDX-License-Identifier: Apache-2.0
// parallel_for and parallel_reduce with a hint that sends their iterations to a place. If the hint is a
// function of the element, the iterations of parallel_for are grouped by place, with a fork for each place.
#pragma once

#include <sukima/detail/placed.hpp>
#include <sukima/loop.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace sukima::detail {

/// Some iterations of a loop, which should run in one place. Their numbers are in a list, from `from` on.
struct placed_group {
  sukima_place place;
  std::size_t from;
  std::size_t count;
};

/// The iterations of a loop, grouped by place. No containers, because _GLIBCXX_DEBUG changes their layout in
/// the program and not in the library.
struct placed_groups {
  std::unique_ptr<std::int64_t[]> order;  ///< numbers of iterations, those of a group in ascending order
  std::unique_ptr<placed_group[]> groups;  ///< the caller's own place first
  std::size_t count = 0;  ///< number of groups
};
/// Groups iterations by one counting sort.
/// \param places  of the iterations in order; the first one has the number `first`
/// \throws std::bad_alloc
/// \par Complexity linear in the number of iterations and of the machine's places
placed_groups group_by_place(std::span<const sukima_place> places, std::int64_t first);

/// Some elements of a source, by their numbers there.
template <class Source> struct listed_source {
  Source source;
  const std::int64_t* list;
  template <class F> [[gnu::always_inline]] void visit(std::int64_t i, F&& f) const {
    source.visit(list[i], f);
  }
  template <class F> [[gnu::always_inline]] void each(std::int64_t i, std::int64_t stop, F&& f) const {
    for (; i < stop; ++i) source.visit(list[i], f);
  }
  using arguments = typename Source::arguments;
  static constexpr bool in_blocks = false;
  static constexpr bool walks = false;
};

/// Whether a function of a loop's element returns a place.
template <class Where, class List> inline constexpr bool returns_place = false;
template <class Where, class... Arguments>
inline constexpr bool returns_place<Where, argument_list<Arguments...>> = requires(
    Where where, std::remove_reference_t<Arguments>&... element) { static_cast<place>(where(element...)); };

/// Calls f with all hints except the place.
template <class F> void without_place(F&& f) { f(); }
template <class F, class Hint, class... More> void without_place(F&& f, Hint hint, More... more) {
  if constexpr (is_place<Hint>)
    detail::without_place(f, more...);
  else
    detail::without_place([&](auto... rest) { f(hint, rest...); }, more...);
}

}  // namespace sukima::detail

namespace SUKIMA_DETAIL_NAMESPACE {

/// Runs the groups of a loop, each as a loop of its own.
template <class Source, class Body, class... Hints> class loop_in_groups {
 public:
  loop_in_groups(const placed_groups& groups, const Source& source, Body& body)
      : groups_(groups), source_(source), body_(body) {}

  /// Runs the groups up to `last`. The last one has the oldest choice point, so it is given away first.
  void run(context c, std::size_t last, Hints... hints) const {
    place where(groups_.groups[last].place);
    if (last == 0) {
      const placed_scope hint(c.top, where, code_of_hint<loop_in_groups>);
      run_group(c, last, hints...);
      return;
    }
    detail::fork2_placed(
        c, [&](context below) { run(below, last - 1, hints...); },
        [=, this](context below) { run_group(below, last, hints...); }, place_hint<place>{where, {}});
  }

 private:
  void run_group(context c, std::size_t number, Hints... hints) const {
    const placed_group& g = groups_.groups[number];
    detail::parallel_for_between(c, listed_source<Source>{source_, groups_.order.get() + g.from}, 0,
                                 static_cast<std::int64_t>(g.count), body_, hints...);
  }

  const placed_groups& groups_;
  const Source& source_;
  Body& body_;
};

/// Whether a loop's hints can group its iterations by place. If not, a sentence says why, and the caller must
/// instantiate nothing else, so that it is the only error.
template <class Source, class Place, class Where, class... Hints> consteval bool can_group_by_place() {
  constexpr bool has_numbers = std::is_same_v<Place, std::int64_t> && !Source::in_blocks && !Source::walks;
  constexpr bool splits = !are_hints<Hints...>(1, 0, 1, 1);
  static_assert(has_numbers,
                "sukima::on with a function of the element needs a loop over integers or over a "
                "random-access range; for other loops it takes one place for all iterations");
  static_assert(!splits,
                "sukima::split has no effect on a loop that sukima::on groups by place: leave out one of "
                "the two");
  if constexpr (has_numbers && !splits) {
    constexpr bool names_places = returns_place<Where&, typename Source::arguments>;
    static_assert(names_places,
                  "at sukima::parallel_for sukima::on takes a place, a function without arguments that "
                  "returns one, or a function of the loop's element that returns one");
    return names_places;
  } else {
    return false;
  }
}

template <context_type C, class Source, class Place, class Body, class... Hints>
void for_in_places(C c, const Source& source, Place from, Place to, Body& body, Hints... hints) {
  constexpr bool are_right = are_hints<Hints...>(1, 1, 1, 1);
  static_assert(are_right,
                "the last arguments of sukima::parallel_for are hints: sukima::guard, sukima::split, "
                "sukima::grain and sukima::on, each at most once");
  auto hint = detail::pick_place(hints...);
  [[maybe_unused]] const auto plain = [&](auto... others) {
    detail::parallel_for_between(c, source, from, to, body, others...);
  };
  if constexpr (!are_right) {
    return;
  } else if constexpr (clone_context_type<C>) {
    detail::without_place(plain, hints...);
  } else if constexpr (place_source<decltype(hint.where)>) {
    const placed_scope all(c.top, hint.where, code_of_hint<decltype(hint.where), Body>);
    detail::without_place(plain, hints...);
  } else if constexpr (can_group_by_place<Source, Place, decltype(hint.where), Hints...>()) {
    if (from >= to || !gate_of(c.top).follows_hints) {
      detail::without_place(plain, hints...);
      return;
    }
    std::vector<sukima_place> places;
    places.reserve(static_cast<std::size_t>(to - from));
    for (std::int64_t i = from; i < to; ++i)
      source.visit(i, [&](auto&&... element) {
        places.push_back(static_cast<place>(hint.where(element...)).number());
      });
    const placed_groups groups = group_by_place(places, from);
    detail::without_place(
        [&](auto... others) {
          loop_in_groups<Source, Body, decltype(others)...>(groups, source, body)
              .run(c, groups.count - 1, others...);
        },
        hints...);
  }
}

template <class T, context_type C, class Source, class Place, class Body, class Combine, class... Hints>
T reduce_in_place(C c, const Source& source, Place from, Place to, T init, Body& body, Combine& combine,
                  Hints... hints) {
  auto hint = detail::pick_place(hints...);
  if constexpr (!are_hints<Hints...>(1, 1, 1, 1)) {
    static_assert(are_hints<Hints...>(1, 1, 1, 1),
                  "the last arguments of sukima::parallel_reduce are hints: sukima::guard, sukima::split, "
                  "sukima::grain and sukima::on, each at most once");
    return init;
  } else if constexpr (!place_source<decltype(hint.where)>) {
    static_assert(place_source<decltype(hint.where)>,
                  "at sukima::parallel_reduce sukima::on takes one place for all iterations, or a function "
                  "without arguments that returns one: a reduction keeps the order of its iterations");
    return init;
  } else {
    std::optional<T> result;
    const auto plain = [&](auto... others) {
      result.emplace(
          detail::parallel_reduce_between<T>(c, source, from, to, std::move(init), body, combine, others...));
    };
    if constexpr (clone_context_type<C>) {
      detail::without_place(plain, hints...);
    } else {
      const placed_scope all(c.top, hint.where, code_of_hint<decltype(hint.where), Body, Combine>);
      detail::without_place(plain, hints...);
    }
    return std::move(*result);
  }
}

}  // namespace SUKIMA_DETAIL_NAMESPACE
