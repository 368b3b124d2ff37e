// SPDX-License-Identifier: Apache-2.0
// parallel_scan and parallel_exclusive_scan: running totals.
#pragma once

#include <sukima/detail/ambient.hpp>
#include <sukima/detail/scan.hpp>
#include <sukima/detail/separate_elements.hpp>

#include <concepts>
#include <functional>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>

namespace SUKIMA_DETAIL_NAMESPACE {

/// operation(T, element) and operation(T, T) return a T, and several threads can write Ts to the output. A T
/// that is made from an element can begin the sum of a stolen piece.
template <class Operation, class T, class In, class Out>
concept scan_operation =
    std::random_access_iterator<In> && std::random_access_iterator<Out> && std::copy_constructible<T> &&
    begins_sum<T, std::iter_reference_t<In>> && std::is_move_assignable_v<T> &&
    std::is_invocable_r_v<T, Operation&, T, std::iter_reference_t<In>> &&
    std::is_invocable_r_v<T, Operation&, T, T> && std::indirectly_writable<Out, T> && separate_elements<Out>;

/// A source that a scan can read: an iterator or a range.
template <class T>
concept scannable =
    std::random_access_iterator<std::remove_cvref_t<T>> || std::ranges::random_access_range<T>;
/// Ends the compilation with a sentence about the arguments that a scan takes.
template <class... Arguments> constexpr void refuse_scan() noexcept {
  static_assert(sizeof...(Arguments) == 0,
                "sukima::parallel_scan takes (first, last) or a range, a random-access iterator to write to, "
                "and an operation that gives a sum for two sums and for a sum and an element, "
                "from which a sum can be made, but no number for a container, whose size it would be; "
                "sukima::parallel_exclusive_scan also takes the first sum, before the operation; "
                "the output cannot be a std::vector<bool>, whose elements share words");
}

template <class In, class Out, class Operation>
Out inclusive_scan_at(context c, In first, In last, Out out, Operation& operation) {
  using value = std::iter_value_t<In>;
  const auto count = static_cast<std::int64_t>(last - first);
  if (count <= 0) return out;
  value begin(*first);
  *out = begin;
  auto&& callable = detail::without_member_pointer(operation);
  scan<scan_form::inclusive, value, In, Out, std::remove_reference_t<decltype(callable)>>(first, out,
                                                                                          callable)
      .write_all(c, 1, count, std::move(begin));
  return out + static_cast<std::iter_difference_t<Out>>(count);
}

template <scan_form Form, class In, class Out, class T, class Operation>
Out scan_with_start(context c, In first, In last, Out out, T init, Operation& operation) {
  const auto count = static_cast<std::int64_t>(last - first);
  if (count <= 0) return out;
  auto&& callable = detail::without_member_pointer(operation);
  scan<Form, T, In, Out, std::remove_reference_t<decltype(callable)>>(first, out, callable)
      .write_all(c, 0, count, std::move(init));
  return out + static_cast<std::iter_difference_t<Out>>(count);
}

}  // namespace SUKIMA_DETAIL_NAMESPACE

