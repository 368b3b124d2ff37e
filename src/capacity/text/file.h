// SPDX-License-Identifier: Apache-2.0
// Reads files of /proc and /sys by direct system calls, without stdio and cancellation points, and leaves no
// file open.
#ifndef SUKIMA_CAPACITY_TEXT_FILE_H
#define SUKIMA_CAPACITY_TEXT_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "text/text.h"

/// The result of reading a file. Values above 0 are error numbers.
enum { cap_file_read_ok = 0, cap_file_too_large = -1 };

/// Reads a whole file into `memory`.
/// \return cap_file_read_ok, cap_file_too_large if it has more than `size` bytes, or an error number
int cap_file_read(const char* path, char* memory, size_t size, cap_text* content);

/// Opens a file for repeated reading with cap_file_read_again(). exec closes it.
/// \return a descriptor for cap_file_close(); below 0: the file cannot be opened
int cap_file_open(const char* path);

/// Reads from the beginning of an open file, at most `size` bytes; the rest is ignored.
/// \return the number of bytes; below 0: the file cannot be read
long cap_file_read_again(int descriptor, char* memory, size_t size);

void cap_file_close(int descriptor);

/// Whether the file or directory exists and is visible.
bool cap_file_exists(const char* path);

/// Reads a file of any length line by line.
typedef struct cap_line_reader {
  int descriptor;
  int error;         ///< 0, or the error number that ended the reading
  char* memory;
  size_t size;
  size_t begin;      ///< the first byte in memory that was not returned yet
  size_t end;        ///< one past the last byte in memory
  bool skipping;     ///< inside a line that does not fit into memory
  bool at_end;
  size_t offset;     ///< in the file
  size_t too_long;   ///< lines that were skipped because they do not fit into memory
} cap_line_reader;

/// \return 0, or an error number; on an error there is nothing to close
int cap_line_reader_open(cap_line_reader* reader, const char* path, char* memory, size_t size);

/// Returns the next line without its line end. Lines that do not fit into memory are skipped and counted.
bool cap_line_reader_next(cap_line_reader* reader, cap_text* line);

void cap_line_reader_close(cap_line_reader* reader);

/// Reads the names in a directory.
typedef struct cap_directory_reader {
  int descriptor;
  char* memory;  ///< aligned for 64-bit numbers
  size_t size;
  size_t begin;
  size_t end;
} cap_directory_reader;

/// \return 0, or an error number; on an error there is nothing to close
int cap_directory_open(cap_directory_reader* reader, const char* path, char* memory, size_t size);

/// Returns the name of the next entry that is, or may be, a directory, without "." and ".."; NULL at the end.
const char* cap_directory_next(cap_directory_reader* reader);

void cap_directory_close(cap_directory_reader* reader);

#endif
