// SPDX-License-Identifier: Apache-2.0
// Tasks print on every node: cluster_printing_program FOLDER [die|file]
//
// Each node has one worker. Task number k makes a file in the folder and does not end before all nodes have
// made theirs, so each node has a task of its own. With `die` the last task ends its process then. With
// `file` main gives stdout a file of its own.
#include <sukima/cluster.hpp>

#include <sys/stat.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <string>

namespace {

std::string folder;
std::string how;

bool exists(const std::string& file) {
  struct stat s{};
  return stat(file.c_str(), &s) == 0;
}

std::string mark_of(unsigned node) { return folder + "/" + std::to_string(node); }

/// Lets other workers and nodes take tasks while this one waits.
void wait_for(sukima::context c, const std::string& file) {
  while (!exists(file)) sukima::fork2(c, [] {}, [] {});
}

/// More than fits into a pipe.
void visit(sukima::context c, unsigned task) {
  constexpr int lines = 20000;
  for (int i = 0; i < lines; ++i) std::printf("line %d of task %u\n", i, task);
  std::fwrite("\0\xff\n", 1, 3, stdout);
  std::printf("unfinished %u", task);
  std::ofstream(mark_of(task)).put('x');
  for (unsigned n = 0; n < sukima::cluster::nodes(); ++n) wait_for(c, mark_of(n));
  if (how != "die") return;
  if (task + 1 == sukima::cluster::nodes()) {
    std::printf(", last words\n");
    std::raise(SIGKILL);
  }
  wait_for(c, folder + "/never");
}

void visit_from(sukima::context c, unsigned task) {
  if (task + 1 == sukima::cluster::nodes())
    visit(c, task);
  else
    sukima::fork2(c, sukima::call<visit>(task), sukima::call<visit_from>(task + 1));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  folder = argv[1];
  how = argc > 2 ? argv[2] : "";
  const std::string own = folder + "/output-" + std::to_string(sukima::cluster::this_node());
  if (how == "file" && std::freopen(own.c_str(), "w", stdout) == nullptr) return 1;
  std::printf("main begins\nprogress: ");
  std::fflush(stdout);
  sukima::cluster::run(sukima::call<visit_from>(0u));
  std::printf(" done\nmain ends\n");
}
