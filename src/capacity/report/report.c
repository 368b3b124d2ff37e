// SPDX-License-Identifier: Apache-2.0
// Builds a report: all limits and notes as text, in one block of memory.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"

typedef struct limit_entry {
  sukima_capacity_limit limit;
  size_t file;
  size_t text;
} limit_entry;

typedef struct note_entry {
  size_t file;
  size_t text;
} note_entry;

// Appends bytes and returns their position.
static size_t append(cap_report_builder* all, cap_buffer* to, const void* bytes, size_t length) {
  if (to->size - to->length < length) {
    size_t size = 2 * to->size + length + 1024;
    char* memory = realloc(to->memory, size);
    if (memory == NULL) {
      all->failed = true;
      return 0;
    }
    to->memory = memory;
    to->size = size;
  }
  size_t position = to->length;
  memcpy(to->memory + position, bytes, length);
  to->length += length;
  return position;
}

static size_t append_text(cap_report_builder* all, const char* text) {
  return append(all, &all->texts, text, strlen(text) + 1);
}

void cap_report_take_limit(void* owner, const sukima_capacity_limit* limit) {
  cap_report_builder* all = owner;
  limit_entry entry = {*limit, append_text(all, limit->file), append_text(all, limit->text)};
  append(all, &all->limits, &entry, sizeof entry);
}

void cap_report_take_note(void* owner, const char* file, const char* text) {
  cap_report_builder* all = owner;
  note_entry entry = {append_text(all, file), append_text(all, text)};
  append(all, &all->notes, &entry, sizeof entry);
}

static bool decides(const cap_report_builder* all, const sukima_capacity_limit* limit,
                    const sukima_capacity_facts* facts) {
  if (limit->kind != (all->has_cause ? all->cause : facts->binding)) return false;
  return limit->kind != SUKIMA_CAPACITY_QUOTA || limit->value == facts->quota;
}

// Copies everything into one block of memory: the report, the limits, the notes, the texts.
static sukima_capacity_report* assemble(const cap_report_builder* all, const cap_reader* reader,
                                        const sukima_capacity_facts* facts) {
  size_t limit_count = all->limits.length / sizeof(limit_entry);
  size_t note_count = all->notes.length / sizeof(note_entry);
  size_t error_length = strlen(reader->error);
  size_t limits_at = sizeof(sukima_capacity_report);
  size_t notes_at = limits_at + limit_count * sizeof(sukima_capacity_limit);
  size_t texts_at = notes_at + note_count * sizeof(sukima_capacity_note);
  char* memory = malloc(texts_at + all->texts.length + error_length + 1);
  if (memory == NULL) return NULL;

  sukima_capacity_report* report = (sukima_capacity_report*)(void*)memory;
  sukima_capacity_limit* limits = (sukima_capacity_limit*)(void*)(memory + limits_at);
  sukima_capacity_note* notes = (sukima_capacity_note*)(void*)(memory + notes_at);
  char* texts = memory + texts_at;
  char* error = texts + all->texts.length;
  if (all->texts.length != 0) memcpy(texts, all->texts.memory, all->texts.length);
  memcpy(error, reader->error, error_length + 1);

  const limit_entry* limit_entries = (const limit_entry*)(const void*)all->limits.memory;
  const note_entry* note_entries = (const note_entry*)(const void*)all->notes.memory;
  bool decided = false;
  for (size_t i = 0; i < limit_count; i++) {
    limits[i] = limit_entries[i].limit;
    limits[i].file = texts + limit_entries[i].file;
    limits[i].text = texts + limit_entries[i].text;
    limits[i].is_binding = !decided && decides(all, &limits[i], facts);
    decided = decided || limits[i].is_binding != 0;
  }
  for (size_t i = 0; i < note_count; i++) {
    notes[i] = (sukima_capacity_note){texts + note_entries[i].file, texts + note_entries[i].text};
  }
  *report = (sukima_capacity_report){*facts,     limit_count, limits,
                                     note_count, notes,       error_length != 0 ? error : NULL};
  return report;
}

sukima_capacity_report* cap_report_build(cap_report_builder* all, const cap_reader* reader,
                                         const sukima_capacity_facts* facts) {
  sukima_capacity_report* report = all->failed ? NULL : assemble(all, reader, facts);
  free(all->limits.memory);
  free(all->notes.memory);
  free(all->texts.memory);
  return report;
}

sukima_capacity_report* sukima_capacity_explain(const sukima_capacity_options* options) {
  int saved = errno;
  sukima_capacity_report* report = NULL;
  cap_reader* reader = cap_allocate(sizeof *reader);
  if (reader != NULL && cap_reader_set(reader, options) == 0) {
    cap_report_builder all = {0};
    const cap_listener listener = {&all, cap_report_take_limit, cap_report_take_note};
    sukima_capacity_facts facts;
    reader->listener = &listener;
    cap_reader_read(reader, &facts);
    facts.generation = 1;
    report = cap_report_build(&all, reader, &facts);
  }
  if (reader != NULL) cap_release(reader, sizeof *reader);
  errno = saved;
  return report;
}

void sukima_capacity_report_free(sukima_capacity_report* report) { free(report); }

const char* sukima_capacity_kind_name(sukima_capacity_kind kind) {
  switch (kind) {
    case SUKIMA_CAPACITY_ONLINE:
      return "online";
    case SUKIMA_CAPACITY_AFFINITY:
      return "affinity";
    case SUKIMA_CAPACITY_CPUSET:
      return "cpuset";
    case SUKIMA_CAPACITY_QUOTA:
      return "quota";
    case SUKIMA_CAPACITY_WEIGHT:
      return "weight";
    case SUKIMA_CAPACITY_OVERRIDE:
      return "override";
    case SUKIMA_CAPACITY_HOST:
      return "host";
    case SUKIMA_CAPACITY_STEAL:
      return "steal";
    case SUKIMA_CAPACITY_NEIGHBOUR:
      return "neighbour";
    case SUKIMA_CAPACITY_THROTTLING:
      return "throttling";
    case SUKIMA_CAPACITY_WAITING:
      return "waiting";
    case SUKIMA_CAPACITY_PRESSURE:
      return "pressure";
    case SUKIMA_CAPACITY_CORE:
      return "core";
    case SUKIMA_CAPACITY_NICE:
      return "nice";
  }
  return "unknown";
}
