// SPDX-License-Identifier: Apache-2.0
// Reads files of /proc and /sys by direct system calls, without stdio and cancellation points, and leaves no
// file open.
#define _GNU_SOURCE
#include "text/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shared/file_watch.h"

static const cap_file_watcher* the_watcher;  // NULL except in a program that records

void cap_file_watch(const cap_file_watcher* watcher) { the_watcher = watcher; }

// Uses syscall() because open(), read() and close() are cancellation points, and libraries replace them.
// O_NONBLOCK: a pipe in a recorded tree must not block us forever.
static int open_file(const char* path) {
  long descriptor = 0;
  do {
    descriptor = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor >= 0 && the_watcher != NULL) {
    the_watcher->opened(the_watcher->owner, path, (int)descriptor);
  }
  return (int)descriptor;
}

static void record_read(int descriptor, size_t offset, const char* bytes, long count) {
  if (the_watcher == NULL || count < 0) return;
  the_watcher->was_read(the_watcher->owner, descriptor, offset, bytes, (size_t)count);
}

// Reads at the descriptor's position, which is `offset`.
static long read_file(int descriptor, size_t offset, char* memory, size_t size) {
  long count = 0;
  do {
    count = syscall(SYS_read, descriptor, memory, size);
  } while (count < 0 && errno == EINTR);
  record_read(descriptor, offset, memory, count);
  return count;
}

static void close_file(int descriptor) { syscall(SYS_close, descriptor); }

int cap_file_open(const char* path) { return open_file(path); }

// One call is enough: the kernel returns short texts in one piece, and bytes after `size` are not needed.
long cap_file_read_again(int descriptor, char* memory, size_t size) {
  long count = 0;
  do {
    count = syscall(SYS_pread64, descriptor, memory, size, 0L);
  } while (count < 0 && errno == EINTR);
  record_read(descriptor, 0, memory, count);
  return count;
}

void cap_file_close(int descriptor) { close_file(descriptor); }

int cap_file_read(const char* path, char* memory, size_t size, cap_text* content) {
  int descriptor = open_file(path);
  if (descriptor < 0) return errno;
  size_t length = 0;
  int result = cap_file_read_ok;
  for (;;) {
    if (length == size) {
      result = cap_file_too_large;
      break;
    }
    long count = read_file(descriptor, length, memory + length, size - length);
    if (count < 0) result = errno;
    if (count <= 0) break;
    length += (size_t)count;
  }
  close_file(descriptor);
  *content = (cap_text){memory, memory + length};
  return result;
}

bool cap_file_exists(const char* path) {
  bool exists = syscall(SYS_faccessat, AT_FDCWD, path, F_OK) == 0;
  if (exists && the_watcher != NULL) the_watcher->exists(the_watcher->owner, path);
  return exists;
}

int cap_line_reader_open(cap_line_reader* reader, const char* path, char* memory, size_t size) {
  *reader = (cap_line_reader){.descriptor = open_file(path), .memory = memory, .size = size};
  return reader->descriptor < 0 ? errno : 0;
}

// Moves the remaining bytes to the front of the memory, and reads more after them.
static void read_more(cap_line_reader* reader) {
  memmove(reader->memory, reader->memory + reader->begin, reader->end - reader->begin);
  reader->end -= reader->begin;
  reader->begin = 0;
  if (reader->end == reader->size) {
    if (!reader->skipping) reader->too_long++;
    reader->skipping = true;
    reader->end = 0;
  }
  long count =
      read_file(reader->descriptor, reader->offset, reader->memory + reader->end, reader->size - reader->end);
  if (count > 0) reader->offset += (size_t)count;
  if (count < 0) reader->error = errno;
  if (count <= 0) reader->at_end = true;
  if (count > 0) reader->end += (size_t)count;
}

bool cap_line_reader_next(cap_line_reader* reader, cap_text* line) {
  for (;;) {
    char* first = reader->memory + reader->begin;
    size_t length = reader->end - reader->begin;
    char* line_end = length != 0 ? memchr(first, '\n', length) : NULL;
    if (line_end == NULL && !reader->at_end) {
      read_more(reader);
      continue;
    }
    if (line_end == NULL && length == 0) return false;
    *line = (cap_text){first, line_end != NULL ? line_end : first + length};
    reader->begin = line_end != NULL ? (size_t)(line_end + 1 - reader->memory) : reader->end;
    if (!reader->skipping) return true;
    reader->skipping = false;
  }
}

void cap_line_reader_close(cap_line_reader* reader) { close_file(reader->descriptor); }

// A directory entry in the format of getdents64.
typedef struct kernel_entry {
  uint64_t inode;
  int64_t offset;
  unsigned short length;
  unsigned char type;
  char name[];
} kernel_entry;

int cap_directory_open(cap_directory_reader* reader, const char* path, char* memory, size_t size) {
  *reader = (cap_directory_reader){.descriptor = open_file(path), .memory = memory, .size = size};
  return reader->descriptor < 0 ? errno : 0;
}

const char* cap_directory_next(cap_directory_reader* reader) {
  for (;;) {
    if (reader->begin == reader->end) {
      long count = syscall(SYS_getdents64, reader->descriptor, reader->memory, reader->size);
      if (count <= 0) return NULL;
      reader->begin = 0;
      reader->end = (size_t)count;
    }
    const kernel_entry* entry = (const kernel_entry*)(const void*)(reader->memory + reader->begin);
    reader->begin += entry->length;
    if (entry->type != DT_DIR && entry->type != DT_UNKNOWN) continue;
    if (strcmp(entry->name, ".") != 0 && strcmp(entry->name, "..") != 0) return entry->name;
  }
}

void cap_directory_close(cap_directory_reader* reader) { close_file(reader->descriptor); }
