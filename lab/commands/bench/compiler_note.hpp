// SPDX-License-Identifier: Apache-2.0
// Finds the compiler of a program in its section .comment.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace sukima::cli::bench {

/// Returns the version of the compiler ("gcc", "clang" or "rustc") that made an ELF program, such as
/// "12.2.0". Compilers leave their names in its section .comment. Empty if the file has no such name.
std::string compiler_version(const std::filesystem::path& program, std::string_view compiler);

/// Finds the version in the texts of a section .comment, which are separated by zero bytes.
std::string version_in_comment(std::string_view comment, std::string_view compiler);

}  // namespace sukima::cli::bench
