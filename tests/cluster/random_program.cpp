// SPDX-License-Identifier: Apache-2.0
// One node of a cluster that runs random programs: random_program FIRST_SEED COUNT
//
// Each node compares what it gets with what the program gives sequentially, and says on stderr how many tasks
// it gave away. Exit code 1: a result was wrong; 2: a wrong request.
#include "random_programs.hpp"

#include <charconv>
#include <cstdio>
#include <string_view>

namespace {

bool read_number(const char* word, std::uint64_t& value) {
  const std::string_view text(word);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

int main(int argc, char** argv) {
  using namespace random_programs;
  std::uint64_t first = 0;
  std::uint64_t programs = 0;
  if (argc != 3 || !read_number(argv[1], first) || !read_number(argv[2], programs)) {
    std::fputs("random_program: give the first seed and the number of programs\n", stderr);
    return 2;
  }
  bool right = true;
  for (std::uint64_t seed = first; seed != first + programs; ++seed) {
    const spec program{mixed(seed), static_cast<std::uint32_t>(7 + seed % 4)};
    const std::uint64_t expected = alone(program);
    const std::uint64_t found = sukima::cluster::run(call<piece>(program));
    if (found == expected) continue;
    std::fprintf(stderr, "node %u: the program of the seed %llu gave %llu, sequentially %llu\n",
                 sukima::cluster::this_node(), static_cast<unsigned long long>(seed),
                 static_cast<unsigned long long>(found), static_cast<unsigned long long>(expected));
    right = false;
  }
  std::fprintf(stderr, "%llu tasks given\n",
               static_cast<unsigned long long>(sukima::cluster::statistics().given));
  return right ? 0 : 1;
}
