// SPDX-License-Identifier: Apache-2.0
// The standard streams of a process that was started without some of them.
#pragma once

namespace sukima::process {

/// Opens the standard streams that are closed, so that no other file gets their numbers: otherwise messages
/// would be written into a file of results. Input is empty. Output and messages cannot be written. In
/// programs that this process starts, these streams are closed again.
void occupy_closed_streams() noexcept;

/// Returns whether the path leads to a standard output that occupy_closed_streams() has found closed, such as
/// /dev/stdout or /dev/stderr. It cannot be written.
bool is_closed_output(const char* path) noexcept;

}  // namespace sukima::process
