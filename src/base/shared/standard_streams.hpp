// SPDX-License-Identifier: Apache-2.0
// The standard streams of a process that was started without some of them.
#pragma once

namespace sukima::process {

/// Opens the standard streams that are closed, so that no other file gets their numbers: otherwise messages
/// would be written into a file of results. Input is empty, output cannot be written, messages are discarded.
/// In programs that this process starts, these streams are closed again.
void occupy_closed_streams() noexcept;

/// Returns whether the path leads to the standard output, such as /dev/stdout, and occupy_closed_streams()
/// has found that closed: what is written there is lost.
bool is_closed_output(const char* path) noexcept;

}  // namespace sukima::process
