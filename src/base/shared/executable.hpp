// SPDX-License-Identifier: Apache-2.0
// The kind of a program's file, as far as a library can be preloaded into it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace sukima::process {

/// The file that a program's name stands for: one with a slash is taken as it is, others are looked for in
/// `search_path` (PATH). Nothing if there is none that may be executed.
std::optional<std::filesystem::path> find_program(const std::string& name, const char* search_path);

/// Why nothing can be preloaded into a program, as the end of the sentence "nothing is preloaded, because
/// …"; empty if it can. Reads the file's ELF header and the list of its libraries; of a script, those of
/// its interpreter. An unreadable file counts as able: the loader decides then.
/// \param loader the dynamic loader that the library is for, as this program's
std::string obstacle_to_preloading(const std::filesystem::path& program, const std::string& loader);

/// What is missing if the kernel says of a program whose file is there that it does not exist: the
/// interpreter of a script, or the dynamic loader. The end of the sentence "… cannot be started: …".
std::string trouble_with_interpreter(const std::filesystem::path& program);

/// The dynamic loader of a program; empty if it has none or is no ELF file of this machine.
std::string loader_of(const std::filesystem::path& program);

}  // namespace sukima::process
