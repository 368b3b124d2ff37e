// SPDX-License-Identifier: Apache-2.0
// Keeps the library loaded while threads or signal handlers may still run its code.
#pragma once

namespace sukima::detail {

/// Keeps this copy of the library loaded until the process ends: dlclose() of the plug-in that contains it
/// does not unmap it. Does nothing for a copy in the executable. May wait for a thread that loads a library.
void stay_loaded() noexcept;

}  // namespace sukima::detail
