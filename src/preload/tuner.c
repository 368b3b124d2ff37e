// SPDX-License-Identifier: Apache-2.0
// Trials of numbers of threads; see tuner.h.
//
// A trial takes one number after the other: 100 ms to settle, because the kernel needs that long to spread
// threads over the CPUs, then 250 ms or five ends of the reference region to measure. A number that is at
// under half the usual rate after 50 ms is given up. Another number is chosen only if it is 10 % better,
// because windows of this length differ by some per cent by themselves.
#include "tuner.h"

#include <string.h>

static const uint64_t ms = 1000000;

static const uint64_t first_trial_after = 1000 * ms;  // shorter runs keep the estimate's number
static const uint64_t pause_after_trial = 10000 * ms;
static const uint64_t longest_pause = 80000 * ms;
enum { pause_for_each_trial_time = 20 };  // trials cost at most a twentieth of the time
static const uint64_t pause_after_drift = 3000 * ms;
static const uint64_t settling = 100 * ms;
static const uint64_t measuring = 250 * ms;
static const uint64_t longest_measuring = 3000 * ms;
static const uint64_t choosing = 100 * ms;  // until the most frequent region is taken for the reference
static const uint64_t steady_window = 500 * ms;
static const uint64_t patience = 50 * ms;  // with a number that is much worse
enum { fewest_ends = 5 };
/// More threads are tried once the run has taken so many times what the trial will take: they may be much
/// slower, and a run that is nearly over gains nothing.
enum { run_for_each_trial_time = 4 };
static const double clearly_better = 1.10;
static const double much_worse = 0.5;
static const double hopeless_at_first = 0.25;  // of the usual rate while threads settle
static const double drift = 0.3;  // of the usual rate: the neighbours have changed

static void enter(struct tuner* tuner, enum tuner_state state, uint64_t now) {
  tuner->state = state;
  tuner->state_since = now;
  tuner->window = (struct tuner_window){0};
}

void tuner_start(struct tuner* tuner, const struct tuner_limits* limits, uint64_t now) {
  memset(tuner, 0, sizeof *tuner);
  tuner->limits = *limits;
  tuner->chosen = tuner->running = limits->fitting;
  tuner->begin = now;
  tuner->next_trial = now + first_trial_after;
  tuner->trial_pause = pause_after_trial;
  enter(tuner, tuner_steady, now);
}

/// Counts the end of a region.
static void count_region(struct tuner* tuner, uintptr_t function) {
  int i = 0;
  // The last entry is for all that have no other one.
  while (i < tuner_most_regions - 1 && tuner->regions[i].function != function &&
         tuner->regions[i].function != 0)
    ++i;
  tuner->regions[i].function = function;
  ++tuner->regions[i].count;
}

/// Makes the region that ended most often the reference, if it did so at least twice as often as the
/// present one.
/// \return whether there is a new reference
static bool choose_reference(struct tuner* tuner) {
  const struct tuner_region* most = &tuner->regions[0];
  uint64_t present = 0;
  for (int i = 0; i < tuner_most_regions && tuner->regions[i].count != 0; ++i) {
    if (tuner->regions[i].count > most->count) most = &tuner->regions[i];
    if (tuner->regions[i].function == tuner->reference) present = tuner->regions[i].count;
  }
  const bool better = most->function != tuner->reference && most->count >= 2 * present;
  if (better) tuner->reference = most->function;
  memset(tuner->regions, 0, sizeof tuner->regions);
  return better;
}

static double rate_of(const struct tuner_window* window, uint64_t now) {
  if (window->begin == 0 || now <= window->begin) return 0;
  return (double)window->count * 1e9 / (double)(now - window->begin);
}

static void add_candidate(struct tuner* tuner, uint32_t threads) {
  if (threads < tuner->limits.least || threads > tuner->limits.most || threads == tuner->chosen) return;
  for (uint32_t i = 0; i < tuner->candidate_count; ++i)
    if (tuner->candidates[i] == threads) return;
  if (tuner->candidate_count == tuner_most_candidates) return;
  tuner->candidates[tuner->candidate_count++] = threads;
}

/// How long a trial of all candidates will take, if none of them is much worse.
static uint64_t expected_trial(const struct tuner* tuner) {
  uint64_t window = (uint64_t)(fewest_ends * 1e9 / tuner->usual_rate);
  if (window < measuring) window = measuring;
  if (window > longest_measuring) window = longest_measuring;
  return tuner->candidate_count * (settling + window);
}

static void begin_trial(struct tuner* tuner, uint64_t now) {
  const uint32_t cpus = tuner->limits.cpus;
  tuner->candidate_count = 0;
  tuner->trial_begin = now;
  // Those that can do the least harm come first: a program that waits actively in its own code crawls with
  // more threads than CPUs.
  if (tuner->limits.fitting < tuner->chosen) add_candidate(tuner, tuner->limits.fitting);
  if (tuner->chosen > 1) add_candidate(tuner, tuner->chosen - 1);
  const uint32_t fewer = tuner->candidate_count;
  add_candidate(tuner, tuner->limits.fitting);
  add_candidate(tuner, cpus);
  add_candidate(tuner, 2 * cpus);
  const uint64_t wanted = expected_trial(tuner) * run_for_each_trial_time;
  if (now - tuner->begin < wanted) {
    tuner->candidate_count = fewer;
    if (fewer == 0) {
      tuner->next_trial = tuner->begin + wanted;
      enter(tuner, tuner_steady, now);
      return;
    }
  }
  tuner->candidate = 0;
  if (tuner->candidate_count == 0) {
    tuner->next_trial = now + longest_pause;
    enter(tuner, tuner_steady, now);
    return;
  }
  tuner->running = tuner->candidates[0];
  enter(tuner, tuner_settling, now);
}

