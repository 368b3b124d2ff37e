// SPDX-License-Identifier: Apache-2.0
// tbb::parallel_pipeline on Sukima's workers.
#pragma once

#include <oneapi/tbb/task_group.h>
#include <sukima/detail/tbb/names.hpp>
#include <sukima/detail/tbb/pipeline.hpp>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace tbb {

/// One or more stages, which make an Output from an Input.
template <class Input, class Output> class filter {
 public:
  filter() = default;
  template <class Body>
    requires std::is_invocable_v<const Body&, std::conditional_t<std::is_void_v<Input>, flow_control&, Input>>
  filter(filter_mode mode, const Body& body)
      : stages_{std::make_shared<::sukima::detail::tbb::stage_of<Input, Output, Body>>(mode, body)} {}
  template <class Middle> filter(const filter<Input, Middle>& left, const filter<Middle, Output>& right)
      : stages_(left.stages()) {
    stages_.insert(stages_.end(), right.stages().begin(), right.stages().end());
  }
  void clear() { stages_.clear(); }
  filter& operator&=(const filter<Output, Output>& right) {
    stages_.insert(stages_.end(), right.stages().begin(), right.stages().end());
    return *this;
  }
  /// For parallel_pipeline.
  const ::sukima::detail::tbb::pipeline_run::stages& stages() const noexcept { return stages_; }

 private:
  ::sukima::detail::tbb::pipeline_run::stages stages_;
};

template <class Body> filter(filter_mode, Body)
    -> filter<::sukima::detail::tbb::stage_input<Body>, ::sukima::detail::tbb::stage_output<Body>>;

template <class Input, class Output, class Body>
filter<Input, Output> make_filter(filter_mode mode, const Body& body) {
  return filter<Input, Output>(mode, body);
}
/// The same with the types of the body's parameter and result.
template <class Body> auto make_filter(filter_mode mode, const Body& body) {
  return filter<::sukima::detail::tbb::stage_input<Body>, ::sukima::detail::tbb::stage_output<Body>>(mode,
                                                                                                     body);
}
/// Joins stages, which then run one after the other.
template <class Input, class Middle, class Output>
filter<Input, Output> operator&(const filter<Input, Middle>& left, const filter<Middle, Output>& right) {
  return filter<Input, Output>(left, right);
}

/// Passes each item that the first stage makes through all stages, until that stage calls flow_control::stop.
/// \param most  the largest number of items that are in the pipeline at a time
inline void parallel_pipeline(std::size_t most, const filter<void, void>& all, task_group_context& of) {
  if (!all.stages().empty()) ::sukima::detail::tbb::run_pipeline(most, all.stages(), of);
}
inline void parallel_pipeline(std::size_t most, const filter<void, void>& all) {
  task_group_context own;
  parallel_pipeline(most, all, own);
}
/// The same with the stages as arguments; the last one may be a context.
template <class A, class B, class C, class... More>
void parallel_pipeline(std::size_t most, const filter<void, A>& first, const filter<A, B>& second, C&& next,
                       More&&... more) {
  ::tbb::parallel_pipeline(most, first & second, std::forward<C>(next), std::forward<More>(more)...);
}
template <class A> void parallel_pipeline(std::size_t most, const filter<void, A>& first,
                                          const filter<A, void>& second) {
  ::tbb::parallel_pipeline(most, first & second);
}

}  // namespace tbb
