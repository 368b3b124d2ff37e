// SPDX-License-Identifier: Apache-2.0
// Finds the compiler of a program in its section .comment.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace sukima::cli::bench {

/// The version of the compiler ("gcc", "clang" or "rustc") that made an ELF program, from its section
/// .comment, where compilers leave their names; such as "12.2.0". Empty if the file has none.
std::string compiler_version(const std::filesystem::path& program, std::string_view compiler);

/// The version in the texts of a section .comment, which are separated by zero bytes.
std::string version_in_comment(std::string_view comment, std::string_view compiler);

}  // namespace sukima::cli::bench
