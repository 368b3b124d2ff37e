// SPDX-License-Identifier: Apache-2.0
// Watches the files that the capacity part reads, in order to record them. Also parses the times of a
// recording's samples.
//
// Headers in shared/ are for the other parts of this project, as <capacity/shared/…>; they are not installed.
#ifndef SUKIMA_CAPACITY_SHARED_FILE_WATCH_H
#define SUKIMA_CAPACITY_SHARED_FILE_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A root for sukima_capacity_options that means the running machine, read only through files: /proc replaces
/// the system calls, as in a recorded tree.
#define CAP_ROOT_OF_FILES "/."

/// Callbacks for each read. The reading thread calls them.
typedef struct cap_file_watcher {
  void* owner;
  /// A file or directory was opened. The descriptor may have been closed since.
  void (*opened)(void* owner, const char* path, int descriptor);
  /// `length` bytes were read at an offset of an open file. The bytes after them may not have been needed.
  void (*was_read)(void* owner, int descriptor, size_t offset, const char* bytes, size_t length);
  /// A file or directory was found to exist.
  void (*exists)(void* owner, const char* path);
} cap_file_watcher;

/// Sets the watcher; NULL: none. Must not be called while another thread uses the capacity part. A file that
/// was opened before is not watched.
void cap_file_watch(const cap_file_watcher* watcher);

enum { cap_most_samples = 1000 };

/// Parses the times of a recording's samples: one number of nanoseconds per line, each larger than the
/// previous one.
/// \param times gets at most cap_most_samples numbers
/// \return their number; 0 if the text is malformed or empty, or has too many
size_t cap_parse_sample_times(const char* text, size_t length, uint64_t* times);

#ifdef __cplusplus
}
#endif

#endif
