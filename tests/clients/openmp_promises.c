// SPDX-License-Identifier: Apache-2.0
// A conforming OpenMP program for the tests of `sukima run`: it uses what OpenMP promises about the number of
// threads, and ends with 1 if a promise was broken.
//   openmp_promises REGIONS SECONDS silent|asks|given|roots|dynamic [PROMISE…]
// It runs at least so many regions for at least so long, and until each PROMISE was broken.
//   silent   dyn-var is false and the program names no number, so all regions have the same one: arrays are
//            made for the number first seen, and threadprivate data is kept from region to region
//   asks     the same, and the program asks for its number of threads outside regions
//   given    regions also have numbers of the program's own: clauses, omp_set_num_threads, nested regions
//   roots    two threads of the program begin regions at the same time
//   dynamic  dyn-var is true: regions have at most omp_get_max_threads() threads, and may have fewer
#include <omp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { items = 240 };  // of a loop
static const double sum_of_items = items * (items - 1) / 2.0;

/// The number of threads of the first region, and of processors at the start.
static int first, processors;

/// Each promise is a function that uses it, and returns how many times it was broken.
typedef long promise(void);

static double* partial;  // one for each of `first` threads

static long sums_by_thread_number(void) {
  long beyond = 0;
#pragma omp parallel
  {
    const int self = omp_get_thread_num();
    const int threads = omp_get_num_threads();
    double sum = 0;
    for (int i = self; i < items; i += threads) sum += i;
    if (self < first) {
      partial[self] = sum;
    } else {
#pragma omp atomic
      ++beyond;
    }
  }
  double total = 0;
  for (int i = 0; i < first; ++i) total += partial[i];
  return beyond + (total != sum_of_items);
}

static long own_regions;
#pragma omp threadprivate(own_regions)

static long threadprivate_data_stays(void) {
  static long regions;
  long wrong = 0;
  ++regions;
#pragma omp parallel reduction(+ : wrong)
  wrong += ++own_regions != regions;
  return wrong;
}

static int seed;
#pragma omp threadprivate(seed)

static long copyin_reaches_all(void) {
  int copies = 0;
  seed = 42;
#pragma omp parallel copyin(seed)
  {
#pragma omp atomic
    copies += seed == 42;
#pragma omp barrier
    seed = 0;
  }
  return copies != first;
}

static long threads_counted_without_a_question(void) {
  int count = 0;
#pragma omp parallel
  {
#pragma omp atomic
    ++count;
  }
  return count != first;
}

static long questions_agree(void) {
  const int most = omp_get_max_threads();
  long wrong = most != first || omp_get_num_threads() != 1 || omp_in_parallel() || omp_get_dynamic() ||
               omp_get_num_procs() != processors || omp_get_thread_limit() < first || omp_get_level() != 0;
#pragma omp parallel reduction(+ : wrong)
  {
    wrong += omp_get_num_threads() != most || omp_get_thread_num() >= most || omp_get_max_threads() != most;
    wrong += omp_get_team_size(omp_get_level()) != most || omp_get_level() != 1;
    wrong += omp_get_ancestor_thread_num(1) != omp_get_thread_num() || omp_get_team_size(0) != 1;
    wrong += omp_in_parallel() != (most > 1) || omp_get_active_level() != (most > 1);
  }
  return wrong;
}

static long array_made_for_a_late_question(void) {
  static int calls;
  static double* late;
  if (++calls < 100) return 0;
  if (late == NULL) late = calloc((size_t)omp_get_max_threads(), sizeof *late);
#pragma omp parallel
  {
    double sum = 0;
#pragma omp for schedule(dynamic, 7) nowait
    for (int i = 0; i < items; ++i) sum += i;
    if (omp_get_thread_num() < first) late[omp_get_thread_num()] = sum;
  }
  double total = 0;
  for (int i = 0; i < first; ++i) total += late[i];
  return total != sum_of_items;
}

static long static_loops_give_the_same_parts(void) {
  static int owner[items], owner_of_chunks[items];
  static bool known;
  long wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  {
#pragma omp for schedule(static)
    for (int i = 0; i < items; ++i) {
      if (!known) owner[i] = omp_get_thread_num();
      wrong += owner[i] != omp_get_thread_num();
    }
#pragma omp for schedule(static, 5)
    for (int i = 0; i < items; ++i) {
      if (!known) owner_of_chunks[i] = omp_get_thread_num();
      wrong += owner_of_chunks[i] != omp_get_thread_num();
    }
  }
  known = true;
  return wrong;
}

static int initialized_copies;

static int initialized(void) {
#pragma omp atomic
  ++initialized_copies;
  return 0;
}
#pragma omp declare reduction(counted:int : omp_out += omp_in) initializer(omp_priv = initialized())

