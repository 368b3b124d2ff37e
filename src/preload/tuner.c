// SPDX-License-Identifier: Apache-2.0
// Experiments with numbers of threads; see tuner.h.
//
// The speed of a number is the time that the regions executed with it would have taken with the chosen number
// (from each region's mean), divided by the time that they took. So windows need not contain whole iterations
// of the program, and regions of different lengths need no common clock.
//
// The older a run is, the longer an experiment may take. The kernel needs 100 ms to spread threads over the
// CPUs, and windows of a quarter of a second vary by some per cent by themselves, but a run of one second
// cannot wait for that. An early experiment accepts only large differences, and a late one accepts
// differences above 10 %. A number with less than half of the speed is given up at once.
#include "tuner.h"

#include <capacity/shared/assert.h>
#include <string.h>

static const uint64_t ms = 1000000;

// While CPU is short, an experiment distinguishes active from sleeping waits as early as possible.
static const uint64_t first_experiment_if_short = 60 * ms;
static const uint64_t first_experiment = 1000 * ms;
static const uint64_t early = 1000 * ms;  // before that, only the two numbers of the estimate are tried
static const uint64_t pause_after_experiment = 10000 * ms;
static const uint64_t longest_pause = 80000 * ms;
enum { pause_for_lost_time = 20 };  // experiments cost at most a twentieth of the time
static const uint64_t pause_after_drift = 3000 * ms;
static const uint64_t longest_measuring = 3000 * ms;
/// Numbers above the estimate are tried once the run has taken this multiple of the time of the experiment:
/// they may be much slower, and a run that is almost finished gains nothing.
enum { run_for_each_experiment_time = 4 };
enum { some_regions = 5 };  // the number of executions by which a number should be judged
static const double much_worse = 0.5;
static const double hopeless_at_first = 0.25;  // of the usual speed while threads settle
static const double drift = 0.3;  // of the usual speed: a larger change means other neighbours

static uint64_t clamped(uint64_t value, uint64_t least, uint64_t most) {
  return value < least ? least : value > most ? most : value;
}

static uint64_t age(const struct tuner* tuner, uint64_t now) { return now - tuner->begin; }
static uint64_t settling(const struct tuner* tuner, uint64_t now) {
  return clamped(age(tuner, now) / 20, 5 * ms, 100 * ms);
}
static uint64_t measuring(const struct tuner* tuner, uint64_t now) {
  return clamped(age(tuner, now) / 10, 20 * ms, 250 * ms);
}
static uint64_t patience(const struct tuner* tuner, uint64_t now) {
  return clamped(age(tuner, now) / 20, 10 * ms, 50 * ms);
}
/// The window in which the usual speed is measured.
static uint64_t steady_window(const struct tuner* tuner, uint64_t now) {
  return clamped(age(tuner, now) / 3, 30 * ms, 500 * ms);
}
/// The factor by which a number must be better after an experiment of this length.
static double clearly_better(uint64_t measured) {
  return measured >= 150 * ms ? 1.10 : measured >= 50 * ms ? 1.25 : 1.40;
}

static void enter(struct tuner* tuner, enum tuner_state state, uint64_t now) {
  tuner->state = state;
  tuner->state_since = now;
}

void tuner_start(struct tuner* tuner, const struct tuner_limits* limits, uint64_t now) {
  CAP_ASSERT(limits->least >= 1 && limits->least <= limits->most, "a region has at least one thread");
  memset(tuner, 0, sizeof *tuner);
  tuner->limits = *limits;
  tuner->chosen = tuner->running = limits->first;
  tuner->begin = now;
  tuner->is_short = limits->first != limits->fitting;
  tuner->next_experiment = now + (tuner->is_short ? first_experiment_if_short : first_experiment);
  tuner->experiment_pause = pause_after_experiment;
  enter(tuner, tuner_steady, now);
}

