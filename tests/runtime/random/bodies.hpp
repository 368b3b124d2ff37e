// SPDX-License-Identifier: Apache-2.0
// The bodies of loops and searches: types of their own, the same for all kinds of contexts. Lambdas in
// templates would be different types in each, and take four times as long to compile.
#pragma once

#include "execute.hpp"
#include "program.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace random_programs {

struct scope {
  const sukima::canceller* cancel;
  const scope* outer;
};

struct surroundings {
  std::uint64_t input;
  path* workspace;
  const scope* scopes;
  sukima::runtime* other;
  outsider* agent;
  observations* seen;
};

inline surroundings with_input(surroundings s, std::uint64_t child) {
  s.input = input_of(s.input, child);
  return s;
}

/// Called without a context.
inline constexpr const sukima::context* no_context = nullptr;

/// \tparam C  the type of the context: parallel code or a sequential clone
/// \param c   null: called without a context
template <class C> std::uint64_t evaluate(const C* c, const node& n, const surroundings& s);

/// The use of an iteration's value by a loop.
struct store_value {
  std::vector<std::uint64_t>* values;
  void operator()(int i, std::uint64_t v) const { (*values)[static_cast<std::size_t>(i)] = v; }
};
struct as_affine {
  affine operator()(int, std::uint64_t v) const { return affine_of(v); }
};

template <class Use> struct iteration {
  const node* child;
  const surroundings* s;
  path workspace;
  Use use;

  auto run(const auto* c, int i) const {
    path own = workspace.copy();
    surroundings mine = with_input(*s, static_cast<std::uint64_t>(i));
    mine.workspace = &own;
    return use(i, evaluate(c, *child, mine));
  }
};
template <bool WithContext, class Use> struct loop_body;
template <class Use> struct loop_body<true, Use> : iteration<Use> {
  auto operator()(auto c, int i) const { return this->run(&c, i); }
};
template <class Use> struct loop_body<false, Use> : iteration<Use> {
  auto operator()(int i) const { return this->run(no_context, i); }
};

struct apply_choice {
  const node* n;
  bool operator()(path& w, std::uint64_t choice) const {
    if (!applicable(*n, w, choice)) return false;
    w.push(choice);
    return true;
  }
};
struct undo_choice {
  void operator()(path& w, std::uint64_t choice) const { w.pop(choice); }
};
struct visit_choice {
  const node* n;
  const surroundings* s;
  affine run(const auto* below, path& w, std::uint64_t choice) const {
    surroundings mine = with_input(*s, choice);
    mine.workspace = &w;
    return affine_of(evaluate(below, *n->children[0], mine));
  }
};
template <bool WithContext> struct search_body;
template <> struct search_body<true> : visit_choice {
  affine operator()(auto below, path& w, std::uint64_t choice) const { return run(&below, w, choice); }
};
template <> struct search_body<false> : visit_choice {
  affine operator()(path& w, std::uint64_t choice) const { return run(no_context, w, choice); }
};

}  // namespace random_programs
