// SPDX-License-Identifier: Apache-2.0
// The message in which a virtual machine's host states the CPU that it gives. docs/estimating.md describes
// the format.
#ifndef SUKIMA_CAPACITY_ESTIMATE_HOST_H
#define SUKIMA_CAPACITY_ESTIMATE_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "limits/reader.h"
#include "text/text.h"

/// The sources of messages: a file, and a port of a virtual machine, which only one process at a time can
/// open.
#define CAP_HOST_FILE "/run/sukima/host"
#define CAP_HOST_PORT "/dev/virtio-ports/org.sukima.capacity.0"

/// A message of the host.
typedef struct cap_host_message {
  double usable;  ///< CPUs that the whole machine gets
  double valid_seconds;  ///< how long that is valid
} cap_host_message;

/// Parses one message:
///     sukima-host 1
///     usable 1.5
///     valid 10
///     end
/// Lines with other words are skipped. \return false if it is malformed or incomplete
bool cap_parse_host_message(cap_text content, cap_host_message* message);

/// Finds the last complete message in the bytes from a port.
bool cap_find_last_host_message(cap_text content, cap_host_message* message);

typedef struct cap_host {
  bool has_message;
  bool from_port;
  cap_host_message message;
  uint64_t time_ns;  // when it arrived, on the estimator's clock
  uint64_t file_time_ns;  // modification time of the file from which it was read
  bool is_malformed;  // the latest message is malformed
  bool malformed_from_port;  // the malformed message came from the port
  uint64_t malformed_time_ns;  // modification time of a malformed file; 0: none
  int port;  // -1: not open
  size_t length;  // number of bytes from the port that are not a complete message yet
  char memory[2048];
} cap_host;

void cap_host_open(cap_host* host, cap_reader* reader);
void cap_host_close(cap_host* host);

/// Reads new messages.
void cap_host_read(cap_host* host, cap_reader* reader, uint64_t time_ns);

/// The CPUs that are advertised at this time; not-a-number if there is no valid message.
double cap_host_cpus(const cap_host* host, uint64_t time_ns);

#endif