/// Infers how threads wait. The thread represents all threads, because the waiting threads change with each
/// region.
/// - A thread that almost never gives up its CPU waits actively, in the program's own code.
/// - A thread that gives it up all the time loses more by that than by waiting.
/// - A thread may lose its CPU each millisecond, and far more often than it gives it up. Then it sleeps at
///   barriers and waits actively between them, as in LU of the NAS benchmarks: that thread loses its CPU 2300
///   to 4000 times per second of CPU time, and gives it up 450 to 630 times. Beside a busy neighbour, a
///   working thread loses it about 300 times.
void tuner_switches(struct tuner* tuner, double ran, uint64_t given_up, uint64_t lost) {
  static const double least_given_up = 50;
  static const double most_given_up = 4000;
  static const double many_lost = 1000;
  const bool waits_actively_between = (double)lost > many_lost * ran && lost > 2 * given_up;
  tuner->threads_sleep = (double)given_up > least_given_up * ran && (double)given_up < most_given_up * ran &&
                         !waits_actively_between;
}

void tuner_supply_changed(struct tuner* tuner, bool is_short, uint64_t now) {
  if (is_short && !tuner->is_short && tuner->next_experiment > now + settling(tuner, now))
    tuner->next_experiment = now + settling(tuner, now);
  tuner->is_short = is_short;
}

static struct tuner_region* find_region(struct tuner* tuner, uintptr_t function) {
  int i = 0;
  // The last entry is shared by all regions that have no entry of their own.
  while (i < tuner_most_regions - 1 && tuner->regions[i].function != function &&
         tuner->regions[i].function != 0)
    ++i;
  tuner->regions[i].function = function;
  return &tuner->regions[i];
}

/// Counts the latest execution of a region. The time after a region counts as the region's, because it also
/// grows if threads hinder the program. It counts at most as long as the region itself, because for instance
/// reading a file says nothing about threads.
static void count_latest(struct tuner* tuner, uint64_t now) {
  struct tuner_region* const region = tuner->latest;
  if (region == NULL || tuner->latest_end == 0) return;
  const uint64_t inside = tuner->latest_end - tuner->latest_begin;
  const uint64_t after = now - tuner->latest_end;
  CAP_ASSERT(tuner->latest_begin <= tuner->latest_end && tuner->latest_end <= now,
             "a region ends after it begins");
  struct tuner_sum* const sum = tuner->latest_is_usual ? &region->present : &region->tried;
  ++sum->count;
  sum->time += inside + (after < inside ? after : inside);
  tuner->latest = NULL;
}

/// The speed relative to the usual one; 0: unknown.
/// \param tried whether to judge the executions with the number that is being tried; otherwise those of the
/// present window, relative to the window before
static double speed_of(const struct tuner* tuner, bool tried) {
  double expected = 0;
  double actual = 0;
  double unknown = 0;
  for (int i = 0; i < tuner_most_regions && tuner->regions[i].function != 0; ++i) {
    const struct tuner_region* const region = &tuner->regions[i];
    const struct tuner_sum* const sum = tried ? &region->tried : &region->present;
    const struct tuner_sum usual = {region->before.count + (tried ? region->present.count : 0),
                                    region->before.time + (tried ? region->present.time : 0)};
    if (sum->count == 0) continue;
    if (usual.count == 0) {
      unknown += (double)sum->time;
      continue;
    }
    expected += (double)usual.time / (double)usual.count * (double)sum->count;
    actual += (double)sum->time;
  }
  return actual > unknown && expected > 0 ? expected / actual : 0;
}

static void forget_experiment(struct tuner* tuner) {
  for (int i = 0; i < tuner_most_regions; ++i) tuner->regions[i].tried = (struct tuner_sum){0, 0};
}

/// Scales the regions' times, as if they had always had the new speed.
static void adopt_speed(struct tuner* tuner, double speed) {
  for (int i = 0; i < tuner_most_regions; ++i) {
    struct tuner_region* const region = &tuner->regions[i];
    region->before.time = (uint64_t)((double)region->before.time / speed);
    region->present.time = (uint64_t)((double)region->present.time / speed);
  }
}

static void add_candidate(struct tuner* tuner, uint32_t threads) {
  if (threads < tuner->limits.least || threads > tuner->limits.most || threads == tuner->chosen) return;
  for (uint32_t i = 0; i < tuner->candidate_count; ++i)
    if (tuner->candidates[i] == threads) return;
  if (tuner->candidate_count == tuner_most_candidates) return;
  tuner->candidates[tuner->candidate_count++] = threads;
}

