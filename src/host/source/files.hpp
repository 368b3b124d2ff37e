// SPDX-License-Identifier: Apache-2.0
// Files of /proc and /sys, read whole.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sukima::host {

/// All of a file; none if it cannot be read, or is longer than `longest_input`.
std::optional<std::string> read_text(const std::string& path);

/// The lines without their ends.
std::vector<std::string_view> lines_of(std::string_view text);
std::vector<std::string_view> lines_of(std::string&& text) = delete;  // they would outlive it

/// The words between blanks and tabs.
std::vector<std::string_view> words_of(std::string_view line);
std::vector<std::string_view> words_of(std::string&& line) = delete;

/// A decimal number that is the whole text, blanks and line ends around it aside; none if it is no such
/// number.
std::optional<std::uint64_t> number_of(std::string_view text);

/// The text without blanks and line ends around it.
std::string_view trimmed(std::string_view text);

}  // namespace sukima::host
