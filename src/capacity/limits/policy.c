// SPDX-License-Identifier: Apache-2.0
// Parses numbers of CPUs that a user wrote, and computes numbers of threads from them.
#include <errno.h>
#include <string.h>

#include <sukima/capacity.h>

#include "text/text.h"

int sukima_capacity_parse_cpus(const char* text, double* value) {
  cap_text rest = {text, text + strlen(text)};
  uint64_t whole = 0;
  cap_text_skip_blanks(&rest);
  const char* digits = rest.begin;
  if (cap_text_length(&rest) != 0 && *rest.begin != '.' && !cap_text_take_number(&rest, &whole))
    return EINVAL;
  if (whole > SUKIMA_CAPACITY_MAX_CPUS) return EINVAL;
  double result = (double)whole;
  size_t digit_count = (size_t)(rest.begin - digits);
  if (cap_text_take(&rest, '.')) {
    const char* fraction = rest.begin;
    result = cap_text_take_fraction(&rest, whole);
    digit_count += (size_t)(rest.begin - fraction);
  }
  cap_text_skip_blanks(&rest);
  if (digit_count == 0 || !cap_text_at_end(&rest)) return EINVAL;
  if (!(result > 0 && result <= SUKIMA_CAPACITY_MAX_CPUS)) return EINVAL;
  if (value != NULL) *value = result;
  return 0;
}

uint32_t sukima_capacity_threads(double cpus, const sukima_capacity_policy* policy) {
  static const sukima_capacity_policy defaults = {SUKIMA_CAPACITY_CEILING, 1, 0};
  // Tolerance for the last digits, so that a quota such as 3 * 33333 us in 100000 us, or a sum of doubles,
  // does not gain or lose a thread.
  static const double tolerance = 1e-6;
  if (policy == NULL) policy = &defaults;
  uint32_t minimum = policy->minimum > 1 ? policy->minimum : 1;
  if (policy->reserve > 0) cpus -= policy->reserve;
  if (!(cpus > minimum)) return minimum;
  if (cpus >= (double)UINT32_MAX) return UINT32_MAX;
  uint32_t whole = (uint32_t)(cpus + tolerance);
  double fraction = cpus - whole;
  double least_to_round_up = 1;  // so never
  if (policy->rounding == SUKIMA_CAPACITY_CEILING) least_to_round_up = 2 * tolerance;
  if (policy->rounding == SUKIMA_CAPACITY_NEAREST) least_to_round_up = 0.5 - tolerance;
  return fraction >= least_to_round_up ? whole + 1 : whole;
}

size_t sukima_capacity_operator_units(double cpus, char* memory, size_t size) {
  if (size == 0) return 0;
  cap_writer out = cap_writer_make(memory, size);
  if (!(cpus > 0 && cpus <= SUKIMA_CAPACITY_MAX_CPUS)) return 0;
  cap_write(&out, "docker --cpus=");
  cap_write_decimal(&out, cpus >= 0.0005 ? cpus : 0.001);
  cap_write(&out, ", limits.cpu ");
  uint64_t thousandths = (uint64_t)(cpus * 1000 + 0.5);
  cap_write_number(&out, thousandths != 0 ? thousandths : 1);
  cap_write(&out, "m, CPUQuota=");
  uint64_t hundredths = (uint64_t)(cpus * 10000 + 0.5);  // hundredths of a percent
  cap_write_decimal(&out, (double)(hundredths != 0 ? hundredths : 1) / 100);
  cap_write(&out, "%");
  return out.length;
}
