// SPDX-License-Identifier: Apache-2.0
// Writing a file of results; see output_file.h.
#define _GNU_SOURCE
#include "shared/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { most_attempts = 100 };

// Renaming would put a file in the place of a device, a pipe or a link.
static bool is_in_place(const char* path) {
  struct stat status;
  return lstat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

// A new file beside the path; no other process can have written to it.
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

static void forget(cap_output_file* file) {
  free(file->path);
  free(file->unfinished);
  *file = (cap_output_file){0};
}

int cap_output_open(cap_output_file* file, const char* path) {
  *file = (cap_output_file){.in_place = is_in_place(path), .path = strdup(path)};
  if (file->path == NULL) return ENOMEM;
  int descriptor = file->in_place ? open(path, O_WRONLY | O_TRUNC | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666)
                                  : open_unfinished(path, &file->unfinished);
  if (descriptor >= 0) file->stream = fdopen(descriptor, "w");
  if (file->stream != NULL) return 0;
  int error = errno;
  if (descriptor >= 0) {
    close(descriptor);
    if (!file->in_place) unlink(file->unfinished);
  }
  forget(file);
  return error;
}

int cap_output_close(cap_output_file* file, bool keep) {
  int error = 0;
  if (fflush(file->stream) != 0) error = errno;
  if (error == 0 && ferror(file->stream)) error = EIO;
  if (error == 0 && keep && !file->in_place && fsync(fileno(file->stream)) != 0) error = errno;
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
