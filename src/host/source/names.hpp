// SPDX-License-Identifier: Apache-2.0
// Makes names of machines valid for a description.
#pragma once

#include <string>
#include <string_view>

namespace sukima::host {

/// Returns the name with '?' instead of control characters and invalid UTF-8, and with at most 200 bytes;
/// "unnamed" if it is empty.
std::string printable_name(std::string_view name);

}  // namespace sukima::host
