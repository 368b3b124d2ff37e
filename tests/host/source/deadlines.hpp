// SPDX-License-Identifier: Apache-2.0
// Deadlines for tests: one that is never reached, and one for what never comes.
#pragma once

#include <host/shared/source.hpp>

namespace sukima::host {

inline deadline far() { return std::chrono::steady_clock::now() + std::chrono::seconds(600); }
inline deadline soon() { return std::chrono::steady_clock::now() + std::chrono::milliseconds(50); }

}  // namespace sukima::host