static long reductions(void) {
  int sums[64] = {0};
  int counted = 0;
  initialized_copies = 0;
#pragma omp parallel reduction(+ : sums[ : 64]) reduction(counted : counted)
  {
    for (int i = 0; i < 64; ++i) ++sums[i];
    ++counted;
  }
  long wrong = counted != first || initialized_copies != first;
  for (int i = 0; i < 64; ++i) wrong += sums[i] != first;
  return wrong;
}

static long sharing_constructs(void) {
  int singles = 0, masters = 0, criticals = 0, sections = 0, last = 0, received = 0, next = 0;
  long wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  {
    int message = -1;
#pragma omp single copyprivate(message)
    {
      ++singles;
      message = 17;
    }
#pragma omp atomic
    received += message == 17;
#pragma omp master
    ++masters;
#pragma omp critical
    ++criticals;
#pragma omp sections
    {
#pragma omp section
      {
#pragma omp atomic
        ++sections;
      }
#pragma omp section
      {
#pragma omp atomic
        ++sections;
      }
    }
#pragma omp for ordered schedule(guided) lastprivate(last)
    for (int i = 0; i < 24; ++i) {
      last = i;
#pragma omp ordered
      wrong += next++ != i;
    }
  }
  return wrong + (singles != 1) + (masters != 1) + (criticals != first) + (sections != 2) + (last != 23) +
         (received != first);
}

static long tasks(void) {
  static int* of_thread;
  if (of_thread == NULL) of_thread = calloc((size_t)first, sizeof *of_thread);
  memset(of_thread, 0, (size_t)first * sizeof *of_thread);
  int beyond = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskgroup
    for (int i = 0; i < 24; ++i) {
#pragma omp task
      {
        if (omp_get_thread_num() < first) {
#pragma omp atomic
          ++of_thread[omp_get_thread_num()];
        } else {
#pragma omp atomic
          ++beyond;
        }
      }
    }
#pragma omp taskloop grainsize(6)
    for (int i = 0; i < 24; ++i) {
#pragma omp atomic
      ++of_thread[omp_get_thread_num() < first ? omp_get_thread_num() : 0];
    }
  }
  int done = 0;
  for (int i = 0; i < first; ++i) done += of_thread[i];
  return beyond + (done != 48);
}

/// A combined loop, which has an entry point of its own in gcc's runtime for each schedule.
#define COMBINED_LOOP(count, schedule)                              \
  _Pragma(schedule) for (int i = 0; i < items; ++i) {               \
    _Pragma("omp atomic")(count) += omp_get_num_threads() == first; \
  }

static long combined_loops(void) {
  int counts[6] = {0};
  omp_set_schedule(omp_sched_dynamic, 3);
  COMBINED_LOOP(counts[0], "omp parallel for")
  COMBINED_LOOP(counts[1], "omp parallel for schedule(static, 3)")
  COMBINED_LOOP(counts[2], "omp parallel for schedule(dynamic)")
  COMBINED_LOOP(counts[3], "omp parallel for schedule(guided)")
  COMBINED_LOOP(counts[4], "omp parallel for schedule(runtime)")
  COMBINED_LOOP(counts[5], "omp parallel for schedule(monotonic : dynamic)")
  long wrong = 0;
  for (int i = 0; i < 6; ++i) wrong += counts[i] != items;
  return wrong;
}

static long numbers_of_the_programs_own(void) {
  long wrong = 0;
  int clause = 0, alone = 0, set = 0, inner = 0, of_sections = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
  clause = omp_get_num_threads();
#pragma omp parallel sections num_threads(3)
  {
#pragma omp section
    of_sections += omp_get_num_threads();
  }
#pragma omp parallel if (clause < 0)
  alone = omp_get_num_threads();
  omp_set_num_threads(2);
  wrong += omp_get_max_threads() != 2;
#pragma omp parallel
#pragma omp single
  set = omp_get_num_threads();
  omp_set_num_threads(first);
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
  {
#pragma omp parallel num_threads(2)
    {
#pragma omp atomic
      inner += omp_get_team_size(1) == 2 && omp_get_team_size(2) == 2 && omp_get_level() == 2;
    }
  }
  omp_set_max_active_levels(1);
  return wrong + (clause != 3) + (of_sections != 3) + (alone != 1) + (set != 2) + (inner != 4);
}

static long at_most_the_promised_threads(void) {
  const int most = omp_get_max_threads();
  int threads = 0, count = 0;
  double sum = 0;
#pragma omp parallel reduction(+ : sum)
  {
#pragma omp single
    threads = omp_get_num_threads();
#pragma omp atomic
    ++count;
#pragma omp for
    for (int i = 0; i < items; ++i) sum += i;
  }
  return !omp_get_dynamic() || threads > most || count != threads || sum != sum_of_items;
}

