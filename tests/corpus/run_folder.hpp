// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target on the files of a folder. Works with every compiler.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace sukima::test {

/// Passes each file of `folder` to the fuzz target, which ends the process if a property is violated.
/// \returns their number
inline std::size_t run_folder(const char* folder) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path());
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    EXPECT_EQ(LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()), 0);
    count++;
  }
  return count;
}

}  // namespace sukima::test
