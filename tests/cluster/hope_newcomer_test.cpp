// SPDX-License-Identifier: Apache-2.0
// A node that has joined: which nodes it asks for results. The nodes meet at the start,
// but a node with `joins` behaves as if it had joined later. Messages take no time, so what one node has sent
// before another one begins an entry is there.
#include "hope_support.hpp"

#include <atomic>
#include <latch>

namespace {

using namespace hope_support;
using hope::note;
using hope::note_kind;
using sukima::call;

/// No node begins what another one has claimed.
const hope::node_options without_help{.before_helping = 10h};

/// Polls until then: a task that is aborted leaves here.
template <class Until> void wait(sukima::context c, Until until) {
  while (!until()) {
    static_cast<void>(sukima::fork2(c, [] { return 0; }, [] { return 0; }));
    std::this_thread::yield();
  }
}

long ends_elsewhere(sukima::context c) {
  if (cluster_support::own_node == 2) wait(c, [] { return false; });  // until the result comes
  return 7;
}

TEST(hope_newcomers, ask_one_node_for_a_result) {
  std::atomic<unsigned> questions{0};
  // The others' results get lost until the newcomer asks for one.
  const auto until_asked = [&](node_id to, const note& n) {
    return to == 2 && n.kind == note_kind::entry_result && questions.load() == 0;
  };
  const auto count = [&](node_id, const note& n) {
    if (n.kind == note_kind::missing) ++questions;
    return false;
  };
  hope_nodes nodes({.nodes = 3, .longest_delay = 0us}, without_help,
                   {{.loses = until_asked}, {.loses = until_asked}, {.loses = count, .joins = true}});
  std::latch ended(2);
  nodes.on_each([&](unsigned i) {
    if (i == 2) ended.wait();
    EXPECT_EQ(nodes.run(i, call<ends_elsewhere>()), 7);
    if (i != 2) ended.count_down();
  });
  EXPECT_EQ(questions.load(), 1u);
}

}  // namespace
