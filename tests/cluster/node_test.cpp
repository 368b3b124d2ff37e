// SPDX-License-Identifier: Apache-2.0
// Entries on several nodes: results, exceptions, aborts, arguments of all kinds.
#include "support.hpp"

#include "transport/sparse_graph.hpp"

#include <cereal/types/string.hpp>
#include <cereal/types/utility.hpp>
#include <cereal/types/vector.hpp>
#include <sukima/transfer_cereal.hpp>

#include <array>
#include <stdexcept>
#include <utility>

namespace {

/// Its codec says that it is none for the way.
struct homely {
  long value;
};

}  // namespace

template <> struct sukima::codec<homely> {
  static void encode(const homely& /*value*/, std::vector<std::byte>& /*to*/) {
    throw std::length_error("it is too long");
  }
  static homely decode(std::span<const std::byte> /*from*/) { return {}; }
};

namespace {

using namespace cluster_support;
using sukima::call;
using sukima::cluster::most_meshed;

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

// A node asks a part of so many only, and each must get one of these tasks all the same.
TEST(nodes, find_work_among_many) {
  arrived = 0;
  nodes_in_process nodes({.nodes = most_meshed + 4, .is_sparse = true});
  EXPECT_EQ(nodes.everywhere(call<meet_below>(most_meshed + 4, most_meshed + 4)),
            std::vector<bool>(most_meshed + 4, true));
}

bool meet_in_two(sukima::context c) {
  const auto [a, b] = sukima::fork2(c, call<meet>(2u), call<meet>(2u));
  return a && b;
}
long of_homely(homely h) { return h.value; }
long beside_a_task_that_stays(sukima::context c) {
  const auto [met, kept] = sukima::fork2(c, call<meet_in_two>(), call<of_homely>(homely{7}));
  return met ? kept : 0;
}

// The oldest task of node 0 cannot leave; the next one must, or they would never meet.
TEST(nodes, share_what_is_younger_than_a_task_that_cannot_travel) {
  arrived = 0;
  nodes_in_process nodes({.nodes = 2});
  EXPECT_EQ(nodes.everywhere(call<beside_a_task_that_stays>()), std::vector<long>(2, 7));
  EXPECT_EQ(nodes.given(), 1u);
}

bool meet_in_a_fork(sukima::context c) {
  const auto [a, b, d, e] = sukima::fork(c, call<meet>(4u), call<meet>(4u), call<meet>(4u), call<meet>(4u));
  return a && b && d && e;
}

TEST(nodes, share_the_branches_of_a_fork) {
  arrived = 0;
  nodes_in_process nodes({});
  EXPECT_EQ(nodes.everywhere(call<meet_in_a_fork>()), std::vector<bool>(4, true));
  EXPECT_GE(nodes.given(), 3u);
}

struct point {
  double x;
  std::array<int, 3> y;
};
using text_and_numbers = std::pair<std::string, std::vector<int>>;

text_and_numbers joined(sukima::context c, const std::string& word, std::vector<int> numbers, point p) {
  meet(c, 2);
  numbers.push_back(p.y[2]);
  return {word + std::to_string(static_cast<int>(p.x)), numbers};
}
std::string all_kinds(sukima::context c, const std::string& word) {
  // Both meet, so another node runs the second one.
  auto [met, found] =
      sukima::fork2(c, call<meet>(2u), call<joined>(word, std::vector<int>{1, 2}, point{3, {4, 5, 6}}));
  for (const int n : found.second) found.first += std::to_string(n);
  return found.first + (met ? "!" : "?");
}

TEST(nodes, take_strings_vectors_and_structures) {
  arrived = 0;
  nodes_in_process nodes({.nodes = 2});
  EXPECT_EQ(nodes.everywhere(call<all_kinds>(std::string("word"))), std::vector<std::string>(2, "word3126!"));
  EXPECT_EQ(nodes.given(), 1u);
}

std::atomic<int> ran_void{0};
void only_meets(sukima::context c) {
  meet(c, 2);
  ran_void.fetch_add(1);
}
void both_void(sukima::context c) { sukima::fork2(c, call<only_meets>(), call<only_meets>()); }
int void_entry(sukima::context c) {
  both_void(c);
  return 7;
}

TEST(nodes, take_calls_without_a_result) {
  arrived = 0;
  nodes_in_process nodes({.nodes = 2});
  EXPECT_EQ(nodes.everywhere(call<void_entry>()), std::vector<int>(2, 7));
  EXPECT_EQ(ran_void.load(), 2);
  EXPECT_EQ(nodes.given(), 1u);
}

long throws_there(sukima::context c) {
  meet(c, 2);
  throw std::out_of_range("too far");
}
long throws(sukima::context c) {
  // The branch that does not throw runs until it is aborted.
  auto [a, b] = sukima::fork2(c, call<meet>(2u), call<throws_there>());
  return a + b;
}

TEST(nodes, pass_exceptions_on) {
  arrived = 0;
  nodes_in_process nodes({.nodes = 2});
  nodes.on_each([&](unsigned i) {
    try {
      nodes.run(i, call<throws>());
      ADD_FAILURE() << "node " << i << " got a result";
    } catch (const sukima::cluster::remote_exception& e) {
      EXPECT_EQ(e.type(), "std::out_of_range");
      EXPECT_STREQ(e.what(), "too far");
      EXPECT_EQ(e.node(), 1u);
    }
  });
  EXPECT_EQ(nodes.everywhere(call<fib>(15)), std::vector<long>(2, fib_alone(15))) << "they go on";
}

std::atomic<bool> endless_runs{false};
/// Ends only when it is aborted.
long endless(sukima::context c) {
  endless_runs = true;
  for (;;) {
    static_cast<void>(sukima::fork2(c, [] { return 0; }, [] { return 0; }));
    std::this_thread::yield();
  }
}
long throws_here(sukima::context c) {
  while (!endless_runs) static_cast<void>(sukima::fork2(c, [] { return 0; }, [] { return 0; }));
  throw std::runtime_error("enough");
}
long aborts_there(sukima::context c) {
  auto [a, b] = sukima::fork2(c, call<throws_here>(), call<endless>());
  return a + b;
}

TEST(nodes, abort_what_other_nodes_run) {
  for (unsigned published : {0u, 3u}) {
    endless_runs = false;
    nodes_in_process nodes({.nodes = 3, .published = published});
    nodes.on_each([&](unsigned i) {
      try {
        nodes.run(i, call<aborts_there>());
        ADD_FAILURE() << "node " << i << " got a result";
      } catch (const std::runtime_error& e) {
        EXPECT_STREQ(e.what(), "enough");
      }
    });
    EXPECT_EQ(nodes.statistics(0).aborts, 1u);
  }
}

TEST(nodes, count_the_messages_that_they_send) {
  nodes_in_process nodes({.nodes = 3});
  EXPECT_EQ(nodes.statistics(0).notes, 0u);
  nodes.everywhere(call<fib>(25));
  for (unsigned i = 0; i < 3; ++i) {
    const auto sent = nodes.statistics(i);
    EXPECT_EQ(sent.answers, sent.received) << "each task that came has sent its result";
    EXPECT_GE(sent.notes, sent.requests + sent.refusals + sent.lifelines + sent.given + sent.answers);
    // A node that comes late may send none.
    EXPECT_GE(sent.sent_bytes, 10 * sent.notes) << "a message has its kind, entry and numbers";
    EXPECT_EQ(sent.questions + sent.aborts, 0u);
  }
  EXPECT_GE(nodes.statistics(0).notes, 2u) << "the result of the entry";
}

/// A node that is late finds the results of the entries that it has missed.
TEST(nodes, that_are_late_get_the_results) {
  nodes_in_process nodes({.nodes = 3});
  std::latch first_two(2);
  nodes.on_each([&](unsigned i) {
    if (i == 2) first_two.wait();
    for (int n = 5; n < 12; ++n) EXPECT_EQ(nodes.run(i, call<fib>(n)), fib_alone(n));
    if (i != 2) first_two.count_down();
  });
}

struct with_pointer {
  const int* at;
};
long follows(with_pointer p) { return *p.at; }

TEST(calls, that_cannot_travel_stay) {
  using stays = decltype(call<follows>(with_pointer{}));
  static_assert(!sukima::detail::call_can_travel<stays>);
  static_assert(!sukima::detail::travels<stays>::possible);
  static_assert(sukima::detail::call_can_travel<decltype(call<fib>(1))>);
  const int three = 3;
  const long found = sukima::run([&](sukima::context c) {
    auto [a, b] = sukima::fork2(c, call<fib>(10), call<follows>(with_pointer{&three}));
    return a + b;
  });
  EXPECT_EQ(found, 58);
}

// A clone would call a generic one, and what the function forks there would be no choice points.
template <class Call>
concept is_like_a_lambda = sukima::detail::has_one_call<Call> && !sukima::detail::may_be_generic<Call>;
long adds(int a, int b) { return a + b; }
static_assert(is_like_a_lambda<decltype(call<fib>())> && is_like_a_lambda<decltype(call<fib>(1))>);
static_assert(is_like_a_lambda<decltype(call<adds>(1))> && is_like_a_lambda<decltype(call<adds>(1, 2))>);

long throws_alone() { throw std::out_of_range("alone"); }

TEST(calls, outside_a_cluster_run_here) {
  EXPECT_EQ(sukima::cluster::nodes(), 1u);
  EXPECT_EQ(sukima::cluster::this_node(), 0u);
  EXPECT_EQ(sukima::cluster::run(call<fib>(20)), fib_alone(20));
  EXPECT_THROW(sukima::cluster::run(call<throws_alone>()), std::out_of_range);
}

}  // namespace
