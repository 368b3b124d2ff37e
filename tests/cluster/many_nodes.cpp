// SPDX-License-Identifier: Apache-2.0
// A program on many nodes: many_nodes SIZE
//
// The first entry ends when all nodes have met, and then each prints "here" to its stderr. The second one
// counts the ways to place SIZE queens. At its end each node prints a line of figures to its stderr, for
// lab/scripts/many-nodes.py.
#include <sukima/cluster.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <string>
#include <system_error>

#include <sys/resource.h>

namespace {

std::atomic<unsigned long> leaves{0};  ///< that this node has computed

/// The ways to place the queens of the other rows, without a fork.
unsigned long ways(unsigned all, unsigned taken, unsigned left, unsigned right) {
  if (taken == all) return 1;
  unsigned long found = 0;
  for (unsigned free = all & ~(taken | left | right); free != 0; free &= free - 1) {
    const unsigned bit = free & -free;
    found += ways(all, taken | bit, (left | bit) << 1, (right | bit) >> 1);
  }
  return found;
}

unsigned long queens(sukima::context c, unsigned size, unsigned row, unsigned taken, unsigned left,
                     unsigned right);
unsigned long queen_at(sukima::context c, unsigned size, unsigned row, unsigned taken, unsigned left,
                       unsigned right, unsigned column) {
  const unsigned bit = 1u << column;
  if (((taken | left | right) & bit) != 0) return 0;
  return queens(c, size, row + 1, taken | bit, (left | bit) << 1, (right | bit) >> 1);
}
unsigned long queens(sukima::context c, unsigned size, unsigned row, unsigned taken, unsigned left,
                     unsigned right) {
  if (row == 5) {
    leaves.fetch_add(1, std::memory_order_relaxed);
    return ways((1u << size) - 1, taken, left, right);
  }
  return sukima::parallel_reduce(c, 0u, size, 0ul, sukima::call<queen_at>(size, row, taken, left, right),
                                 std::plus{});
}

long meeting(sukima::context) { return 1; }

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// The connections of this node, and the other sockets of the process.
unsigned long sockets() {
  unsigned long count = 0;
  for (const auto& descriptor : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code closed;  // that of this folder
    const std::string target = std::filesystem::read_symlink(descriptor.path(), closed).string();
    if (target.starts_with("socket:")) ++count;
  }
  return count;
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  sukima::cluster::run(sukima::call<meeting>());
  std::fputs("here\n", stderr);
  const double met = now();
  rusage before{};
  getrusage(RUSAGE_SELF, &before);
  const unsigned long first_sockets = sockets();
  const unsigned long found =
      sukima::cluster::run(sukima::call<queens>(static_cast<unsigned>(std::atoi(words[1])), 0u, 0u, 0u, 0u));
  const double ended = now();
  rusage after{};
  getrusage(RUSAGE_SELF, &after);
  const auto cpu = [](const rusage& used) {
    return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  };
  const sukima::cluster::traffic t = sukima::cluster::statistics();
  std::fprintf(
      stderr,
      "met %f ended %f start_cpu %f cpu %f leaves %lu reports %lu notes %lu bundles %lu requests %lu "
      "questions %lu refusals %lu answers %lu given %lu helped %lu cut %lu yielded %lu "
      "bytes %lu forwarded %lu withheld %lu deleted %lu rss %ld first_sockets %lu sockets %lu node %u\n",
      met, ended, cpu(before), cpu(after) - cpu(before), leaves.load(), static_cast<unsigned long>(t.reports),
      static_cast<unsigned long>(t.notes), static_cast<unsigned long>(t.bundles),
      static_cast<unsigned long>(t.requests), static_cast<unsigned long>(t.questions),
      static_cast<unsigned long>(t.refusals), static_cast<unsigned long>(t.answers),
      static_cast<unsigned long>(t.given), static_cast<unsigned long>(t.helped),
      static_cast<unsigned long>(t.cut), static_cast<unsigned long>(t.yielded),
      static_cast<unsigned long>(t.sent_bytes), static_cast<unsigned long>(t.forwarded),
      static_cast<unsigned long>(t.withheld), static_cast<unsigned long>(t.deleted), after.ru_maxrss,
      first_sockets, sockets(), sukima::cluster::this_node());
  std::printf("%lu\n", found);
}
