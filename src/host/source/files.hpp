// SPDX-License-Identifier: Apache-2.0
// Reads whole files of /proc and /sys, and splits them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sukima::host {

/// Reads a whole file; nothing if it cannot be read, or is longer than `longest_input`.
std::optional<std::string> read_text(const std::string& path);

/// The lines without their line ends.
std::vector<std::string_view> lines_of(std::string_view text);
std::vector<std::string_view> lines_of(std::string&& text) = delete;  // the lines would outlive the text

/// The words between blanks and tabs.
std::vector<std::string_view> words_of(std::string_view line);
std::vector<std::string_view> words_of(std::string&& line) = delete;

/// Parses a decimal number that is the whole text except for surrounding blanks and line ends; nothing if the
/// text is not such a number.
std::optional<std::uint64_t> number_of(std::string_view text);

/// The text without surrounding blanks and line ends.
std::string_view trimmed(std::string_view text);

}  // namespace sukima::host
