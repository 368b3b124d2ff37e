// SPDX-License-Identifier: Apache-2.0
// Suspended fibers from a helper's point of view (suspend.cpp).
#pragma once

#include "fiber/fiber.hpp"

namespace sukima::detail {

/// Has a suspended fiber work that a helper may split off? Only for the worker that suspends it or holds it.
bool has_splittable_work(const fiber& s) noexcept;
/// Keeps a suspended fiber from running until let_go_suspended. False: it was resumed.
bool hold_suspended(fiber& s) noexcept;
/// False: it was resumed meanwhile, and the caller is to make it run. Only its address may be used otherwise.
bool let_go_suspended(fiber& s) noexcept;

}  // namespace sukima::detail