/// The expected length of an experiment with this number of candidates, if none of them is much worse.
static uint64_t expected_experiment(const struct tuner* tuner, uint32_t candidates, uint64_t now) {
  struct tuner_sum all = {0, 0};
  for (int i = 0; i < tuner_most_regions && tuner->regions[i].function != 0; ++i) {
    all.count += tuner->regions[i].before.count;
    all.time += tuner->regions[i].before.time;
  }
  const uint64_t some = all.count != 0 ? some_regions * all.time / all.count : 0;
  const uint64_t window = clamped(some, measuring(tuner, now), longest_measuring);
  return candidates * (settling(tuner, now) + window);
}

/// Chooses the candidates. Those that can do the least harm come first, because a program that waits actively
/// in its own code becomes very slow with more threads than CPUs.
static void choose_candidates(struct tuner* tuner, uint64_t now) {
  const struct tuner_limits* const limits = &tuner->limits;
  tuner->candidate_count = 0;
  if (limits->fitting < tuner->chosen) add_candidate(tuner, limits->fitting);
  if (age(tuner, now) < early && tuner->is_short) {
    // Without an estimate, half of the CPUs has the lowest risk.
    if (tuner->candidate_count == 0 && tuner->chosen > 1) add_candidate(tuner, (tuner->chosen + 1) / 2);
    add_candidate(tuner, limits->first);
    if (tuner->candidate_count == 0) tuner->next_experiment = tuner->begin + early;
    return;
  }
  if (tuner->chosen > 1) add_candidate(tuner, tuner->chosen - 1);
  const uint32_t fewer = tuner->candidate_count;
  add_candidate(tuner, limits->fitting);
  add_candidate(tuner, limits->first);
  add_candidate(tuner, limits->cpus);
  if (tuner->is_short) add_candidate(tuner, 2 * limits->cpus);
  const uint64_t worth_it =
      run_for_each_experiment_time * expected_experiment(tuner, tuner->candidate_count, now);
  if (age(tuner, now) >= worth_it) return;
  tuner->candidate_count = fewer;
  if (fewer == 0) tuner->next_experiment = tuner->begin + worth_it;
}

static void begin_experiment(struct tuner* tuner, uint64_t now) {
  if (age(tuner, now) < early && tuner->threads_sleep) {
    tuner->next_experiment = tuner->begin + early;
    return;
  }
  choose_candidates(tuner, now);
  if (tuner->candidate_count == 0) {
    if (tuner->next_experiment <= now) tuner->next_experiment = now + longest_pause;
    return;
  }
  tuner->experiment_begin = now;
  tuner->lost = 0;
  tuner->candidate = 0;
  tuner->running = tuner->candidates[0];
  forget_experiment(tuner);
  enter(tuner, tuner_settling, now);
}

static void end_experiment(struct tuner* tuner, uint64_t now) {
  CAP_ASSERT(tuner->state != tuner_steady && tuner->candidate == tuner->candidate_count,
             "an experiment ends when each of its numbers was tried");
  uint32_t best = tuner->candidate_count;
  const bool is_early = age(tuner, now) < early;
  for (uint32_t i = 0; i < tuner->candidate_count; ++i)
    if (tuner->speeds[i] > 1 && (best == tuner->candidate_count || tuner->speeds[i] > tuner->speeds[best]))
      best = i;
  if (best != tuner->candidate_count) {
    tuner->changed = true;
    tuner->changed_from = tuner->chosen;
    tuner->gain = tuner->speeds[best];
    tuner->chosen = tuner->candidates[best];
    tuner->experiment_pause = pause_after_experiment;
    adopt_speed(tuner, tuner->gain);
  } else if (!is_early && tuner->experiment_pause < longest_pause) {
    tuner->experiment_pause *= 2;
  }
  tuner->running = tuner->chosen;
  const uint64_t for_the_cost = pause_for_lost_time * tuner->lost;
  const uint64_t for_the_age = clamped(age(tuner, now), 100 * ms, tuner->experiment_pause);
  tuner->next_experiment = now + (for_the_cost > for_the_age ? for_the_cost : for_the_age);
  forget_experiment(tuner);
  enter(tuner, tuner_steady, now);
}

