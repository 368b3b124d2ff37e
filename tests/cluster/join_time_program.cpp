// SPDX-License-Identifier: Apache-2.0
// Nodes that are busy until a file `go` is in a folder (join_time_test.py): join_time_program FOLDER
//
// Each node makes a file when it begins its first task: working-NODE.
#include <sukima/cluster.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

std::filesystem::path folder;
std::atomic<bool> has_worked{false};

/// About 50 µs of work.
long leaf(long number) {
  if (!has_worked.exchange(true, std::memory_order_relaxed))
    std::ofstream(folder / ("working-" + std::to_string(sukima::cluster::this_node())));
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(50);
  while (std::chrono::steady_clock::now() < end) {
  }
  return number & 1;
}
/// The round is an argument, so that no task of a round is one of another round.
long tree(sukima::context c, long round, int depth, long number) {
  if (depth == 0) return leaf(number);
  const auto [a, b] = sukima::fork2(c, sukima::call<tree>(round, depth - 1, 2 * number),
                                    sukima::call<tree>(round, depth - 1, 2 * number + 1));
  return a | b;
}
/// \returns 1, however many rounds there are
long until_told(sukima::context c) {
  constexpr int depth = 13;
  long found = 0;
  for (long round = 0; found == 0 || !std::filesystem::exists(folder / "go"); ++round)
    found |= tree(c, round, depth, 0);
  return found;
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  folder = words[1];
  std::printf("%ld\n", sukima::cluster::run(sukima::call<until_told>()));
}
