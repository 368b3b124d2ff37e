// SPDX-License-Identifier: Apache-2.0
// Names of the settings' values, for messages.
#pragma once

#include <sukima/settings.hpp>

namespace sukima::detail {

/// Whether any wait point has this policy.
bool uses(const settings& s, wait_policy p) noexcept;

const char* name_of(wait_policy p) noexcept;
const char* name_of(wait_point p) noexcept;
const char* name_of(pin_policy p) noexcept;
const char* name_of(victim_policy p) noexcept;
const char* name_of(placement_policy p) noexcept;

}  // namespace sukima::detail
