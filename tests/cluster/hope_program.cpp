// SPDX-License-Identifier: Apache-2.0
// A program for several nodes under hierarchical omission that kills its own nodes (dying_node.h):
// hope_program SEED ENTRIES
//
// It prints the results of so many random entries, and on stderr "result SUM OMITTED", where SUM is of all
// results. hope_program.tc is such a program in the language.
#include "dying_node.h"
#include "random_programs.hpp"

#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace random_programs;

std::uint64_t counted_leaf(sukima::context c, spec s, unsigned i) {
  dying_node_passes(dying_node_task);
  std::uint64_t value = piece(c, child(s, i));
  for (unsigned turn = 0; turn < 100000; ++turn) value = mixed(value);
  return value;
}
/// A loop whose pieces travel, each with a random program in it.
std::uint64_t entry(sukima::context c, spec s) {
  return sukima::parallel_reduce(c, 0u, 40u, std::uint64_t{0}, call<counted_leaf>(s), std::plus{});
}

void print(std::string_view text) { dying_node_prints(text.data(), text.size()); }

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  dying_node_begins();
  const unsigned long seed = std::strtoul(argv[1], nullptr, 10);
  const unsigned long entries = std::strtoul(argv[2], nullptr, 10);
  std::uint64_t sum = 0;
  for (unsigned long i = 0; i < entries; ++i) {
    dying_node_passes(dying_node_entry);
    const std::uint64_t value = sukima::cluster::run(call<entry>(spec{mixed(seed * 100 + i), 4}));
    sum = combined(sum, value);
    print("entry " + std::to_string(i) + ": " + std::to_string(value) + "\n");
    // Some of it is more than a pipe takes.
    std::string more;
    for (std::uint64_t n = mixed(sum) % 3 * 4000; n != 0; --n) more += std::to_string(mixed(n)) + '\n';
    print(more);
  }
  dying_node_reports(sum);
}
