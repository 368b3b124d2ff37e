// SPDX-License-Identifier: Apache-2.0
// Stress mode: random delays and yields at the steps of the protocols, for tests only.
#pragma once

namespace sukima::detail {

#if defined(SUKIMA_STRESS)
/// Now and then yields, spins or sleeps; how often is set by SUKIMA_STRESS_RATE (one in so many, default 64).
/// On the simulated machine: a step after which another thread may run (tests/simulation).
void stress_point() noexcept;
#else
inline void stress_point() noexcept {}
#endif

}  // namespace sukima::detail
