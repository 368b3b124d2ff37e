// SPDX-License-Identifier: Apache-2.0
// Writes a file of results; see output_file.h.
#define _GNU_SOURCE
#include "shared/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { most_attempts = 100 };

// Whether the path must be written in place: renaming would replace a device, a pipe or a link by a file.
static bool is_in_place(const char* path) {
  struct stat status;
  return lstat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

// Creates a new file beside the path. No other process can have written to it.
static int open_unfinished(const char* path, char** name) {
  for (int i = 0; i < most_attempts; i++) {
    if (asprintf(name, "%s.%ld-%d.part", path, (long)getpid(), i) < 0) {
      *name = NULL;
      errno = ENOMEM;
      return -1;
    }
    int descriptor = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0666);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
    free(*name);
    *name = NULL;
  }
  return -1;
}

// Writes all bytes and stores the first error, because a stream does not keep the reason of a failed write.
static ssize_t write_all(void* cookie, const char* text, size_t size) {
  cap_output_file* file = cookie;
  size_t written = 0;
  while (written < size) {
    ssize_t count = write(file->descriptor, text + written, size - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      if (file->error == 0) file->error = errno;
      break;
    }
    written += (size_t)count;
  }
  return (ssize_t)written;
}

static int close_descriptor(void* cookie) {
  cap_output_file* file = cookie;
  return close(file->descriptor);
}

static void forget(cap_output_file* file) {
  free(file->path);
  free(file->unfinished);
  *file = (cap_output_file){0};
}

int cap_output_open(cap_output_file* file, const char* path) {
  *file = (cap_output_file){.in_place = is_in_place(path), .path = strdup(path)};
  if (file->path == NULL) return ENOMEM;
  file->descriptor = file->in_place ? open(path, O_WRONLY | O_TRUNC | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666)
                                    : open_unfinished(path, &file->unfinished);
  const cookie_io_functions_t functions = {.write = write_all, .close = close_descriptor};
  if (file->descriptor >= 0) file->stream = fopencookie(file, "w", functions);
  if (file->stream != NULL) return 0;
  int error = errno;
  if (file->descriptor >= 0) {
    close(file->descriptor);
    if (!file->in_place) unlink(file->unfinished);
  }
  forget(file);
  return error;
}

int cap_output_close(cap_output_file* file, bool keep) {
  int error = fflush(file->stream) != 0 ? errno : 0;
  if (file->error != 0) error = file->error;
  if (error == 0 && ferror(file->stream)) error = EIO;
  if (error == 0 && keep && !file->in_place && fsync(file->descriptor) != 0) error = errno;
  if (fclose(file->stream) != 0 && error == 0) error = errno;
  if (!file->in_place) {
    if (error == 0 && keep && rename(file->unfinished, file->path) != 0) error = errno;
    if (error != 0 || !keep) unlink(file->unfinished);
  }
  forget(file);
  return error;
}

int cap_output_check(const char* path) {
  struct stat status;
  bool exists = stat(path, &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) return EISDIR;
  if (is_in_place(path))
    return exists && access(path, W_OK) != 0 ? errno : 0;  // a link may point to a new file
  cap_output_file file;
  int error = cap_output_open(&file, path);
  if (error == 0) cap_output_close(&file, false);
  return error;
}
