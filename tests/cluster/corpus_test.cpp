// SPDX-License-Identifier: Apache-2.0
// Runs the fuzz target of the protocol between nodes on the stored inputs, with every compiler.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

TEST(corpus, every_input_keeps_the_promises) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(SUKIMA_CORPUS)) {
    SCOPED_TRACE(entry.path());
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    EXPECT_EQ(LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()), 0);
    count++;
  }
  EXPECT_GE(count, 8u);
}

}  // namespace
