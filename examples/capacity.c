// SPDX-License-Identifier: Apache-2.0
// Prints how many CPUs this process may use, why, and how many threads are right for it.
#include <stdio.h>

#include <sukima/capacity.h>

int main(void) {
  sukima_capacity_report* report = sukima_capacity_explain(NULL);
  if (report == NULL) return 1;
  if (report->error != NULL) {
    fprintf(stderr, "%s\n", report->error);
    sukima_capacity_report_free(report);
    return 2;
  }
  printf("usable: %.2f CPUs, at most %u at the same moment\n", report->facts.usable, report->facts.cap);
  for (size_t i = 0; i < report->limit_count; i++) {
    const sukima_capacity_limit* limit = &report->limits[i];
    printf("%c %-8s %s (%s)\n", limit->is_binding ? '*' : ' ', sukima_capacity_kind_name(limit->kind),
           limit->text, limit->file);
  }
  for (size_t i = 0; i < report->note_count; i++) {
    printf("  note     %s %s\n", report->notes[i].file, report->notes[i].text);
  }
  printf("threads: %u\n", sukima_capacity_threads(report->facts.usable, NULL));
  sukima_capacity_report_free(report);
  return 0;
}
