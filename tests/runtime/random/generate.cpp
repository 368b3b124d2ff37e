// SPDX-License-Identifier: Apache-2.0
// Making random programs from a seed.
#include "program.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace random_programs {

namespace {

/// The limits for a node at the place where it is made.
struct place {
  std::size_t budget;   ///< evaluations of leaves
  int depth;
  int scopes;           ///< cancellable scopes around it, in this runtime
  bool thread_bound;
  bool within_other;
  std::size_t repeats;  ///< how often it is evaluated, at most
};

/// A thread-bound fiber that parks needs a thread in its place, a millisecond later: not too many of them.
constexpr std::size_t most_bound_parks = 16;

class generator {
 public:
  explicit generator(std::uint64_t seed) : random_(seed) {
    pure_ = random_.once_in(2);
    parks_ = !random_.once_in(3);
    mixes_forms_ = random_.once_in(3);
    form_ = !random_.once_in(4);
    hints_ = random_.once_in(3);
    fragile_ = !pure_ && random_.once_in(3);
  }

  program make(std::size_t size) {
    program p;
    const std::size_t budget = 1 + random_.below(random_.once_in(4) ? 4 * size : size);
    p.root = make_node({budget, 0, 0, false, false, 1});
    p.pure = pure_;
    p.fragile = fragile_;
    p.in_order = in_order_;
    return p;
  }

 private:
  static constexpr int deepest = 40;

  std::unique_ptr<node> make_node(place at) {
    auto n = std::make_unique<node>();
    n->with_context = at.thread_bound || (mixes_forms_ ? !random_.once_in(3) : form_);
    n->number = random_.next();
    if (at.budget <= 1 || at.depth > deepest) {
      if (random_.once_in(12)) add_small(*n, at);
      return n;
    }
    add_hints(*n);
    switch (random_.below(16)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
        n->construct = kind::fork;
        add_branches(*n, at, 2);
        break;
      case 5:
        n->construct = random_.once_in(2) ? kind::many : kind::futures;
        add_branches(*n, at, n->construct == kind::many ? 3 : 2);
        break;
      case 6:
      case 7:
        n->construct = kind::loop;
        add_iterations(*n, at);
        break;
      case 8:
      case 9:
        n->construct = kind::reduce;
        add_iterations(*n, at);
        break;
      case 10:
      case 11:
      case 12:
        n->construct = kind::search;
        add_iterations(*n, at);
        break;
      default:
        add_wrapper(*n, at);
    }
    return n;
  }

  void add_hints(node& n) {
    if (!hints_ || !random_.once_in(2)) return;
    constexpr double guards[] = {0, 1, 0.5, 0.1, -1, std::numeric_limits<double>::quiet_NaN()};
    n.guard = guards[random_.below(std::size(guards))];
    n.grain = static_cast<int>(random_.below(4));
    n.splits_unevenly = random_.once_in(2);
  }

  void add_child(node& n, place at) {
    ++at.depth;
    n.children.push_back(make_node(at));
  }

  void add_branches(node& n, place at, int count) {
    for (int i = 0; i < count; ++i) {
      place branch = at;
      const auto rest = static_cast<std::size_t>(count - i);
      branch.budget = rest == 1 ? at.budget : random_.below(at.budget + 1);
      if (random_.once_in(3)) branch.budget = at.budget / rest;
      at.budget -= std::min(at.budget, branch.budget);
      add_child(n, branch);
    }
  }

  void add_iterations(node& n, place at) {
    n.iterations =
        static_cast<int>(random_.below(random_.once_in(3) ? std::min<std::size_t>(at.budget, 200) + 1 : 8));
    at.budget /= static_cast<std::size_t>(std::max(n.iterations, 1));
    at.repeats *= static_cast<std::size_t>(std::max(n.iterations, 1));
    add_child(n, at);
  }

  /// A small node over a leaf, other than a leaf.
  void add_small(node& n, place at) {
    at.budget = 1;
    at.depth = deepest + 1;
    add_wrapper(n, at);
  }

  static bool may_wait_for_each_other(const place& at) {
    return !at.thread_bound || at.repeats <= most_bound_parks;
  }

  void add_wrapper(node& n, place at) {
    switch (random_.below(10)) {
      case 0:
      case 1:
        if (pure_) break;
        n.construct = kind::fail;
        break;
      case 2:
        if (pure_) break;
        n.construct = kind::handle;
        break;
      case 3:
        if (pure_) break;
        n.construct = kind::cancellable;
        ++at.scopes;
        break;
      case 4:
        if (pure_ || at.scopes == 0) break;
        n.construct = kind::cancel;
        n.iterations = static_cast<int>(random_.below(static_cast<std::uint64_t>(at.scopes)));
        break;
      case 5:
        if (!parks_) break;
        n.construct = kind::suspend;
        in_order_ = false;
        break;
      case 6:
        // The first branch would never be resumed if the second one were aborted or could not be split off.
        if (!parks_ || !pure_ || hints_ || !may_wait_for_each_other(at)) break;
        n.construct = kind::rendezvous;
        in_order_ = false;
        break;
      case 7:
        n.construct = kind::at_end;
        break;
      case 8:
        // A child that is aborted would not come to the meeting.
        n.construct = parks_ && pure_ && may_wait_for_each_other(at) && random_.once_in(2) ? kind::meeting
                                                                                           : kind::group;
        // A launched future refers to variables of its launcher, which must not leave before.
        if (n.construct == kind::group && pure_ && random_.once_in(2)) {
          n.construct = kind::launched;
          at.thread_bound = false;
          at.scopes = 0;
        }
        in_order_ = false;
        add_iterations(n, at);
        return;
      default:
        if (random_.once_in(2)) {
          n.construct = kind::thread_bound;
          at.thread_bound = true;
        } else if (!at.within_other && random_.once_in(4)) {
          n.construct = kind::other_runtime;
          in_order_ = false;
          at.within_other = true;
          at.thread_bound = false;
          at.scopes = 0;
        }
    }
    if (n.construct == kind::leaf) {
      n.construct = kind::fork;
      add_branches(n, at, 2);
    } else {
      add_child(n, at);
    }
  }

