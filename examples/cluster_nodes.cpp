// SPDX-License-Identifier: Apache-2.0
// The number of nodes, the tasks that each gave to others, and exceptions that cross nodes:
// sukima cluster run -n 2 -- ./cluster_nodes
#include <sukima/cluster.h>
#include <sukima/cluster.hpp>

#include <cstdio>
#include <stdexcept>

struct negative_depth : std::runtime_error {
  using runtime_error::runtime_error;
};
SUKIMA_EXCEPTION(negative_depth);  // it arrives with its type from other nodes, too

namespace {

/// The leaves of a binary tree of that depth.
long leaves(sukima::context c, int depth) {
  if (depth < 0) throw negative_depth("a tree has no depth below 0");
  if (depth == 0) return 1;
  auto [a, b] = sukima::fork2(c, sukima::call<leaves>(depth - 1), sukima::call<leaves>(depth - 1));
  return a + b;
}

void print_leaves(int depth) {
  try {
    const long all = sukima::cluster::run(sukima::call<leaves>(depth));
    std::printf("%ld leaves, nodes: %u\n", all, sukima::cluster::nodes());
  } catch (const negative_depth& wrong) {
    std::printf("%s\n", wrong.what());
  } catch (const sukima::cluster::remote_exception& other) {  // of a type without SUKIMA_EXCEPTION
    std::printf("%s on node %u: %s\n", other.type().c_str(), other.node(), other.what());
  }
}

}  // namespace

int main() {
  print_leaves(20);
  print_leaves(-1);
  // The functions for C, in <sukima/cluster.h>.
  if (sukima_cluster_node() != sukima::cluster::this_node()) return 1;
  std::fprintf(stderr, "node %u of %u gave %llu tasks to others\n", sukima_cluster_node(),
               sukima_cluster_nodes(), sukima_cluster_given());
}
