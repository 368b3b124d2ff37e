// SPDX-License-Identifier: Apache-2.0
// The page docs/capacity.md shows the examples as they are compiled.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace {

std::string read_file(const std::string& path) {
  std::ifstream in(std::string(SUKIMA_SOURCES) + "/" + path);
  EXPECT_TRUE(in.is_open()) << path;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

TEST(documentation, shows_the_examples) {
  const std::string page = read_file("docs/capacity.md");
  for (const char* name : {"capacity", "capacity_watch"}) {
    const std::string source = read_file("examples/" + std::string(name) + ".c");
    const std::string body = source.substr(source.find("#include"));
    EXPECT_NE(page.find("```c\n" + body + "```\n"), std::string::npos) << "examples/" << name << ".c";
  }
}

}  // namespace
