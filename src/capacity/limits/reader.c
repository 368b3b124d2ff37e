// SPDX-License-Identifier: Apache-2.0
// The settings, memory, paths and notes of the reader.
#define _GNU_SOURCE
#include "limits/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "text/counters.h"
#include "text/file.h"

static const char variable[] = "SUKIMA_CPUS";

static void set_override(cap_reader* reader, const char* text) {
  cap_text rest = {text, text + strlen(text)};
  cap_text_skip_blanks(&rest);
  if (cap_text_at_end(&rest) || sukima_capacity_parse_cpus(text, &reader->override_cpus) == 0) return;
  enum { most_shown = 60 };
  size_t shown = strnlen(text, most_shown);
  // Do not cut a character of several bytes.
  while (shown > 0 && ((unsigned char)text[shown] & 0xc0) == 0x80) shown--;
  cap_writer out = cap_writer_make(reader->error, sizeof reader->error);
  cap_write(&out, variable);
  cap_write(&out, ": '");
  cap_write_printable(&out, text, shown);
  cap_write(&out, text[shown] != '\0' ? "...'" : "'");
  cap_write(&out, " is not a number of CPUs; give a decimal number above 0 and at most ");
  cap_write_number(&out, SUKIMA_CAPACITY_MAX_CPUS);
  cap_write(&out, ", such as 2 or 1.5");
}

int cap_reader_set(cap_reader* reader, const sukima_capacity_options* options) {
  static const sukima_capacity_options defaults = {0};
  if (options == NULL) options = &defaults;
  reader->pid = options->pid;
  reader->affinity_of = options->affinity;
  const char* root = options->root != NULL ? options->root : "";
  size_t length = strlen(root);
  while (length != 0 && root[length - 1] == '/') length--;  // "/" is also the running machine
  if (length >= sizeof reader->root) return ENAMETOOLONG;
  memcpy(reader->root, root, length);
  const char* text = options->override_text;
  if (text == NULL && options->pid == 0) text = getenv(variable);
  if (text != NULL) set_override(reader, text);
  return 0;
}

bool cap_same_facts(const sukima_capacity_facts* a, const sukima_capacity_facts* b) {
  return a->usable == b->usable && a->quota == b->quota && a->weight == b->weight &&
         a->quota_period_us == b->quota_period_us && a->cap == b->cap && a->online == b->online &&
         a->affinity == b->affinity && a->cpuset == b->cpuset && a->note_count == b->note_count &&
         a->ancestors_hidden == b->ancestors_hidden && a->binding == b->binding;
}

void* cap_allocate(size_t size) {
  void* memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory != MAP_FAILED ? memory : NULL;
}

void cap_release(void* memory, size_t size) { munmap(memory, size); }

void cap_note(cap_reader* reader, const char* file, const char* text) {
  reader->notes++;
  if (reader->listener != NULL) reader->listener->note(reader->listener->owner, file, text);
}

void cap_note_unreadable(cap_reader* reader, const char* file, int result) {
  const char* text = "cannot be read; it is ignored";
  if (result == EMFILE || result == ENFILE) text = "cannot be read (too many files are open); it is ignored";
  if (result == EACCES || result == EPERM) text = "cannot be read (permission denied); it is ignored";
  if (result == ENOENT || result == ENOTDIR) text = "does not exist; it is ignored";
  if (result == cap_file_too_large) text = "is too large; it is ignored";
  cap_note(reader, file, text);
}

bool cap_make_path(cap_reader* reader, const char* a, const char* b, const char* c) {
  cap_writer out = cap_writer_make(reader->path, sizeof reader->path);
  cap_write(&out, reader->root);
  cap_write(&out, a);
  cap_write(&out, b);
  cap_write(&out, c);
  if (out.overflow) cap_note(reader, reader->path, "is too long a path to be opened; it is ignored");
  return !out.overflow;
}

bool cap_make_process_path(cap_reader* reader, const char* name) {
  char number[24] = "self";
  if (reader->pid != 0) {
    cap_writer out = cap_writer_make(number, sizeof number);
    cap_write_number(&out, (uint64_t)reader->pid);
  }
  return cap_make_path(reader, "/proc/", number, name);
}

bool cap_make_task_path(cap_reader* reader, bool own, uint64_t number, const char* name) {
  char text[32];
  cap_writer out = cap_writer_make(text, sizeof text);
  cap_write(&out, own ? "/task/" : "/proc/");
  cap_write_number(&out, number);
  if (!own) return cap_make_path(reader, text, name, "");
  if (!cap_make_process_path(reader, text)) return false;
  size_t length = strlen(reader->path);
  out = (cap_writer){reader->path, sizeof reader->path, length, false};
  cap_write(&out, name);
  return !out.overflow;
}

uint64_t cap_process_number(cap_reader* reader) {
  if (reader->pid != 0) return (uint64_t)reader->pid;
  if (reader->root[0] == '\0') return (uint64_t)syscall(SYS_getpid);
  cap_text content;
  uint64_t pid = 0;
  uint64_t policy = 0;
  if (cap_make_process_path(reader, "/stat") &&
      cap_file_read(reader->path, reader->content, sizeof reader->content, &content) == cap_file_read_ok &&
      cap_parse_stat(content, &pid, &policy)) {
    return pid;
  }
  return 0;
}
