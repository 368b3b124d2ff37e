// SPDX-License-Identifier: Apache-2.0
// A program that nodes leave while it runs (leave_test.py): leave_program FOLDER [ignores]
//
// Each of its entries forks two tasks, of which the first one waits. So another node runs the second one.
// Files in the folder show what each node does, and let it go on. With `ignores` the program ignores SIGUSR1.
#include <sukima/cluster.hpp>

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace {

std::filesystem::path folder;

/// Records that this node has come so far, and its process.
void mark(const std::string& step) {
  const auto unfinished = folder / ("." + step + std::to_string(getpid()));
  std::ofstream(unfinished) << getpid();
  std::filesystem::rename(unfinished, folder / (step + "-" + std::to_string(sukima::cluster::this_node())));
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

long waiting_part(sukima::context c, long number) {
  mark("waiting");
  wait_for(c, "go");
  return number;
}
long computing_part(sukima::context c, long number) {
  mark("computing");
  wait_for(c, "finish");
  return number;
}
long first_entry(sukima::context c) {
  const auto [a, b] = sukima::fork2(c, sukima::call<waiting_part>(10L), sukima::call<computing_part>(20L));
  return a + b;
}

long part_that_needs_help(sukima::context c, long number) {
  wait_for(c, "helped");
  return number;
}
long helping_part(sukima::context, long number) {
  mark("helped");
  return number;
}
long second_entry(sukima::context c, long sum) {
  const auto [a, b] =
      sukima::fork2(c, sukima::call<part_that_needs_help>(sum), sukima::call<helping_part>(1L));
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  folder = argv[1];
  if (argc > 2) std::signal(SIGUSR1, SIG_IGN);
  const long sum = sukima::cluster::run(sukima::call<first_entry>());
  std::printf("first %ld\n", sum);
  mark("between");
  const std::string own = "second-" + std::to_string(sukima::cluster::this_node());
  while (!is_marked("second-all") && !is_marked(own))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::printf("second %ld\n", sukima::cluster::run(sukima::call<second_entry>(sum)));
  mark("ended");
}
