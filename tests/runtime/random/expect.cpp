// SPDX-License-Identifier: Apache-2.0
// The result of a random program: sequentially, and with any order of its branches.
#include "program.hpp"

#include <algorithm>
#include <functional>

namespace random_programs {

namespace {

struct cancelled {
  int level;
};

/// The surroundings of a node.
struct surroundings {
  std::uint64_t input = 0;
  path* workspace = nullptr;
  int level = 0;  ///< number of scopes around it
  bool in_search = false;
};

surroundings with_input(surroundings around, std::uint64_t child) {
  around.input = input_of(around.input, child);
  return around;
}

std::uint64_t leaf_value(const node& n, const surroundings& around) {
  return mix(mix(n.number, around.input), around.workspace->value());
}

/// The sequential program: the first exception wins.
std::uint64_t run(const node& n, surroundings around) {
  const auto child = [&](std::size_t i) -> const node& { return *n.children[i]; };
  switch (n.construct) {
    case kind::leaf:
      return leaf_value(n, around);
    case kind::fork:
    case kind::many: {
      std::uint64_t v = n.number;
      for (std::size_t i = 0; i < n.children.size(); ++i) v = mix(v, run(child(i), with_input(around, i)));
      return v;
    }
    case kind::futures: {
      const std::size_t first = n.number % 2;
      std::uint64_t v[2];
      v[first] = run(child(first), with_input(around, first));
      v[1 - first] = run(child(1 - first), with_input(around, 1 - first));
      return mix(mix(n.number, v[0]), v[1]);
    }
    case kind::loop:
    case kind::group:
    case kind::launched:
    case kind::meeting: {
      std::uint64_t v = n.number;
      for (int i = 0; i < n.iterations; ++i)
        v = mix(v, run(child(0), with_input(around, static_cast<std::uint64_t>(i))));
      return v;
    }
    case kind::reduce: {
      affine a = affine_of(n.number);
      for (int i = 0; i < n.iterations; ++i)
        a = compose(a, affine_of(run(child(0), with_input(around, static_cast<std::uint64_t>(i)))));
      return a.value();
    }
    case kind::search: {
      affine a = affine_of(n.number);
      for (int i = 0; i < n.iterations; ++i) {
        const auto choice = static_cast<std::uint64_t>(i);
        if (!applicable(n, *around.workspace, choice)) continue;
        around.workspace->push(choice);
        struct undoing {
          path& w;
          std::uint64_t choice;
          ~undoing() { w.pop(choice); }
        } undo{*around.workspace, choice};
        a = compose(a, affine_of(run(child(0), with_input(around, choice))));
      }
      return a.value();
    }
    case kind::fail:
      if (happens(n, around.input)) throw failure{n.number};
      return run(child(0), around);
    case kind::handle:
      try {
        return run(child(0), around);
      } catch (const failure& f) {
        return mix(n.number, f.number);
      }
    case kind::cancellable: {
      const int level = around.level++;
      try {
        return run(child(0), around);
      } catch (const cancelled& c) {
        if (c.level != level) throw;
        return n.number;
      }
    }
    case kind::cancel:
      if (happens(n, around.input)) throw cancelled{around.level - 1 - n.iterations};
      return run(child(0), around);
    case kind::other_runtime:
      around.level = 0;
      return run(child(0), around);
    case kind::suspend:
    case kind::rendezvous:
    case kind::thread_bound:
    case kind::at_end:
      return run(child(0), around);
  }
  return 0;
}

/// Folds children that run at the same time: any one's escape may win; a value needs all of them.
class together {
 public:
  void add(const outcomes& o, const std::function<std::uint64_t(std::uint64_t, std::uint64_t)>& fold) {
    result_.add_escapes(o);
    outcomes next;
    if (o.may_return() && result_.may_return()) {
      next.any_value = o.any_value || result_.any_value;
      if (!next.any_value)
        for (const std::uint64_t a : result_.values)
          for (const std::uint64_t b : o.values) next.add_value(fold(a, b));
    }
    result_.values = std::move(next.values);
    result_.any_value = next.any_value;
  }
  explicit together(std::uint64_t first) { result_.add_value(first); }
  const outcomes& result() const { return result_; }

 private:
  outcomes result_;
};

class explorer {
 public:
  explicit explorer(bool fragile) : fragile_(fragile) {}
  std::uint64_t leaves() const { return leaves_; }

