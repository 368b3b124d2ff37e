// SPDX-License-Identifier: Apache-2.0
// Runs the fuzz target of experiments on the stored inputs and on the installed experiments, with every
// compiler.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::size_t run_folder(const char* folder) {
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

TEST(corpus, every_input_keeps_the_promises) { EXPECT_GE(run_folder(SUKIMA_CORPUS), 8u); }

TEST(corpus, every_installed_experiment_keeps_the_promises) { EXPECT_GE(run_folder(SUKIMA_EXPERIMENTS), 1u); }

}  // namespace
