// SPDX-License-Identifier: Apache-2.0
// How parts refuse a setting of the user.
#pragma once

#include <string>

namespace sukima::detail {

/// Throws `bad_setting` with that text. If nothing catches it, the program prints the text and ends with exit
/// code 2, instead of aborting as after other exceptions: the user has given a wrong value, and a core file
/// would not help.
[[noreturn]] void throw_bad_setting(const std::string& text);

}  // namespace sukima::detail
