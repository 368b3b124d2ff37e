// SPDX-License-Identifier: Apache-2.0
// The memory that control groups allow this process.
#pragma once

#include <cstdint>
#include <string>

namespace sukima::calibrate_detail {

/// Returns the smallest limit, in bytes, of the process's control group and of the groups above it that are
/// visible; UINT64_MAX if none is known. Such a group's process is killed if it uses more.
/// \param root is put before every path, for tests
std::uint64_t memory_limit(const std::string& root = "");

}  // namespace sukima::calibrate_detail
