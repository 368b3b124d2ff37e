// SPDX-License-Identifier: Apache-2.0
// tbb::combinable: a T for each thread that requests one, and their sum.
#pragma once

#include <oneapi/tbb/enumerable_thread_specific.h>

#include <type_traits>
#include <utility>

namespace tbb {

template <class T> class combinable {
 public:
  combinable() = default;
  /// Makes elements by init().
  template <class Init>
    requires(!std::is_same_v<std::decay_t<Init>, combinable>)
  explicit combinable(Init init) : all_(std::move(init)) {}

  T& local() { return all_.local(); }
  /// \param exists  set to whether the thread had an element before
  T& local(bool& exists) { return all_.local(exists); }
  void clear() { all_.clear(); }
  template <class Combine> T combine(Combine combine) { return all_.combine(std::move(combine)); }
  template <class F> void combine_each(F f) { all_.combine_each(std::move(f)); }

 private:
  enumerable_thread_specific<T> all_;
};

}  // namespace tbb
