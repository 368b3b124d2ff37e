// SPDX-License-Identifier: Apache-2.0
// How parts refuse a wrong setting of the user.
#pragma once

#include <string>

namespace sukima::detail {

/// Throws `bad_setting` with that text. If no handler catches it, the program prints the text and ends with
/// exit code 2. It does not abort as after other exceptions, because the user has given a wrong value, and a
/// core file would not help.
[[noreturn]] void throw_bad_setting(const std::string& text);

}  // namespace sukima::detail