static const struct {
  const char* name;
  promise* check;
  int regions;  // that one call runs
  const char* groups;
} promises[] = {
    {"sums_by_thread_number", sums_by_thread_number, 1, "silent asks"},
    {"threadprivate_data_stays", threadprivate_data_stays, 1, "silent asks"},
    {"copyin_reaches_all", copyin_reaches_all, 1, "silent asks"},
    {"threads_counted_without_a_question", threads_counted_without_a_question, 1, "silent asks given"},
    {"questions_agree", questions_agree, 1, "asks given"},
    {"array_made_for_a_late_question", array_made_for_a_late_question, 1, "asks"},
    {"static_loops_give_the_same_parts", static_loops_give_the_same_parts, 1, "silent asks"},
    {"reductions", reductions, 1, "silent asks"},
    {"sharing_constructs", sharing_constructs, 1, "silent asks"},
    {"tasks", tasks, 1, "silent asks"},
    {"combined_loops", combined_loops, 6, "silent asks"},
    {"numbers_of_the_programs_own", numbers_of_the_programs_own, 5, "given"},
    {"at_most_the_promised_threads", at_most_the_promised_threads, 1, "dynamic"},
};
enum { promise_count = sizeof promises / sizeof *promises };

/// Whether each of these promises was broken.
static bool were_broken(const long* broken, char** names) {
  for (; *names != NULL; ++names) {
    for (int i = 0; i < promise_count; ++i) {
      if (broken[i] == 0 && strcmp(promises[i].name, *names) == 0) return false;
    }
  }
  return true;
}

/// Checks the promises of a group again and again, and prints how often each was broken.
static long run_group(const char* group, long regions, double seconds, char** until_broken) {
  long broken[promise_count] = {0}, total = 0, done = 0;
  const double begin = omp_get_wtime();
  while (done < regions || omp_get_wtime() - begin < seconds || !were_broken(broken, until_broken)) {
    for (int i = 0; i < promise_count; ++i) {
      if (strstr(promises[i].groups, group) == NULL) continue;
      broken[i] += promises[i].check() != 0;
      done += promises[i].regions;
    }
  }
  for (int i = 0; i < promise_count; ++i) {
    if (broken[i] != 0) printf("broken %s %ld times\n", promises[i].name, broken[i]);
    total += broken[i];
  }
  printf("group %s: %d threads, %ld regions, %ld broken promises, %.1f s\n", group, first, done, total,
         omp_get_wtime() - begin);
  return total;
}

struct root {
  long regions;
  double seconds;
  long broken;
};

/// A thread of the program that begins regions of its own, with an array of its own.
static void* run_root(void* data) {
  struct root* const root = data;
  double* own = NULL;
  int made_for = 0;
  const double begin = omp_get_wtime();
  for (long i = 0; i < root->regions || omp_get_wtime() - begin < root->seconds; ++i) {
    double total = 0;
    int beyond = 0;
#pragma omp parallel
    {
#pragma omp single
      if (own == NULL) own = calloc((size_t)(made_for = omp_get_num_threads()), sizeof *own);
      const int self = omp_get_thread_num();
      double sum = 0;
      for (int k = self; k < items; k += omp_get_num_threads()) sum += k;
      if (self < made_for) {
        own[self] = sum;
      } else {
#pragma omp atomic
        ++beyond;
      }
    }
    for (int k = 0; k < made_for; ++k) total += own[k];
    root->broken += beyond != 0 || total != sum_of_items;
  }
  free(own);
  return NULL;
}

int main(int count, char** arguments) {
  if (count < 4) return 2;
  const long regions = atol(arguments[1]);
  const double seconds = atof(arguments[2]);
  const char* const group = arguments[3];
  if (strcmp(group, "dynamic") == 0) omp_set_dynamic(1);
#pragma omp parallel
#pragma omp single
  first = omp_get_num_threads();
  processors = omp_get_num_procs();
  partial = calloc((size_t)first, sizeof *partial);
  printf("first %d\n", first);
  fflush(stdout);
  if (strcmp(group, "roots") != 0) return run_group(group, regions, seconds, arguments + 4) != 0;
  struct root roots[2] = {{regions / 2, seconds, 0}, {regions / 2, seconds, 0}};
  pthread_t other;
  if (pthread_create(&other, NULL, run_root, &roots[1]) != 0) return 2;
  run_root(&roots[0]);
  pthread_join(other, NULL);
  printf("group roots: %ld broken promises\n", roots[0].broken + roots[1].broken);
  return roots[0].broken + roots[1].broken != 0;
}