  numbers random_;
  bool pure_, parks_, mixes_forms_, form_, hints_, fragile_;
  bool in_order_ = true;
};

const char* name_of(kind k) {
  constexpr const char* names[] = {"leaf",    "fork",          "many",    "loop",        "reduce",
                                   "search",  "fail",          "handle",  "cancellable", "cancel",
                                   "suspend", "rendezvous",    "group",   "meeting",     "thread_bound",
                                   "at_end",  "other_runtime", "futures", "launched"};
  return names[static_cast<std::size_t>(k)];
}

bool goes_over_a_range(kind k) { return k == kind::loop || k == kind::reduce || k == kind::search; }

void describe(const node& n, int indent, std::string& text) {
  text += std::string(static_cast<std::size_t>(indent) * 2, ' ') + name_of(n.construct);
  if (!n.with_context) text += " without context";
  if (n.iterations != 0) text += " " + std::to_string(n.iterations);
  if (goes_over_a_range(n.construct) && by_successor(n)) text += " by successor";
  if (n.guard != 2) text += " guard " + std::to_string(n.guard);
  if (n.grain != 0) text += " grain " + std::to_string(n.grain);
  if (n.splits_unevenly) text += " split";
  if (n.place != 0) text += " on " + std::to_string(n.place);
  text += '\n';
  for (const auto& child : n.children) describe(*child, indent + 1, text);
}

}  // namespace

program generate(std::uint64_t seed, std::size_t size) { return generator(mix(seed, 1)).make(size); }

namespace {

void add_places(node& n, numbers& random, unsigned places) {
  if (random.once_in(3)) n.place = 1 + static_cast<unsigned>(random.below(places));
  for (const auto& child : n.children) add_places(*child, random, places);
}

/// A loop whose iterations have places of their own begins with those that are near: it keeps no order.
bool has_hinted_loop(const node& n) {
  return (n.construct == kind::loop && n.place != 0 && n.iterations > 1) ||
         std::ranges::any_of(n.children, [](const auto& child) { return has_hinted_loop(*child); });
}

}  // namespace

void add_places(program& p, std::uint64_t seed, unsigned places) {
  numbers random(mix(seed, 3));
  add_places(*p.root, random, places);
  if (has_hinted_loop(*p.root)) p.in_order = false;
}

configuration configure(std::uint64_t seed, bool with_requests, bool with_fiber_limit) {
  numbers random(mix(seed, 2));
  configuration c;
  c.workers = random.once_in(8) ? 1 : random.once_in(2) ? 2 : 3 + static_cast<unsigned>(random.below(6));
  c.ready = with_requests && random.once_in(3)
                ? 0
                : 1 + static_cast<unsigned>(random.below(random.once_in(2) ? 1 : 4));
  // Workers that never sleep cost each other whole time slices when there are more of them than CPUs.
  const bool may_spin = c.workers <= 2 || random.once_in(8);
  constexpr int sleeping[] = {0, 1, 5, 6};
  c.wait = may_spin ? static_cast<int>(random.below(7)) : sleeping[random.below(4)];
  c.few_fibers = with_fiber_limit && random.once_in(8);
  if (c.ready == 0 && random.once_in(2))
    c.interval_us = 1 + static_cast<unsigned>(random.below(random.once_in(2) ? 20 : 1000));
  // Leaves take a microsecond, or ten times that: two grains separate them, the longest takes all.
  constexpr unsigned grains[] = {0, 1'500, 20'000, 1'000'000'000};
  c.clones_ns = grains[random.below(4)];
  numbers more(mix(seed, 4));
  c.placement = more.once_in(4) ? 1 : 2;
  constexpr unsigned thresholds[] = {0, 0, 2'000, 16'000};
  c.threshold_ns = thresholds[more.below(4)];
  if (more.once_in(6)) c.placement = 3;
  return c;
}

std::string describe(const node& n) {
  std::string text;
  describe(n, 0, text);
  return text;
}

std::string describe(const configuration& c) {
  constexpr const char* waits[] = {"adaptive", "block", "spin", "pause", "yield", "condvar", "inherit"};
  return "workers=" + std::to_string(c.workers) + " ready=" + std::to_string(c.ready) +
         (c.interval_us != 0 ? " interval=" + std::to_string(c.interval_us) : "") + " wait=" + waits[c.wait] +
         " clones=" + std::to_string(c.clones_ns) + "ns" + (c.few_fibers ? " fibers=2" : "");
}

}  // namespace random_programs
