// SPDX-License-Identifier: Apache-2.0
// Stress mode: random delays and yields at the steps of the protocols, for tests only.
#pragma once

namespace sukima::detail {

#if defined(SUKIMA_STRESS)
/// Delays make each root long, so what is for short ones is done for all.
inline constexpr bool stressed = true;
/// Now and then yields, spins or sleeps; how often is set by SUKIMA_STRESS_RATE (one in so many, default 64).
/// On the simulated machine: a step after which another thread may run (tests/simulation).
void stress_point() noexcept;
#else
inline constexpr bool stressed = false;
inline void stress_point() noexcept {}
#endif

}  // namespace sukima::detail
