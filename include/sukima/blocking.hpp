// SPDX-License-Identifier: Apache-2.0
// Waiting outside the runtime while another worker runs instead of the waiting one.
#pragma once

#include <sukima/detail/ambient.hpp>

#include <utility>

namespace sukima {
namespace detail {
/// Offers the fiber's pending work below `top` to other workers and lets one more worker run.
/// \param top null: the calling code has no context
/// \returns false if the calling thread is not a worker
bool blocking_begins(char* top);
void blocking_ends() noexcept;

class blocking_scope {
 public:
  explicit blocking_scope(char* top) : active_(blocking_begins(top)) {}
  ~blocking_scope() {
    if (active_) blocking_ends();
  }
  blocking_scope(const blocking_scope&) = delete;
  blocking_scope& operator=(const blocking_scope&) = delete;

 private:
  bool active_;
};

}  // namespace detail

/// \addtogroup waiting
/// @{

/// Calls f, which waits for something outside the runtime (a file, a socket, a mutex, a process), and lets
/// another worker run during the wait, so the program keeps as many CPUs busy as without the wait. Before f
/// begins, up to 64 pending forks and pieces of loops of this fiber are given to other workers.
///
/// f runs on this thread. It may use forks and loops of its own. Code with callbacks should use `suspend`,
/// which needs no thread while it waits. On an ordinary thread this is a plain call of f.
///
/// If other workers have nothing to do, a call costs about as much as waking a thread (some microseconds),
/// and at first as much as starting one (tens of microseconds). The runtime compensates for up to 256 blocked
/// workers at a time.
/// \return what f returns
/// \throws what f throws; std::bad_alloc
template <class F>
  requires std::invocable<F>
std::invoke_result_t<F> blocking(F&& f) {
  const detail::blocking_scope scope(nullptr);
  return std::forward<F>(f)();
}

/// @}
}  // namespace sukima

namespace SUKIMA_NAMESPACE {
/// \addtogroup waiting
/// @{

/// The same for code that has a context. Such code should pass it: otherwise only work that was already
/// published is given away.
template <class F>
  requires std::invocable<F>
std::invoke_result_t<F> blocking(context c, F&& f) {
  detail::check_context(c, "sukima::blocking");
  const detail::blocking_scope scope(c.top);
  return std::forward<F>(f)();
}

/// @}
}  // namespace SUKIMA_NAMESPACE
