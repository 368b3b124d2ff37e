// SPDX-License-Identifier: Apache-2.0
// Receives the messages in which the host of a virtual machine advertises CPU.
#define _GNU_SOURCE
#include "estimate/host.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <sukima/capacity/estimate.h>

#include "shared/assert.h"
#include "text/file.h"

static const char first_line[] = "sukima-host 1\n";
static const char last_line[] = "end\n";
// A longer validity is limited to this.
static const double longest_validity = 86400;
// A file that was modified longer ago than this is not being written.
static const uint64_t half_written_ns = 1000000000;

static bool take_decimal(cap_text* line, double* value) {
  char digits[32];
  size_t length = cap_text_length(line);
  if (length == 0 || length >= sizeof digits) return false;
  memcpy(digits, line->begin, length);
  digits[length] = '\0';
  return strlen(digits) == length && sukima_capacity_parse_cpus(digits, value) == 0;
}

/// Parses seconds, which may exceed the largest number of CPUs. Fractions of such large values do not matter.
static bool take_seconds(cap_text* line, double* value) {
  cap_text rest = *line;
  uint64_t whole = 0;
  if (!cap_text_take_number(&rest, &whole) || whole < SUKIMA_CAPACITY_MAX_CPUS)
    return take_decimal(line, value);
  uint64_t fraction = 0;
  if (cap_text_take(&rest, '.') && !cap_text_take_number(&rest, &fraction)) return false;
  *value = (double)whole;
  return cap_text_at_end(&rest);
}

bool cap_parse_host_message(cap_text content, cap_host_message* message) {
  cap_host_message found = {0};
  bool ended = false;
  cap_text line;
  if (!cap_text_take_prefix(&content, first_line)) return false;
  while (!ended && cap_text_take_until(&content, '\n', &line)) {
    if (cap_text_take_prefix(&line, "usable ")) {
      if (!take_decimal(&line, &found.usable)) return false;
    } else if (cap_text_take_prefix(&line, "valid ")) {
      if (!take_seconds(&line, &found.valid_seconds)) return false;
    } else {
      ended = cap_text_equals(&line, "end");
    }
  }
  if (!ended || !(found.usable > 0) || !(found.valid_seconds > 0)) return false;
  found.valid_seconds = fmin(found.valid_seconds, longest_validity);
  *message = found;
  return true;
}

bool cap_find_last_host_message(cap_text content, cap_host_message* message) {
  size_t length = sizeof first_line - 1;
  bool found = false;
  while (cap_text_length(&content) >= length) {
    cap_host_message one;
    if (memcmp(content.begin, first_line, length) == 0 && cap_parse_host_message(content, &one)) {
      *message = one;
      found = true;
    }
    content.begin++;
  }
  return found;
}

void cap_host_open(cap_host* host, cap_reader* reader) {
  host->port = -1;
  if (!cap_make_path(reader, CAP_HOST_PORT, "", "")) return;
  host->port = cap_file_open(reader->path);  // does not wait; fails if another process has opened the port
}

void cap_host_close(cap_host* host) {
  if (host->port >= 0) cap_file_close(host->port);
  host->port = -1;
}

static void take(cap_host* host, const cap_host_message* message, uint64_t time_ns, bool from_port) {
  host->message = *message;
  host->time_ns = time_ns;
  host->has_message = true;
  host->from_port = from_port;
  host->is_malformed = false;
  host->malformed_from_port = false;
  host->malformed_time_ns = 0;
}

// Keeps bytes that may be the beginning of the next message. \return whether a message had ended
static bool keep_rest(cap_host* host) {
  char* end = host->memory + host->length;
  char* last = NULL;
  for (char* at = host->memory; (at = memmem(at, (size_t)(end - at), last_line, 4)) != NULL; at += 4) {
    last = at + 4;
  }
  if (last == NULL && host->length == sizeof host->memory) last = end;  // no message is that long
  if (last == NULL) return false;
  CAP_ASSERT(last <= end, "the rest of a message has been read");
  host->length = (size_t)(end - last);
  memmove(host->memory, last, host->length);
  return true;
}