namespace SUKIMA_NAMESPACE {
/// \addtogroup algorithms
/// @{

/// Writes running totals: x0, x0 ⊕ x1, x0 ⊕ x1 ⊕ x2, … for the elements x of [first, last), where a ⊕ b is
/// operation(a, b). ⊕ must be associative. Sums of floating-point numbers may differ in rounding from a
/// sequential scan, because each piece that another worker takes is added up separately. Under `--hope` they
/// are the same on all nodes and in all runs.
///
/// The scan works like a plain loop until another worker is idle. Only elements that another worker takes are
/// read twice. Two workers with a CPU each need at best two thirds of the time of one worker.
/// \param c      the caller's own context
/// \param first, last  random-access iterators
/// \param out    random-access iterator to the first place to write to, not one of a std::vector<bool>; `out`
///               may be `first`. If the ranges overlap otherwise, the result is unspecified.
/// \param operation  gives a value of the elements' type for two of them; is called by several workers at
///               the same time. It may be a pointer to a member function
/// \returns the end of the written totals
/// \throws what the operation throws, after the rest was aborted; the output is then partly written.
///         `sukima::aborted` if the caller itself is aborted; std::bad_alloc if there is no memory for the
///         sums of a piece that another worker has taken
/// \par Complexity at most 2 · (last − first) operations; last − first with one worker
template <class In, class Out, class Operation = std::plus<>>
  requires detail::scan_operation<Operation, std::iter_value_t<In>, In, Out>
Out parallel_scan(context c, In first, In last, Out out, Operation operation = {}) {
  detail::check_context(c, "sukima::parallel_scan");
  return detail::inclusive_scan_at(c, first, last, out, operation);
}
/// The same with a start: init ⊕ x0, init ⊕ x0 ⊕ x1, … The totals have the type of `init`.
template <class In, class Out, class Operation, class T>
  requires detail::scan_operation<Operation, T, In, Out>
Out parallel_scan(context c, In first, In last, Out out, Operation operation, T init) {
  detail::check_context(c, "sukima::parallel_scan");
  return detail::scan_with_start<detail::scan_form::inclusive>(c, first, last, out, std::move(init),
                                                               operation);
}
/// The same over a random-access range.
template <std::ranges::random_access_range Range, class Out, class Operation = std::plus<>>
  requires detail::scan_operation<Operation, std::ranges::range_value_t<Range>,
                                  std::ranges::iterator_t<Range>, Out>
Out parallel_scan(context c, Range&& range, Out out, Operation operation = {}) {
  detail::check_context(c, "sukima::parallel_scan");
  auto first = std::ranges::begin(range);
  return detail::inclusive_scan_at(c, first, first + std::ranges::distance(range), out, operation);
}
/// The same over a random-access range, with a start.
template <std::ranges::random_access_range Range, class Out, class Operation, class T>
  requires detail::scan_operation<Operation, T, std::ranges::iterator_t<Range>, Out>
Out parallel_scan(context c, Range&& range, Out out, Operation operation, T init) {
  detail::check_context(c, "sukima::parallel_scan");
  auto first = std::ranges::begin(range);
  return detail::scan_with_start<detail::scan_form::inclusive>(c, first, first + std::ranges::distance(range),
                                                               out, std::move(init), operation);
}

/// The same without a context.
template <class In, class Out, class Operation = std::plus<>>
  requires detail::scan_operation<Operation, std::iter_value_t<In>, In, Out>
Out parallel_scan(In first, In last, Out out, Operation operation = {}) {
  return detail::with_context(
      [&](context c) { return sukima::parallel_scan(c, first, last, out, operation); });
}
/// The same with a start, without a context.
template <class In, class Out, class Operation, class T>
  requires detail::scan_operation<Operation, T, In, Out>
Out parallel_scan(In first, In last, Out out, Operation operation, T init) {
  return detail::with_context(
      [&](context c) { return sukima::parallel_scan(c, first, last, out, operation, std::move(init)); });
}
/// The same over a random-access range, without a context.
template <std::ranges::random_access_range Range, class Out, class Operation = std::plus<>>
  requires detail::scan_operation<Operation, std::ranges::range_value_t<Range>,
                                  std::ranges::iterator_t<Range>, Out>
Out parallel_scan(Range&& range, Out out, Operation operation = {}) {
  return detail::with_context([&](context c) { return sukima::parallel_scan(c, range, out, operation); });
}
/// The same over a random-access range with a start, without a context.
template <std::ranges::random_access_range Range, class Out, class Operation, class T>
  requires detail::scan_operation<Operation, T, std::ranges::iterator_t<Range>, Out>
Out parallel_scan(Range&& range, Out out, Operation operation, T init) {
  return detail::with_context(
      [&](context c) { return sukima::parallel_scan(c, range, out, operation, std::move(init)); });
}

/// Writes running totals of the elements *before* each element: init, init ⊕ x0, init ⊕ x0 ⊕ x1, … Otherwise
/// as `parallel_scan`; `out` may be `first` here, too.
/// \param c, first, last, out, operation  as for parallel_scan
/// \param init  the first total; it also gives the type of the totals
/// \returns as parallel_scan
/// \throws as parallel_scan
/// \par Complexity as parallel_scan
template <class In, class Out, class T, class Operation = std::plus<>>
  requires detail::scan_operation<Operation, T, In, Out>
Out parallel_exclusive_scan(context c, In first, In last, Out out, T init, Operation operation = {}) {
  detail::check_context(c, "sukima::parallel_exclusive_scan");
  return detail::scan_with_start<detail::scan_form::exclusive>(c, first, last, out, std::move(init),
                                                               operation);
}
/// The same over a random-access range.
template <std::ranges::random_access_range Range, class Out, class T, class Operation = std::plus<>>
  requires detail::scan_operation<Operation, T, std::ranges::iterator_t<Range>, Out>
Out parallel_exclusive_scan(context c, Range&& range, Out out, T init, Operation operation = {}) {
  detail::check_context(c, "sukima::parallel_exclusive_scan");
  auto first = std::ranges::begin(range);
  return detail::scan_with_start<detail::scan_form::exclusive>(c, first, first + std::ranges::distance(range),
                                                               out, std::move(init), operation);
}

/// The same without a context.
template <class In, class Out, class T, class Operation = std::plus<>>
  requires detail::scan_operation<Operation, T, In, Out>
Out parallel_exclusive_scan(In first, In last, Out out, T init, Operation operation = {}) {
  return detail::with_context([&](context c) {
    return sukima::parallel_exclusive_scan(c, first, last, out, std::move(init), operation);
  });
}
/// The same over a random-access range, without a context.
template <std::ranges::random_access_range Range, class Out, class T, class Operation = std::plus<>>
  requires detail::scan_operation<Operation, T, std::ranges::iterator_t<Range>, Out>
Out parallel_exclusive_scan(Range&& range, Out out, T init, Operation operation = {}) {
  return detail::with_context(
      [&](context c) { return sukima::parallel_exclusive_scan(c, range, out, std::move(init), operation); });
}

/// \cond
// Overloads for all other arguments: the compiler reports one sentence about them.
template <detail::scannable First, class... More> int parallel_scan(First&&, More&&...) {
  detail::refuse_scan<First, More...>();
  return 0;
}
template <detail::scannable First, class... More> int parallel_scan(context, First&&, More&&...) {
  detail::refuse_scan<First, More...>();
  return 0;
}
template <detail::scannable First, class... More> int parallel_exclusive_scan(First&&, More&&...) {
  detail::refuse_scan<First, More...>();
  return 0;
}
template <detail::scannable First, class... More> int parallel_exclusive_scan(context, First&&, More&&...) {
  detail::refuse_scan<First, More...>();
  return 0;
}
/// \endcond

/// @}
}  // namespace SUKIMA_NAMESPACE
