// SPDX-License-Identifier: Apache-2.0
// Writes a file of results; see output_file.h.
#define _GNU_SOURCE
#include "shared/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
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

// The name under which the system shows an open file, also if the file has no name of its own.
enum { longest_open_name = 40 };
static void write_open_name(char* name, int descriptor) {
  snprintf(name, longest_open_name, "/proc/self/fd/%d", descriptor);
}

// Opens a new file without a name in the folder of the path: the system removes it when a signal ends the
// process. Returns -1 if the file system or the folder does not allow that, or the path is no possible name.
static int open_unnamed(const char* path) {
  struct stat status;
  if (lstat(path, &status) != 0 && errno != ENOENT) return -1;
  const char* last = strrchr(path, '/');
  size_t length = last == NULL ? 0 : (size_t)(last - path) + 1;
  char* folder = length == 0 ? strdup(".") : strndup(path, length);
  if (folder == NULL) return -1;
  int descriptor = open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
  free(folder);
  if (descriptor < 0) return -1;
  char name[longest_open_name];
  write_open_name(name, descriptor);
  if (access(name, F_OK) == 0) return descriptor;
  close(descriptor);  // it could get no name without /proc
  return -1;
}

// Gives a file without a name this one. Returns 0 or an error number.
static int give_name(int descriptor, const char* path) {
  char name[longest_open_name];
  write_open_name(name, descriptor);
  return linkat(AT_FDCWD, name, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

// Makes a new file beside the path. No other process can have written to it.
// \param unnamed  a file that gets the name; negative: a file is created
// \return the descriptor; negative: it failed, and errno says why
static int make_beside(const char* path, char** name, int unnamed) {
  for (int i = 0; i < most_attempts; i++) {
    if (asprintf(name, "%s.%ld-%d.part", path, (long)getpid(), i) < 0) {
      *name = NULL;
      errno = ENOMEM;
      return -1;
    }
    int descriptor = unnamed;
    if (unnamed < 0)
      descriptor = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0666);
    else if ((errno = give_name(unnamed, *name)) != 0)
      descriptor = -1;
    if (descriptor >= 0) return descriptor;
    int error = errno;
    free(*name);
    *name = NULL;
    errno = error;
    if (error != EEXIST) return -1;
  }
  return -1;
}

static int open_unfinished(const char* path, char** name) {
  int descriptor = open_unnamed(path);
  return descriptor >= 0 ? descriptor : make_beside(path, name, -1);
}

// Gives a complete file without a name its path. Returns 0 or an error number.
static int name_unnamed(const cap_output_file* file) {
  int error = give_name(file->descriptor, file->path);
  if (error != EEXIST) return error;
  // Only a file with a name can replace another one. A signal must not end the process in between.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  char* beside = NULL;
  error = make_beside(file->path, &beside, file->descriptor) < 0 ? errno : 0;
  if (error == 0 && rename(beside, file->path) != 0) {
    error = errno;
    unlink(beside);
  }
  free(beside);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error;
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
    if (file->unfinished != NULL) unlink(file->unfinished);
  }
  forget(file);
  return error;
}

int cap_output_close(cap_output_file* file, bool keep) {
  int error = fflush(file->stream) != 0 ? errno : 0;
  if (file->error != 0) error = file->error;
  if (error == 0 && ferror(file->stream)) error = EIO;
  if (error == 0 && keep && !file->in_place && fsync(file->descriptor) != 0) error = errno;
  if (error == 0 && keep && !file->in_place && file->unfinished == NULL) error = name_unnamed(file);
  if (fclose(file->stream) != 0 && error == 0) error = errno;
  if (file->unfinished != NULL) {
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
