// SPDX-License-Identifier: Apache-2.0
// Which tasks an abort concerns (abort.cpp).
#pragma once

#include "fiber/fiber.hpp"

namespace sukima::detail {

/// Makes every worker look whether an abort concerns its task. The abort was stored before.
void request_abort_checks(runtime_core& r) noexcept;
/// Was the task that this fiber runs, or one of its ancestors, or a choice point of this fiber aborted?
bool is_concerned(const fiber& s) noexcept;
/// The task that it runs, or an ancestor?
bool is_task_concerned(const fiber& s) noexcept;
/// The same where an exception may leave: not while a destructor runs because of another one.
bool must_leave(const fiber& s) noexcept;
/// Sets `abort_pending`, from which on tests at joins look closer.
void look_for_abort(fiber& s) noexcept;
/// Aborts everything that fiber does above and including `r`.
void lower_abort(fiber& s, char* r) noexcept;
void clear_abort(fiber& s, choice_point* r) noexcept;

}  // namespace sukima::detail
