// SPDX-License-Identifier: Apache-2.0
#include "simplification.hpp"

#include <algorithm>

namespace sukima::simulation {

namespace {

using random_programs::node;

/// Lists all nodes in the order of their numbers.
template <class Node> void list(Node& n, std::vector<Node*>& all) {
  all.push_back(&n);
  for (const auto& child : n.children) list(static_cast<Node&>(*child), all);
}

}  // namespace

void simplify(random_programs::program& p, const simplifications& all) {
  std::vector<node*> nodes;
  list(*p.root, nodes);
  for (const simplification& one : all)
    if (one.change == simplification::kind::once && one.node < nodes.size()) nodes[one.node]->iterations = 1;
  // The last changes first, because a cut removes the nodes below it.
  simplifications cuts;
  for (const simplification& one : all)
    if (one.change == simplification::kind::cut && one.node < nodes.size()) cuts.push_back(one);
  std::ranges::sort(cuts, std::ranges::greater(), &simplification::node);
  for (const simplification& one : cuts) {
    nodes[one.node]->construct = random_programs::kind::leaf;
    nodes[one.node]->children.clear();
  }
}

std::size_t size_of(const node& n) {
  std::size_t sum = 1;
  for (const auto& child : n.children) sum += size_of(*child);
  return sum;
}

simplifications simplest(const random_programs::program& original,
                         const std::function<bool(const simplifications&)>& fails) {
  std::vector<const node*> nodes;
  list<const node>(*original.root, nodes);
  std::vector<bool> is_gone(nodes.size());
  simplifications found;
  const auto holds = [&](simplification::kind change, std::size_t number) {
    simplifications more = found;
    more.push_back({change, number});
    if (!fails(more)) return false;
    found = std::move(more);
    return true;
  };
  // Parents come before the nodes below them.
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (is_gone[i] || nodes[i]->construct == random_programs::kind::leaf) continue;
    if (holds(simplification::kind::cut, i))
      std::fill_n(is_gone.begin() + static_cast<std::ptrdiff_t>(i), size_of(*nodes[i]), true);
    else if (nodes[i]->iterations > 1)
      holds(simplification::kind::once, i);
  }
  return found;
}

}  // namespace sukima::simulation
