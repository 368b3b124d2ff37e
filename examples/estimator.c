// SPDX-License-Identifier: Apache-2.0
// The estimator from C: what the threads of this process get now, what more threads would get, and why.
#include <math.h>
#include <stdio.h>
#include <threads.h>
#include <time.h>

#include <sukima/capacity/estimate.h>

/// Takes samples for a while, ten a second.
static void sample_for(sukima_capacity_estimator* estimator, double seconds) {
  for (double passed = 0; passed < seconds; passed += 0.1) {
    const struct timespec tenth = {0, 100000000};
    thrd_sleep(&tenth, NULL);
    sukima_capacity_estimator_sample(estimator, 0);
  }
}

int main(void) {
  sukima_capacity_estimator* const estimator = sukima_capacity_estimator_open(NULL);
  if (estimator == NULL) return 1;
  if (sukima_capacity_estimator_error(estimator) != NULL) {  // SUKIMA_CPUS is malformed
    fprintf(stderr, "%s\n", sukima_capacity_estimator_error(estimator));
    sukima_capacity_estimator_close(estimator);
    return 2;
  }
  sample_for(estimator, 0.8);

  sukima_capacity_facts facts;
  sukima_capacity_load load;
  sukima_capacity_estimate estimate;
  sukima_capacity_estimator_facts(estimator, &facts);
  sukima_capacity_estimator_load(estimator, &load);
  sukima_capacity_estimator_usable(estimator, 0, &estimate);  // 0: as many threads as may run at once
  printf("limits: %.2f CPUs; %g threads get %.2f (%s); now %.2f\n", facts.usable, estimate.threads,
         estimate.usable, sukima_capacity_basis_name(estimate.basis), load.now);
  printf("cause of the largest loss: %s\n",
         sukima_capacity_kind_name(sukima_capacity_estimator_cause(estimator, &estimate)));

  // An experiment measures what a number of busy threads really get. Here one thread computes.
  sukima_capacity_estimator_experiment_begin(estimator, 1);
  volatile unsigned long work = 0;
  for (int i = 0; i < 5; i++) {
    const clock_t begun = clock();
    while (clock() - begun < CLOCKS_PER_SEC / 10) work++;
    sukima_capacity_estimator_sample(estimator, 0);
  }
  if (sukima_capacity_estimator_experiment_end(estimator, &estimate) == 0)
    printf("experiment: one thread got %.2f CPUs\n", estimate.usable);

  // A machine that hides steal time: measure it, and add the result to the estimate.
  double taken = 0;
  if (sukima_capacity_probe_steal(0.2, &taken) == 0 && !isnan(taken))
    sukima_capacity_estimator_add_steal_probe(estimator, taken);
  printf("advertised by the host: %s\n",
         isnan(sukima_capacity_advertised(NULL)) ? "nothing" : "a number of CPUs");

  sukima_capacity_report* const report = sukima_capacity_estimator_explain(estimator);
  if (report == NULL) return 1;
  for (size_t i = 0; i < report->limit_count; i++)
    if (report->limits[i].is_binding) printf("because %s\n", report->limits[i].text);
  sukima_capacity_report_free(report);
  sukima_capacity_estimator_close(estimator);

  // The same in one call, for a program that asks once.
  if (sukima_capacity_estimate_once(NULL, 2, 0.3, &estimate) != 0) return 1;
  printf("two threads get %.2f CPUs\n", estimate.usable);
  return 0;
}
