// SPDX-License-Identifier: Apache-2.0
// Names of machines as a description may have them.
#pragma once

#include <string>
#include <string_view>

namespace sukima::host {

/// The name without control characters and invalid UTF-8 ('?' stands for them), with at most 200 bytes;
/// "unnamed" if it is empty.
std::string printable_name(std::string_view name);

}  // namespace sukima::host
