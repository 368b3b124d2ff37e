// SPDX-License-Identifier: Apache-2.0
// Small files of the kernel and of this part.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

namespace sukima::host {

/// Bytes of the longest file that is read: a description of the largest host has some 20 MB.
inline constexpr std::size_t longest_input = std::size_t{64} << 20;
/// The same for a message.
inline constexpr const char* longest_input_text = "64 MiB";

/// All of a file of at most 64 KiB, without the newline at its end; nothing if it cannot be read.
std::optional<std::string> read_small_file(const std::filesystem::path& file);

/// Writes into a file that is there, as the kernel's control files want it: by one write.
/// \returns 0, or an errno
int write_control_file(const std::filesystem::path& file, const std::string& text);

/// Replaces a file as a whole, by renaming: a reader or a kill sees the old one or the new one. Not
/// durable if the machine crashes. The folder is made if it is missing.
/// \returns 0, or an errno
int replace_file(const std::filesystem::path& file, const std::string& text, unsigned mode);

}  // namespace sukima::host
