// SPDX-License-Identifier: Apache-2.0
// Cancelling a computation from anywhere.
#pragma once

#include <sukima/detail/inside.hpp>
#include <sukima/detail/task.hpp>
#include <sukima/errors.hpp>

#include <atomic>
#include <memory>
#include <optional>

namespace sukima::detail {

/// Shared by a cancellable computation and its cancellers. `stage` is changed by CAS: open → cancelling →
/// cancelled, or open → closed; whoever closes waits for `cancelling` to pass, because the canceller writes
/// to the strand meanwhile.
struct cancel_state {
  enum class stage : int { open, cancelling, cancelled, closed };
  std::atomic<stage> now{stage::open};
  strand* owner = nullptr;
  record* scope = nullptr;
};

void cancel_scope(cancel_state& s) noexcept;
/// Ends the scope. \returns was it cancelled?
bool close_scope(cancel_state& s) noexcept;
/// The scope was left by `aborted`: true if it ends here, false if something further out was aborted, too.
bool abort_ends_here(cancel_state& s) noexcept;
void open_scope(cancel_state& s, record* scope) noexcept;

inline constexpr record_kind scope_kind{record_alignment, [](const record*) noexcept { return false; },
                                        nullptr,          nullptr,
                                        nullptr,          nullptr,
                                        nullptr,          nullptr,
                                        nullptr};

}  // namespace sukima::detail

namespace sukima {

/// Cancels the `cancellable` computation that it was made for. Copies do the same.
class canceller {
 public:
  /// Aborts the computation: its tasks stop at their next test. Any thread; later calls, and calls after its
  /// end, do nothing.
  void cancel() const noexcept { detail::cancel_scope(*state_); }

 private:
  template <class F> friend auto cancellable(context c, F&& f);
  explicit canceller(std::shared_ptr<detail::cancel_state> s) : state_(std::move(s)) {}
  std::shared_ptr<detail::cancel_state> state_;
};

/// Calls f(context, canceller). Returns its result, or nothing if it was cancelled before it ended (for a
/// void f: whether it ended).
/// \throws what f throws; `aborted` if something around it is aborted
template <class F> auto cancellable(context c, F&& f) {
  using result = std::invoke_result_t<F&, context, canceller>;
  auto state = std::make_shared<detail::cancel_state>();
  auto* scope =
      ::new (static_cast<void*>(c.top)) detail::record{reinterpret_cast<std::uintptr_t>(&detail::scope_kind)};
  const context below{c.top + detail::record_alignment};
  detail::open_scope(*state, scope);
  try {
    if constexpr (std::is_void_v<result>) {
      f(below, canceller(state));
      detail::close_scope(*state);
      return true;
    } else {
      std::optional<result> value(f(below, canceller(state)));
      detail::close_scope(*state);
      return value;
    }
  } catch (const aborted&) {
    if (!detail::abort_ends_here(*state)) throw;
  } catch (...) {
    detail::close_scope(*state);
    throw;
  }
  if constexpr (std::is_void_v<result>)
    return false;
  else
    return std::optional<result>();
}

/// The same without a context; f takes only the canceller or both.
template <class F> auto cancellable(F&& f) {
  return detail::inside([&](context c) {
    return cancellable(
        c, [&](context below, canceller cancel) { return detail::call(below, f, std::move(cancel)); });
  });
}

}  // namespace sukima
