// SPDX-License-Identifier: Apache-2.0
// The check at rest, for tests: whether all words agree when no thread is inside a runtime. Liveness and
// counts may be wrong although results are right. In that case the check ends the process with a message that
// names the invariant.
#pragma once

namespace sukima {
class runtime;
}

namespace sukima::detail {

/// Waits until all workers have settled: they sleep, or, with a wait policy that never sleeps, are without
/// work. Then aborts unless: permits and wake epochs agree; the worker counts match the workers and their
/// flags; no worker that may run stays at home; no task runs, no fiber is parked, suspended or lost;
/// publication slots, injector queue and mailboxes are empty, the list of suspended fibers with splittable
/// work names none that is still suspended; no worker counts as blocked.
/// The wait ends with an event and has no time limit of its own: a lost wake-up shows as a hang.
/// \pre no thread is inside the runtime or enters it during the check; limit_workers may be called, and waits
/// Complexity: linear in the number of workers, plus the time that they need to fall asleep.
///
/// Weak: null if SUKIMA_ASSERT is off. So a test's objects can be linked with either library.
[[gnu::weak]] void check_at_rest(const runtime& r);

/// Calls check_at_rest if it exists.
inline void check_at_rest_if_built(const runtime& r) {
  if (check_at_rest != nullptr) check_at_rest(r);
}

}  // namespace sukima::detail
