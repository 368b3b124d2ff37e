// SPDX-License-Identifier: Apache-2.0
// Makes the entries of its word on each node: cluster_entries_program CALL,CALL… CALL,CALL…
#include <sukima/cluster.hpp>

#include <cstdio>
#include <sstream>
#include <string>

namespace {

long leaves(sukima::context c, int depth) {
  if (depth == 0) return 1;
  const auto [a, b] = sukima::fork2(c, sukima::call<leaves>(depth - 1), sukima::call<leaves>(depth - 1));
  return a + b;
}

double half(int n) { return n / 2.0; }

}  // namespace

int main(int argc, char** argv) {
  const auto own = static_cast<int>(sukima::cluster::this_node()) + 1;
  if (own >= argc) return 2;
  std::istringstream calls(argv[own]);
  for (std::string call; std::getline(calls, call, ',');) {
    if (call == "leaves")
      std::printf("%ld\n", sukima::cluster::run(sukima::call<leaves>(10)));
    else if (call == "endless")
      std::printf("%ld\n", sukima::cluster::run(sukima::call<leaves>(60)));
    else
      std::printf("%g\n", sukima::cluster::run(sukima::call<half>(3)));
  }
}
