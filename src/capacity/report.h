// SPDX-License-Identifier: Apache-2.0
// Making a report: limits and notes are collected, then put into one piece of memory. Internal to this part.
// part.
#ifndef SUKIMA_CAPACITY_REPORT_H
#define SUKIMA_CAPACITY_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "reader.h"

/// Memory that grows; what stands in it may move, so texts are kept as positions until all is known.
typedef struct sukima_buffer {
  char* memory;
  size_t length;
  size_t size;
} sukima_buffer;

/// All zero at the beginning.
typedef struct sukima_report_builder {
  sukima_buffer limits;
  sukima_buffer notes;
  sukima_buffer texts;
  bool failed;
} sukima_report_builder;

/// The functions of a listener whose owner is a builder. Texts are copied.
void sukima_report_take_limit(void* owner, const sukima_capacity_limit* limit);
void sukima_report_take_note(void* owner, const char* file, const char* text);

/// Makes the report and frees what was collected.
/// \return NULL if there was no memory
sukima_capacity_report* sukima_report_build(sukima_report_builder* all, const sukima_reader* reader,
                                            const sukima_capacity_facts* facts);

#endif
