// SPDX-License-Identifier: Apache-2.0
// Decides when idle threads should sleep; see wait_judgement.h.
#include "wait_judgement.h"

static const uint64_t us = 1000;
static const uint64_t ms = 1000000;
/// In long windows, a small share of waiting counts: if there are many threads, a neighbour delays one at a
/// time.
static const cap_shortage_rule rule = {
    .window_count = 3,
    .windows = {{8 * 1000000, 0.4}, {30 * 1000000, 0.2}, {300 * 1000000, 0.08}},
    .enough_up_to = 0.02,
    .calm_windows = 3};
/// The kernel also counts it as waiting when a thread that sleeps at a barrier is woken on an idle CPU: 2 to
/// 6 microseconds. With thousands of barriers per second, that is a third of the thread's time, so threads
/// that sleep would never be found to have enough CPU. If others use the CPU, a wait takes milliseconds.
static const uint64_t longest_wake_up = 10 * us;
/// If spinning brought back the shortage within this time, threads spin again only after a pause.
static const uint64_t soon = 1000 * ms;
static const uint64_t longest_pause = 16000 * ms;
/// If the average gap is above the first value, gaps are long, and they stay long until it falls below the
/// second value. A thread that spins takes about half of a CPU from a worker. Waking a team of gcc's threads,
/// and Sukima's workers, takes 0.3 to 0.4 ms in a virtual machine. Beside threads that spin, the gaps
/// themselves are up to twice as long.
static const uint64_t long_gap = 3 * 1000000;
static const uint64_t still_long_gap = 3 * 1000000 / 2;
/// gcc's threads spin for 300,000 rounds, which take at least 3 ms.
static const uint64_t longest_counted_gap = 6 * 1000000;

void wait_judgement_start(struct wait_judgement* judgement, bool is_short, uint64_t now) {
  *judgement =
      (struct wait_judgement){.is_short = is_short, .shortage = {.is_short = is_short}, .since = now};
}

bool wait_judgement_add(struct wait_judgement* judgement, const cap_schedstat* did, uint64_t now) {
  const uint64_t wake_ups = did->slices * longest_wake_up;
  cap_shortage_add(&judgement->shortage, did->run_ns, did->wait_ns > wake_ups ? did->wait_ns - wake_ups : 0);
  const bool found_short = cap_shortage_judge(&judgement->shortage, &rule);
  const uint64_t lasted = now - judgement->since;
  if (found_short == judgement->is_short || (!found_short && lasted < judgement->pause))
    return judgement->is_short;
  if (found_short) {
    const uint64_t longer = judgement->pause == 0 ? soon : 2 * judgement->pause;
    judgement->pause = lasted >= soon ? 0 : longer < longest_pause ? longer : longest_pause;
  }
  judgement->is_short = found_short;
  judgement->since = now;
  return found_short;
}

uint64_t wait_judgement_mean_gap(uint64_t mean, uint64_t gap) {
  const uint64_t counted = gap < longest_counted_gap ? gap : longest_counted_gap;
  return (7 * mean + counted) / 8;
}

bool wait_judgement_gaps_are_long(uint64_t mean, bool were_long) {
  return mean >= (were_long ? still_long_gap : long_gap);
}

bool wait_judgement_follow(struct wait_judgement* judgement, pid_t thread, bool informative,
                           const cap_schedstat* counters, uint64_t now) {
  const cap_schedstat before = judgement->latest;
  const bool is_another =
      thread != judgement->thread || counters->run_ns < before.run_ns || counters->wait_ns < before.wait_ns;
  judgement->thread = thread;
  judgement->latest = *counters;
  if (is_another || !informative) {
    cap_shortage_restart(&judgement->shortage);
    return judgement->is_short;
  }
  const cap_schedstat did = {counters->run_ns - before.run_ns, counters->wait_ns - before.wait_ns,
                             counters->slices - before.slices};
  return wait_judgement_add(judgement, &did, now);
}
