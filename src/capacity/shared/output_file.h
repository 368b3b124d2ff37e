// SPDX-License-Identifier: Apache-2.0
// Writes a file of results. A regular file appears under its name only when it is complete; devices, pipes
// and links are written in place. All parts write such files only through this.
//
// Headers in shared/ are for the other parts of this project, as <capacity/shared/…>; they are not installed.
#ifndef SUKIMA_CAPACITY_SHARED_OUTPUT_FILE_H
#define SUKIMA_CAPACITY_SHARED_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A file that is being written. The object must not move until it is closed.
typedef struct cap_output_file {
  FILE* stream;  ///< the caller writes to this stream; it has no descriptor of its own
  int descriptor;
  int error;  ///< error number of the first write that failed; 0: none
  bool in_place;  ///< the path is not a regular file, so it is not replaced
  char* path;
  char* unfinished;  ///< the path of a regular file until it is complete; null: it has no name yet
} cap_output_file;

/// Opens an output. exec closes it.
/// \param file gets the output; on failure there is nothing to close
/// \return 0, or an error number: that of opening the file, or ENOMEM
int cap_output_open(cap_output_file* file, const char* path);

/// Ends the writing. A regular file gets its name if `keep` is set and everything could be written. Otherwise
/// it is removed, and an older file of that name stays unchanged. A process that is killed before leaves no
/// file, except on file systems without files that have no name, such as NFS.
/// \return 0, or the error number of the first failure
int cap_output_close(cap_output_file* file, bool keep);

/// Whether an output could be opened at this path now. Leaves no file behind, and opens no device or pipe.
/// \return 0, or an error number
int cap_output_check(const char* path);

#ifdef __cplusplus
}
#endif

#endif
