// SPDX-License-Identifier: Apache-2.0
#include "generate.hpp"

#include <climits>
#include <random>

namespace language_test {

namespace {

class generator {
 public:
  generator(std::uint64_t seed, program& p) : random_(seed), program_(p) {}

  /// A random tree.
  /// \param size  approximate number of nodes
  /// \param depth number of enclosing `dynamic_wind`s
  /// \param tag   the tag that may be thrown out of it; 0: none
  /// \param calls number of entries from C that may still be nested
  node* make(int size, int depth, std::size_t tag, int calls) {
    if (size <= 1) return leaf(tag);
    switch (below(20)) {
      case 0:
      case 1:
        return branch(op_seq, size, depth, tag, calls);
      case 2:
      case 3:
      case 4:
      case 5:
      case 6:
        return do_two(size, depth, tag, calls);
      case 7:
      case 8:
      case 9:
      case 10:
        return loop(size, depth, tag, calls);
      case 11:
      case 12:
      case 13:
        return wind(size, depth, tag, calls);
      case 14:
      case 15:
        return catching(size, depth, tag, calls);
      case 16:
      case 17:
        return join(size, depth, tag, calls);
      case 18: {
        node* n = branch(op_seq, size, depth, tag, calls);
        n->child[0] = fresh(op_poll);
        return n;
      }
      default:
        return calls > 0 ? call(size, depth, calls) : branch(op_seq, size, depth, tag, calls);
    }
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }

  node* fresh(operation op) {
    node& n = program_.nodes.emplace_back();
    n.op = op;
    n.number = static_cast<int>(program_.nodes.size());
    n.stop_at = INT_MIN;
    if (chance(20)) {
      n.hints = 1 + below(2);
      n.probability = chance(30) ? 0.0 : chance(50) ? 0.5 : 1.0;
    }
    return &n;
  }
  node* leaf(std::size_t tag) {
    if (tag == 0 || !chance(4)) return fresh(op_leaf);
    node* n = fresh(op_throw);
    n->tag = tag;
    program_.leaves_early = true;
    return n;
  }
  node* branch(operation op, int size, int depth, std::size_t tag, int calls) {
    node* n = fresh(op);
    const int first = 1 + below(size - 1);
    n->child[0] = make(first, depth, tag, calls);
    n->child[1] = make(size - first, depth, tag, calls);
    return n;
  }
  node* do_two(int size, int depth, std::size_t tag, int calls) {
    // A return out of S1 skips S2, which a thief may have begun already: so neither may throw.
    const bool leaves = chance(4);
    node* n = branch(op_do_two, size, depth, leaves ? 0 : tag, calls);
    n->leaves = leaves ? 1 : 0;
    program_.leaves_early |= leaves;
    return n;
  }
  node* loop(int size, int depth, std::size_t tag, int calls) {
    node* n = fresh(op_loop);
    const int count = below(6) == 0 ? below(3) : 1 + below(12);
    n->from = chance(5) ? INT_MAX - count : chance(5) ? INT_MIN + 1 : below(200) - 100;
    n->to = n->from + count;
    const bool stops = chance(10);
    if (stops) n->stop_at = n->from + below(count + 1);
    program_.leaves_early |= stops;
    n->child[0] = make(count > 0 ? size / count : 1, depth, stops ? 0 : tag, calls);
    return n;
  }
  node* wind(int size, int depth, std::size_t tag, int calls) {
    if (depth >= workspace_room - 1) return leaf(tag);
    node* n = fresh(op_wind);
    n->child[0] = make(size - 1, depth + 1, tag, calls);
    return n;
  }
  node* catching(int size, int depth, std::size_t tag, int calls) {
    node* n = fresh(op_try);
    n->tag = 1 + static_cast<std::size_t>(n->number);
    const int first = 1 + below(size - 1);
    const bool outer = tag != 0 && chance(30);
    n->child[0] = make(first, depth, outer ? tag : n->tag, calls);
    n->child[1] = make(size - first, depth, tag, calls);
    n->leaves = chance(10) ? 1 : 0;
    return n;
  }
  node* join(int size, int depth, std::size_t tag, int calls) {
    node* n = fresh(op_join);
    for (node*& c : n->child) c = make(size / 3, depth, tag, calls);
    return n;
  }
  node* call(int size, int depth, int calls) {
    if (chance(70)) {
      node* n = fresh(op_nested);
      n->child[0] = make(size - 1, depth, chance(50) ? 1 : 0, calls - 1);
      return n;
    }
    node* n = fresh(op_foreign);
    for (int k = 0; k < 2; ++k) n->child[k] = make(size / 2, depth, chance(50) ? 1 : 0, calls - 1);
    return n;
  }

  std::mt19937_64 random_;
  program& program_;
};

}  // namespace

program generate(std::uint64_t seed, int size) {
  program p;
  generator g(seed, p);
  p.root = g.make(size, 0, seed % 3 == 0 ? 7 : 0, 3);
  return p;
}

}  // namespace language_test
