// SPDX-License-Identifier: Apache-2.0
// Entries on several nodes: results, exceptions, aborts, arguments of all kinds.
#include "support.hpp"

#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <sukima/transfer_cereal.hpp>

#include <numeric>

namespace {

using namespace cluster_support;
using sukima::call;

long fib(sukima::context c, int n) {
  if (n < 2) return n;
  auto [a, b] = sukima::fork2(c, call<fib>(n - 1), call<fib>(n - 2));
  return a + b;
}
long fib_alone(int n) { return n < 2 ? n : fib_alone(n - 1) + fib_alone(n - 2); }

TEST(nodes, get_the_same_result) {
  nodes_in_process nodes({});
  EXPECT_EQ(nodes.everywhere(call<fib>(27)), std::vector<long>(4, fib_alone(27)));
  EXPECT_EQ(nodes.everywhere(call<fib>(20)), std::vector<long>(4, fib_alone(20)));
}

/// Arrivals of the same thing on several nodes of this process.
std::atomic<unsigned> arrived{0};

/// Ends when so many run at once: each on another node, if all nodes have one worker.
bool meet(sukima::context c, unsigned all) {
  arrived.fetch_add(1);
  while (arrived.load() < all) {
    static_cast<void>(sukima::fork2(c, [] { return 0; }, [] { return 0; }));  // polls
    std::this_thread::yield();
  }
  return true;
}
bool meet_below(sukima::context c, unsigned count, unsigned all) {
  if (count == 1) return meet(c, all);
  auto [a, b] = sukima::fork2(c, call<meet>(all), call<meet_below>(count - 1, all));
  return a && b;
}

TEST(nodes, work_at_the_same_time_with_one_worker_each) {
  for (const unsigned published : {0u, 3u}) {
    arrived = 0;
    nodes_in_process nodes({.published = published});
    EXPECT_EQ(nodes.everywhere(call<meet_below>(4u, 4u)), std::vector<bool>(4, true));
    EXPECT_GE(nodes.given(), 3u);
  }
}

}  // namespace