static void end_trial(struct tuner* tuner, uint64_t now) {
  uint32_t best = tuner->chosen;
  double best_rate = tuner->usual_rate;
  for (uint32_t i = 0; i < tuner->candidate_count; ++i) {
    if (tuner->rates[i] > best_rate && tuner->rates[i] > clearly_better * tuner->usual_rate) {
      best = tuner->candidates[i];
      best_rate = tuner->rates[i];
    }
  }
  if (best != tuner->chosen) {
    tuner->changed = true;
    tuner->changed_from = tuner->chosen;
    tuner->rate_before = tuner->usual_rate;
    tuner->rate_after = best_rate;
    tuner->chosen = best;
    tuner->trial_pause = pause_after_trial;
  } else if (tuner->trial_pause < longest_pause) {
    tuner->trial_pause *= 2;
  }
  tuner->running = tuner->chosen;
  tuner->usual_rate = best_rate;
  const uint64_t for_the_cost = pause_for_each_trial_time * (now - tuner->trial_begin);
  tuner->next_trial = now + (for_the_cost > tuner->trial_pause ? for_the_cost : tuner->trial_pause);
  enter(tuner, tuner_steady, now);
}

/// The number that is being tried has this rate.
static void take_rate(struct tuner* tuner, double rate, uint64_t now) {
  const uint32_t tried = tuner->candidates[tuner->candidate];
  tuner->rates[tuner->candidate] = rate;
  ++tuner->candidate;
  // If all CPUs are too many, twice as many are not tried.
  while (tuner->candidate < tuner->candidate_count && rate < much_worse * tuner->usual_rate &&
         tuner->candidates[tuner->candidate] > tried && tried >= tuner->chosen) {
    tuner->rates[tuner->candidate++] = 0;
  }
  if (tuner->candidate == tuner->candidate_count) {
    end_trial(tuner, now);
    return;
  }
  tuner->running = tuner->candidates[tuner->candidate];
  enter(tuner, tuner_settling, now);
}

/// In `steady`: which region is the reference, and what its usual rate is.
static void watch_rate(struct tuner* tuner, uint64_t now) {
  const struct tuner_window* const window = &tuner->window;
  if (now - tuner->state_since < choosing) return;
  if (window->count < fewest_ends || tuner->reference == 0) {
    if (choose_reference(tuner)) {
      tuner->usual_rate = 0;
      enter(tuner, tuner_steady, now);
    }
    return;
  }
  if (now - window->begin < steady_window) return;
  if (choose_reference(tuner)) {
    tuner->usual_rate = 0;
    enter(tuner, tuner_steady, now);
    return;
  }
  const double rate = rate_of(window, window->latest);
  const bool drifted = tuner->usual_rate > 0 &&
                       (rate < (1 - drift) * tuner->usual_rate || rate > (1 + drift) * tuner->usual_rate);
  if (drifted) {
    tuner->trial_pause = pause_after_trial;
    if (tuner->next_trial > now + pause_after_drift) tuner->next_trial = now + pause_after_drift;
  }
  tuner->usual_rate = rate;
  if (now >= tuner->next_trial) {
    begin_trial(tuner, now);
  } else {
    enter(tuner, tuner_steady, now);
  }
}

/// In a trial: whether the number that is being tried is known well enough. It is judged by the clock at
/// each end of any region; a single region cannot be interrupted.
static void watch_trial(struct tuner* tuner, bool is_reference, uint64_t now) {
  const struct tuner_window* const window = &tuner->window;
  const uint64_t since =
      tuner->state == tuner_measuring && window->begin != 0 ? window->begin : tuner->state_since;
  const uint64_t measured = now - since;
  const double expected = tuner->usual_rate * (double)measured / 1e9;
  if (tuner->state == tuner_settling) {
    if (measured < settling) return;
    // Regions this long are an answer by themselves.
    if (measured >= settling + measuring || window->count + 1 < hopeless_at_first * expected) {
      take_rate(tuner, window->count * 1e9 / (double)measured, now);
    } else {
      enter(tuner, tuner_measuring, now);
    }
    return;
  }
  const bool hopeless = measured >= patience && window->count + 1 < much_worse * expected;
  const bool enough = is_reference && measured >= measuring && window->count >= fewest_ends;
  if (hopeless || enough || measured >= longest_measuring)
    take_rate(tuner, window->count * 1e9 / (double)(measured + 1), now);
}

uint32_t tuner_region_ended(struct tuner* tuner, uintptr_t function, uint64_t now) {
  count_region(tuner, function);
  const bool is_reference = function == tuner->reference;
  if (is_reference) {
    // Rates are measured from one end to another, so the first one is a beginning; while threads settle,
    // all count.
    if (tuner->window.begin == 0) tuner->window.begin = now;
    if (tuner->window.begin != now || tuner->state == tuner_settling) ++tuner->window.count;
    tuner->window.latest = now;
  }
  if (tuner->state == tuner_steady) {
    watch_rate(tuner, now);
  } else {
    watch_trial(tuner, is_reference, now);
  }
  return tuner->running;
}
