// SPDX-License-Identifier: Apache-2.0
// Stress mode: random delays and yields at the steps of the protocols, for tests only.
#pragma once

namespace sukima::detail {

#if defined(SUKIMA_STRESS)
/// Whether delays make each root long, so that steps for short roots are done for all.
inline constexpr bool stressed = true;
/// Sometimes yields, spins or sleeps. SUKIMA_STRESS_RATE sets how often (one in this many calls, default 64).
/// On the simulated machine: a step after which another thread may run (tests/simulation).
void stress_point() noexcept;
#else
inline constexpr bool stressed = false;
inline void stress_point() noexcept {}
#endif

}  // namespace sukima::detail