  outcomes explore(const node& n, surroundings around) {
    if (n.construct == kind::search) around.in_search = true;
    outcomes o = explore_kind(n, around);
    if (fragile_ && around.in_search && polls(n.construct)) o.failures.insert(path::broken_copy);
    return o;
  }

 private:
  /// A copy for a thief is made, and fails, at a poll of whatever runs within the search.
  static bool polls(kind k) { return k != kind::leaf && k != kind::fail && k != kind::handle; }

  outcomes explore_kind(const node& n, surroundings around) {
    const auto child = [&](std::size_t i) -> const node& { return *n.children[i]; };
    switch (n.construct) {
      case kind::leaf: {
        ++leaves_;
        outcomes o;
        o.add_value(leaf_value(n, around));
        return o;
      }
      case kind::fork:
      case kind::futures:
      case kind::many: {
        together all(n.number);
        for (std::size_t i = 0; i < n.children.size(); ++i)
          all.add(explore(child(i), with_input(around, i)), mix);
        return all.result();
      }
      case kind::loop:
      case kind::group:
      case kind::launched:
      case kind::meeting: {
        together all(n.number);
        for (int i = 0; i < n.iterations; ++i)
          all.add(explore(child(0), with_input(around, static_cast<std::uint64_t>(i))), mix);
        return all.result();
      }
      case kind::reduce:
      case kind::search:
        return explore_affine(n, around);
      case kind::fail:
        if (happens(n, around.input)) {
          outcomes o;
          o.failures.insert(n.number);
          return o;
        }
        return explore(child(0), around);
      case kind::handle: {
        outcomes o = explore(child(0), around);
        for (const std::uint64_t f : o.failures) o.add_value(mix(n.number, f));
        o.failures.clear();
        return o;
      }
      case kind::cancellable: {
        const int level = around.level++;
        outcomes o = explore(child(0), around);
        if (o.cancellations.erase(level) != 0) o.add_value(n.number);
        return o;
      }
      case kind::cancel:
        if (happens(n, around.input)) {
          outcomes o;
          o.cancellations.insert(around.level - 1 - n.iterations);
          return o;
        }
        return explore(child(0), around);
      case kind::other_runtime:
        around.level = 0;
        return explore(child(0), around);
      case kind::suspend:
      case kind::rendezvous:
      case kind::thread_bound:
      case kind::at_end:
        return explore(child(0), around);
    }
    return {};
  }

  /// Reductions: the value of an affine map is not enough to continue with, so each combination is kept
  /// whole.
  outcomes explore_affine(const node& n, const surroundings& around) {
    std::vector<affine> maps{affine_of(n.number)};
    outcomes o;
    bool returns = true;
    for (int i = 0; i < n.iterations; ++i) {
      const auto choice = static_cast<std::uint64_t>(i);
      const bool searches = n.construct == kind::search;
      if (searches && !applicable(n, *around.workspace, choice)) continue;
      if (searches) around.workspace->push(choice);
      const outcomes one = explore(*n.children[0], with_input(around, choice));
      if (searches) around.workspace->pop(choice);
      o.add_escapes(one);
      returns = returns && one.may_return();
      o.any_value = o.any_value || one.any_value || maps.size() * one.values.size() > outcomes::many;
      if (!returns || o.any_value) continue;
      std::vector<affine> next;
      for (const affine a : maps)
        for (const std::uint64_t v : one.values) next.push_back(compose(a, affine_of(v)));
      maps = std::move(next);
    }
    if (!returns)
      o.any_value = false;
    else if (!o.any_value)
      for (const affine a : maps) o.add_value(a.value());
    return o;
  }

  bool fragile_;
  std::uint64_t leaves_ = 0;
};

}  // namespace

expectation expect(const program& p) {
  path workspace;
  explorer e(p.fragile);
  expectation x;
  x.possible = e.explore(*p.root, {0, &workspace, 0, false});
  x.leaves = e.leaves();
  return x;
}

result run_sequentially(const program& p) {
  path workspace;
  result r;
  try {
    r.number = run(*p.root, {0, &workspace, 0, false});
    r.how = result::end::value;
  } catch (const failure& f) {
    r.number = f.number;
    r.how = result::end::failure;
  }
  return r;
}

}  // namespace random_programs
