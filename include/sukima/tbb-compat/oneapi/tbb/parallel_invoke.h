// SPDX-License-Identifier: Apache-2.0
// tbb::parallel_invoke on Sukima's workers.
#pragma once

#include <oneapi/tbb/task_group.h>
#include <sukima/detail/tbb/algorithm.hpp>
#include <sukima/fork.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

namespace sukima::detail::tbb {

template <class F> void invoke_all(context c, const running_state& task, const F& f) noexcept {
  if (!task.group->is_cancelled()) tbb::run_body(c, task, [&] { f(); });
}
template <class F, class... More>
void invoke_all(context c, const running_state& task, const F& f, const More&... more) noexcept {
  sukima::fork2(
      c, [&](context d) { tbb::invoke_all(d, task, f); },
      [&](context d) { tbb::invoke_all(d, task, more...); });
}

/// The functions; the last argument may be a context.
template <class Functions, std::size_t... I>
void invoke_in(::tbb::task_group_context& of, const Functions& all, std::index_sequence<I...>) {
  tbb::run_in(of,
              [&](context c, const running_state& task) { tbb::invoke_all(c, task, std::get<I>(all)...); });
}

}  // namespace sukima::detail::tbb

namespace tbb {

/// Calls functions that may run at the same time. The last argument may be a task_group_context.
template <class F, class G, class... More> void parallel_invoke(F&& f, G&& g, More&&... more) {
  const std::tuple<F&, G&, More&...> all(f, g, more...);
  using last = std::tuple_element_t<sizeof...(More) + 1, std::tuple<F&, G&, More&...>>;
  constexpr bool has_context = std::is_same_v<last, task_group_context&>;
  using functions = std::make_index_sequence<sizeof...(More) + (has_context ? 1 : 2)>;
  if constexpr (has_context) {
    ::sukima::detail::tbb::invoke_in(std::get<sizeof...(More) + 1>(all), all, functions{});
  } else {
    task_group_context own;
    ::sukima::detail::tbb::invoke_in(own, all, functions{});
  }
}

}  // namespace tbb
