// SPDX-License-Identifier: Apache-2.0
// QEMU as a process.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace sukima::guests {

inline constexpr const char* emulator = "qemu-system-x86_64";

/// Starts a program whose words go to a file; it ends with this process.
/// \throws std::runtime_error if it cannot be started
pid_t start_machine(const std::vector<std::string>& command, const std::filesystem::path& words);

/// All of a file; "" if it cannot be read.
std::string text_of(const std::filesystem::path& file);

}  // namespace sukima::guests
