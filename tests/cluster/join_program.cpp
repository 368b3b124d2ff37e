// SPDX-License-Identifier: Apache-2.0
// A program that nodes join while it runs (join_test.py): join_program FOLDER [NUMBER]
//
// With a number it begins with so many entries that have large results, and end on node 0 only.
//
// Its second entry after them forks two tasks. The first task waits until a node has run the second task, so
// it ends only if another worker runs that. Files in the folder show what each node does. With `go` the entry
// ends.
#include <sukima/cluster.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace {

/// A result of so many bytes.
struct filler {
  std::size_t size;
};

}  // namespace

template <> struct sukima::codec<filler> {
  static void encode(const filler& value, std::vector<std::byte>& to) { to.resize(to.size() + value.size); }
  static filler decode(std::span<const std::byte> from) { return {from.size()}; }
};

namespace {

std::filesystem::path folder;

/// Records that this node has come so far.
void mark(const std::string& step) {
  std::ofstream(folder / (step + "-" + std::to_string(sukima::cluster::this_node())));
}
bool is_marked(const std::string& step) {
  for (const auto& file : std::filesystem::directory_iterator(folder))
    if (file.path().filename().string().starts_with(step)) return true;
  return false;
}

/// Waits for a file. Meanwhile the node may take tasks from this worker, which looks for that at its forks.
void wait_for(sukima::context c, const std::string& step) {
  while (!is_marked(step)) {
    sukima::fork2(c, [] {}, [] {});
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

filler large_entry(sukima::context c, std::size_t size) {
  if (sukima::cluster::this_node() != 0) wait_for(c, "never");  // until the result comes
  return {size};
}
long first_entry(sukima::context) {
  mark("first");
  return 1;
}
long waiting_part(sukima::context c, long number) {
  mark("waiting");
  wait_for(c, "computed");
  wait_for(c, "go");
  return number;
}
long computing_part(sukima::context, long number) {
  mark("computed");
  return number;
}
long second_entry(sukima::context c) {
  const auto [a, b] = sukima::fork2(c, sukima::call<waiting_part>(10L), sukima::call<computing_part>(20L));
  return a + b;
}
long third_entry(sukima::context, long sum) { return sum + 1; }

}  // namespace

int main(int count, char** words) {
  if (count != 2 && count != 3) return 2;
  folder = words[1];
  for (int n = 0; n < (count == 3 ? std::atoi(words[2]) : 0); ++n)
    std::printf("large %zu\n", sukima::cluster::run(sukima::call<large_entry>(std::size_t{5} << 20)).size);
  std::printf("first %ld\n", sukima::cluster::run(sukima::call<first_entry>()));
  mark("second");
  const long sum = sukima::cluster::run(sukima::call<second_entry>());
  std::printf("second %ld\n", sum);
  std::printf("third %ld\n", sukima::cluster::run(sukima::call<third_entry>(sum)));
}
