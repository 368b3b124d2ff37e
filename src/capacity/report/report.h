// SPDX-License-Identifier: Apache-2.0
// Builds a report: collects limits and notes, then copies them into one block of memory. Internal to the
// capacity part.
#ifndef SUKIMA_CAPACITY_REPORT_REPORT_H
#define SUKIMA_CAPACITY_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "limits/reader.h"

/// Memory that grows. Its content may move, so texts are stored as positions until the report is complete.
typedef struct cap_buffer {
  char* memory;
  size_t length;
  size_t size;
} cap_buffer;

/// Must be all zero at the beginning.
typedef struct cap_report_builder {
  cap_buffer limits;
  cap_buffer notes;
  cap_buffer texts;
  bool failed;
  bool has_cause;  // otherwise the facts determine which kind of limit decides
  sukima_capacity_kind cause;
} cap_report_builder;

/// The functions of a listener whose owner is a builder. They copy the texts.
void cap_report_take_limit(void* owner, const sukima_capacity_limit* limit);
void cap_report_take_note(void* owner, const char* file, const char* text);

/// Builds the report and frees the collected data.
/// \return NULL if memory was lacking
sukima_capacity_report* cap_report_build(cap_report_builder* all, const cap_reader* reader,
                                         const sukima_capacity_facts* facts);

#endif
