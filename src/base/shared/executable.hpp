// SPDX-License-Identifier: Apache-2.0
// Determines the kind of a program's file, to know whether a library can be preloaded into the program.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace sukima::process {

/// Returns the file of a program's name. A name with a slash is used unchanged; other names are searched in
/// `search_path` (PATH). Nothing if no such file may be executed.
std::optional<std::filesystem::path> find_program(const std::string& name, const char* search_path);

/// Returns the reason why no library can be preloaded into a program, as the end of the sentence "nothing is
/// preloaded, because …"; empty if preloading works. It reads the file's ELF header and the list of its
/// libraries; for a script, those of its interpreter. For an unreadable file it returns empty text, because
/// then the loader decides.
/// \param loader the dynamic loader of the library, which is this program's
std::string obstacle_to_preloading(const std::filesystem::path& program, const std::string& loader);

/// Returns what is missing if the kernel reports that a program does not exist although its file does: the
/// interpreter of a script, or the dynamic loader. The text is the end of the sentence "… cannot be started:
/// …".
std::string trouble_with_interpreter(const std::filesystem::path& program);

/// Returns the dynamic loader of a program; empty if it has none or is not an ELF file of this machine.
std::string loader_of(const std::filesystem::path& program);

}  // namespace sukima::process