static void read_port(cap_host* host, uint64_t time_ns) {
  for (int i = 0; host->port >= 0 && i < 16; i++) {
    long count =
        syscall(SYS_read, host->port, host->memory + host->length, sizeof host->memory - host->length);
    if (count <= 0) return;
    host->length += (size_t)count;
    cap_host_message message;
    bool found = cap_find_last_host_message((cap_text){host->memory, host->memory + host->length}, &message);
    if (found) take(host, &message, time_ns, true);
    if (keep_rest(host) && !found) {
      host->is_malformed = true;
      host->malformed_from_port = true;
    }
  }
}

// The file may be older than this process, so its modification time determines the message's age.
static void read_file(cap_host* host, cap_reader* reader, uint64_t time_ns) {
  if (!cap_make_path(reader, CAP_HOST_FILE, "", "")) return;
  struct stat status;
  struct timespec now;
  if (fstatat(AT_FDCWD, reader->path, &status, 0) != 0 || clock_gettime(CLOCK_REALTIME, &now) != 0) {
    if (!host->from_port) host->has_message = false;  // removing the file withdraws its message
    if (!host->malformed_from_port) host->is_malformed = false;
    host->malformed_time_ns = 0;
    return;
  }
  uint64_t modified = (uint64_t)status.st_mtim.tv_sec * 1000000000 + (uint64_t)status.st_mtim.tv_nsec;
  // When the port's message has expired, the file's message counts again, even if the file is unchanged.
  if (host->has_message && !host->from_port && modified == host->file_time_ns) return;
  uint64_t real = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
  uint64_t age = real > modified ? real - modified : 0;
  cap_text content;
  cap_host_message message;
  if (cap_file_read(reader->path, reader->content, sizeof reader->content, &content) != cap_file_read_ok ||
      !cap_parse_host_message(content, &message)) {
    // The file may be half written. If it stays like this, it is malformed.
    host->is_malformed = host->malformed_time_ns == modified || age > half_written_ns;
    host->malformed_from_port = false;
    host->malformed_time_ns = modified;
    return;
  }
  host->file_time_ns = modified;
  take(host, &message, time_ns > age ? time_ns - age : 0, false);
}

void cap_host_read(cap_host* host, cap_reader* reader, uint64_t time_ns) {
  read_port(host, time_ns);
  if (!isnan(cap_host_cpus(host, time_ns)) && host->from_port) return;
  read_file(host, reader, time_ns);
}

double cap_host_cpus(const cap_host* host, uint64_t time_ns) {
  if (!host->has_message) return NAN;
  double age = time_ns > host->time_ns ? (double)(time_ns - host->time_ns) * 1e-9 : 0;
  return age <= host->message.valid_seconds ? host->message.usable : NAN;
}

double sukima_capacity_advertised(const char* root) {
  char path[4096];
  char memory[4096];
  size_t length = root != NULL ? strlen(root) : 0;
  if (length + sizeof CAP_HOST_FILE > sizeof path) return NAN;
  memcpy(path, root != NULL ? root : "", length);
  memcpy(path + length, CAP_HOST_FILE, sizeof CAP_HOST_FILE);
  struct stat status;
  struct timespec now;
  if (fstatat(AT_FDCWD, path, &status, 0) != 0 || clock_gettime(CLOCK_REALTIME, &now) != 0) return NAN;
  cap_text content;
  cap_host_message message;
  if (cap_file_read(path, memory, sizeof memory, &content) != cap_file_read_ok ||
      !cap_parse_host_message(content, &message)) {
    return NAN;
  }
  double age =
      (double)(now.tv_sec - status.st_mtim.tv_sec) + (double)(now.tv_nsec - status.st_mtim.tv_nsec) * 1e-9;
  // A file from the future is older than a step that set the clock back. Its age is unknown, and without the
  // second bound a host that has ended would count until the clock reaches that time again.
  return age <= message.valid_seconds && age >= -message.valid_seconds ? message.usable : NAN;
}
