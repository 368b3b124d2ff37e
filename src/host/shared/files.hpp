// SPDX-License-Identifier: Apache-2.0
// Reads and writes small files of the kernel and of this part.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

namespace sukima::host {

/// The largest input file, in bytes. A description of the largest host has about 20 MB.
inline constexpr std::size_t longest_input = std::size_t{64} << 20;
/// The same limit, as text for a message.
inline constexpr const char* longest_input_text = "64 MiB";

/// Reads a whole file of at most 64 KiB, without the newline at its end. \returns nothing if it cannot be
/// read
std::optional<std::string> read_small_file(const std::filesystem::path& file);

/// Writes to an existing file by one write, as the kernel requires for its control files.
/// \returns 0, or an errno
int write_control_file(const std::filesystem::path& file, const std::string& text);

/// Replaces a whole file by renaming, so that readers see the old or the new file, even if this process is
/// killed. The change may be lost if the machine crashes. Creates the folder if it is missing.
/// \returns 0, or an errno
int replace_file(const std::filesystem::path& file, const std::string& text, unsigned mode);

}  // namespace sukima::host