/// Records the speed of the number that is being tried (0: unknown), and continues with the next candidate.
static void take_speed(struct tuner* tuner, double speed, uint64_t measured, uint64_t now) {
  CAP_ASSERT(tuner->candidate < tuner->candidate_count, "an experiment tries one of its numbers");
  const uint32_t tried = tuner->candidates[tuner->candidate];
  CAP_ASSERT(tuner->running == tried, "the regions of an experiment run with the number that it tries");
  if (speed > 0 && speed < 1)
    tuner->lost += (uint64_t)((1 - speed) * (double)(now - tuner->experiment_begin));
  tuner->experiment_begin = now;
  tuner->speeds[tuner->candidate++] = speed > clearly_better(measured) ? speed : 0;
  // If using all CPUs is much worse, do not try larger numbers.
  while (tuner->candidate < tuner->candidate_count && speed < much_worse &&
         tuner->candidates[tuner->candidate] > tried && tried >= tuner->chosen) {
    tuner->speeds[tuner->candidate++] = 0;
  }
  if (tuner->candidate == tuner->candidate_count) {
    end_experiment(tuner, now);
    return;
  }
  tuner->running = tuner->candidates[tuner->candidate];
  forget_experiment(tuner);
  enter(tuner, tuner_settling, now);
}

/// In the state `steady`: computes the usual speed, and detects that it has changed.
static void follow_usual(struct tuner* tuner, uint64_t now) {
  if (now - tuner->state_since < steady_window(tuner, now)) return;
  const double speed = speed_of(tuner, false);
  if (speed > 0 && (speed < 1 - drift || speed > 1 + drift)) {
    tuner->experiment_pause = pause_after_experiment;
    if (tuner->next_experiment > now + pause_after_drift) tuner->next_experiment = now + pause_after_drift;
  }
  bool known = false;
  for (int i = 0; i < tuner_most_regions && tuner->regions[i].function != 0; ++i) {
    struct tuner_region* const region = &tuner->regions[i];
    known = known || region->present.count != 0;
    region->before = region->present;
    region->present = (struct tuner_sum){0, 0};
  }
  enter(tuner, tuner_steady, now);
  if (known && now >= tuner->next_experiment) begin_experiment(tuner, now);
}

/// In an experiment: checks whether the speed of the number that is being tried is known well enough. This is
/// checked whenever a region begins, because a region cannot be interrupted.
static void follow_experiment(struct tuner* tuner, uint64_t now) {
  const uint64_t spent = now - tuner->state_since;
  const double speed = speed_of(tuner, true);
  const bool known = speed > 0;
  if (tuner->state == tuner_settling) {
    const uint64_t settled = settling(tuner, now);
    const bool hopeless = known && speed < hopeless_at_first && spent >= patience(tuner, now);
    // Regions this long are a sufficient result by themselves.
    if (hopeless || (known && spent >= settled + measuring(tuner, now))) {
      take_speed(tuner, speed, spent, now);
    } else if (spent >= settled) {
      forget_experiment(tuner);
      enter(tuner, tuner_measuring, now);
    }
    return;
  }
  const bool hopeless = known && speed < much_worse && spent >= patience(tuner, now);
  const bool enough = known && spent >= measuring(tuner, now);
  if (hopeless || enough || spent >= longest_measuring) take_speed(tuner, speed, spent, now);
}

uint32_t tuner_region_begins(struct tuner* tuner, uintptr_t function, uint64_t now) {
  count_latest(tuner, now);
  if (tuner->state == tuner_steady) {
    follow_usual(tuner, now);
  } else {
    follow_experiment(tuner, now);
  }
  CAP_ASSERT((tuner->state == tuner_steady) == (tuner->running == tuner->chosen),
             "only an experiment runs with another number than the chosen one");
  tuner->latest = find_region(tuner, function);
  tuner->latest_begin = now;
  tuner->latest_end = 0;
  tuner->latest_is_usual = tuner->state == tuner_steady;
  return tuner->running;
}

void tuner_region_ends(struct tuner* tuner, uint64_t now) { tuner->latest_end = now; }
