// SPDX-License-Identifier: Apache-2.0
// The reader's settings, memory, paths and notes.
#define _GNU_SOURCE
#include "reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "file.h"
#include "parse.h"

static const char variable[] = "SUKIMA_CPUS";

static void set_override(sukima_reader* reader, const char* text) {
  sukima_text rest = {text, text + strlen(text)};
  sukima_text_skip_blanks(&rest);
  if (sukima_text_at_end(&rest) || sukima_capacity_parse_cpus(text, &reader->override_cpus) == 0) return;
  sukima_writer out = sukima_writer_make(reader->error, sizeof reader->error);
  sukima_write(&out, variable);
  sukima_write(&out, ": '");
  sukima_write_bytes(&out, text, strnlen(text, 60));
  sukima_write(&out, strlen(text) > 60 ? "...'" : "'");
  sukima_write(&out, " is not a number of CPUs; give a decimal number above 0 and at most ");
  sukima_write_number(&out, SUKIMA_CAPACITY_MAX_CPUS);
  sukima_write(&out, ", such as 2 or 1.5");
}

int sukima_reader_set(sukima_reader* reader, const sukima_capacity_options* options) {
  static const sukima_capacity_options defaults = {0};
  if (options == NULL) options = &defaults;
  reader->pid = options->pid;
  reader->affinity_of = options->affinity;
  const char* root = options->root != NULL ? options->root : "";
  size_t length = strlen(root);
  while (length != 0 && root[length - 1] == '/') length--;  // "/" is the running machine, too
  if (length >= sizeof reader->root) return ENAMETOOLONG;
  memcpy(reader->root, root, length);
  const char* text = options->override_text;
  if (text == NULL && options->pid == 0) text = getenv(variable);
  if (text != NULL) set_override(reader, text);
  return 0;
}

bool sukima_same_facts(const sukima_capacity_facts* a, const sukima_capacity_facts* b) {
  return a->usable == b->usable && a->quota == b->quota && a->weight == b->weight &&
         a->quota_period_us == b->quota_period_us && a->cap == b->cap && a->online == b->online &&
         a->affinity == b->affinity && a->cpuset == b->cpuset && a->note_count == b->note_count &&
         a->ancestors_hidden == b->ancestors_hidden && a->binding == b->binding;
}

void* sukima_allocate(size_t size) {
  void* memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory != MAP_FAILED ? memory : NULL;
}

void sukima_release(void* memory, size_t size) { munmap(memory, size); }

void sukima_note(sukima_reader* reader, const char* file, const char* text) {
  reader->notes++;
  if (reader->listener != NULL) reader->listener->note(reader->listener->owner, file, text);
}

void sukima_note_unreadable(sukima_reader* reader, const char* file, int result) {
  const char* text = "cannot be read; it is ignored";
  if (result == EACCES || result == EPERM) text = "may not be read (permission denied); it is ignored";
  if (result == ENOENT || result == ENOTDIR) text = "does not exist; it is ignored";
  if (result == sukima_file_too_large) text = "is larger than any such file can be; it is ignored";
  sukima_note(reader, file, text);
}

bool sukima_make_path(sukima_reader* reader, const char* a, const char* b, const char* c) {
  sukima_writer out = sukima_writer_make(reader->path, sizeof reader->path);
  sukima_write(&out, reader->root);
  sukima_write(&out, a);
  sukima_write(&out, b);
  sukima_write(&out, c);
  if (out.overflow) sukima_note(reader, reader->path, "this path is too long to be opened; it is ignored");
  return !out.overflow;
}

bool sukima_make_process_path(sukima_reader* reader, const char* name) {
  char number[24] = "self";
  if (reader->pid != 0) {
    sukima_writer out = sukima_writer_make(number, sizeof number);
    sukima_write_number(&out, (uint64_t)reader->pid);
  }
  return sukima_make_path(reader, "/proc/", number, name);
}

bool sukima_make_task_path(sukima_reader* reader, bool own, uint64_t number, const char* name) {
  char text[32];
  sukima_writer out = sukima_writer_make(text, sizeof text);
  sukima_write(&out, own ? "/task/" : "/proc/");
  sukima_write_number(&out, number);
  if (!own) return sukima_make_path(reader, text, name, "");
  if (!sukima_make_process_path(reader, text)) return false;
  size_t length = strlen(reader->path);
  out = (sukima_writer){reader->path, sizeof reader->path, length, false};
  sukima_write(&out, name);
  return !out.overflow;
}

uint64_t sukima_process_number(sukima_reader* reader) {
  if (reader->pid != 0) return (uint64_t)reader->pid;
  if (reader->root[0] == '\0') return (uint64_t)syscall(SYS_getpid);
  sukima_text content;
  uint64_t pid = 0;
  uint64_t policy = 0;
  if (sukima_make_process_path(reader, "/stat") &&
      sukima_file_read(reader->path, reader->content, sizeof reader->content, &content) ==
          sukima_file_read_ok &&
      sukima_parse_stat(content, &pid, &policy)) {
    return pid;
  }
  return 0;
}
