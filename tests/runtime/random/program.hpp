// SPDX-License-Identifier: Apache-2.0
// Random programs: their tree, the computations of their parts, and their possible results.
#pragma once

#include "numbers.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace random_programs {

/// The kind of a node's computation; `children` are its operands.
enum class kind {
  leaf,           ///< some work, its result depends on the input and on the workspace
  fork,           ///< two children at the same time
  many,           ///< sukima::fork of three children
  loop,           ///< parallel_for; iteration i evaluates the child with an input of its own
  reduce,         ///< parallel_reduce, not commutative
  search,         ///< search over the workspace; some choices cannot be applied
  fail,           ///< throws for some inputs, else as its child
  handle,         ///< catches what its child throws
  cancellable,    ///< its child may be cancelled
  cancel,         ///< for some inputs cancels the scope `number` levels further out, else as its child
  suspend,        ///< parks; another thread resumes it
  rendezvous,     ///< one branch parks, the other one resumes it
  group,          ///< a task group; child i evaluates the child with an input of its own
  meeting,        ///< the same, and each child parks until all have begun
  thread_bound,         ///< the child stays on its thread
  at_end,         ///< a destructor with forks and loops runs after the child
  other_runtime,  ///< the child runs in another runtime
  futures,        ///< two futures of a block, touched in an order by `number`, perhaps by several
  launched,       ///< launched futures; one i evaluates the child with an input of its own
};

struct node {
  kind construct = kind::leaf;
  bool with_context = true;  ///< how its parent calls it
  std::uint64_t number = 0;  ///< its meaning depends on `construct`
  int iterations = 0;
  int grain = 0;         ///< 0: none given
  double guard = 2;      ///< 2: none given
  bool splits_unevenly = false;
  unsigned place = 0;  ///< where it is hinted to run, in a machine with `places`; 0: no hint
  std::vector<std::unique_ptr<node>> children;
};

struct program {
  std::unique_ptr<node> root;
  bool pure = true;       ///< nothing in it throws or cancels
  bool fragile = false;   ///< copies of its workspaces fail now and then
  bool in_order = true;   ///< nothing parks or is sorted by place: one worker runs it as one thread does
};

/// How a program is run.
struct configuration {
  unsigned workers = 2;
  unsigned ready = 1;
  unsigned interval_us = 0;  ///< settings::request_interval_us
  int wait = 0;            ///< of sukima::wait_policy
  unsigned clones_ns = 0;  ///< settings::clones_ns
  int placement = 0;  ///< of sukima::placement_policy
  unsigned threshold_ns = 0;  ///< settings::hint_threshold_ns
  bool few_fibers = false;  ///< SUKIMA_FIBERS=2: waiting workers take only descendants
};

program generate(std::uint64_t seed, std::size_t size);
/// Gives a third of the nodes a hint where to run, among the places up to that number.
void add_places(program& p, std::uint64_t seed, unsigned places);
configuration configure(std::uint64_t seed, bool with_requests, bool with_fiber_limit);
std::string describe(const node& n);
std::string describe(const configuration& c);

// The computations of the parts. Both interpreters use them.

inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) { return numbers(a * 0x100000001B3u + b).next(); }
inline std::uint64_t input_of(std::uint64_t input, std::uint64_t child) { return mix(input, child + 1); }
/// Whether a loop or a search goes over a range that only knows each element's successor.
inline bool by_successor(const node& n) { return n.number % 4 == 1; }
inline bool happens(const node& n, std::uint64_t input) { return mix(n.number, input) % 4 == 0; }

/// x ↦ factor·x + term: composing such maps is associative and not commutative.
struct affine {
  std::uint64_t factor = 1;
  std::uint64_t term = 0;
  std::uint64_t value() const { return mix(factor, term); }
};
inline affine affine_of(std::uint64_t value) { return {value | 1, value}; }
inline affine compose(affine first, affine second) {
  return {second.factor * first.factor, second.factor * first.term + second.term};
}

/// Thrown by `fail`.
struct failure {
  std::uint64_t number;
};

/// The workspace of searches: the choices on the way to here.
class path {
 public:
  /// The number of the failure that a copy made by the library throws.
  static constexpr std::uint64_t broken_copy = 0xB0C0;

  explicit path(bool fragile = false) : fragile_(fragile) {}
  /// The copies of splits. Of a fragile path one copy in three fails, on any thread.
  path(const path& other) : steps_(other.steps_), fragile_(other.fragile_) {
    static std::atomic<std::uint64_t> copies{0};
    if (fragile_ && mix(copies.fetch_add(1, std::memory_order_relaxed), 1) % 3 == 0)
      throw failure{broken_copy};
  }
  path(path&&) noexcept = default;
  path& operator=(const path&) = delete;
  path& operator=(path&&) = delete;
  ~path() = default;
  /// The copies that the program makes: they never fail.
  path copy() const {
    path made(fragile_);
    made.steps_ = steps_;
    return made;
  }

  void push(std::uint64_t choice) { steps_.push_back(choice); }
  void pop(std::uint64_t choice) {
    if (steps_.empty() || steps_.back() != choice)
      throw std::logic_error("an undo does not fit to the workspace");
    steps_.pop_back();
  }
  std::uint64_t value() const {
    std::uint64_t v = 0;
    for (const std::uint64_t s : steps_) v = mix(v, s);
    return v;
  }
  bool empty() const { return steps_.empty(); }

 private:
  std::vector<std::uint64_t> steps_;
  bool fragile_;
};
inline bool applicable(const node& n, const path& w, std::uint64_t choice) {
  return mix(n.number ^ w.value(), choice) % 3 != 0;
}

/// The possible results of a program.
struct outcomes {
  static constexpr std::size_t many = 24;
  std::set<std::uint64_t> values;
  bool any_value = false;  ///< so many that they were not listed
  std::set<std::uint64_t> failures;
  std::set<int> cancellations;  ///< levels of the cancelled scopes, outermost 0

  bool may_return() const { return any_value || !values.empty(); }
  void add_value(std::uint64_t v) {
    if (any_value) return;
    values.insert(v);
    if (values.size() > many) {
      values.clear();
      any_value = true;
    }
  }
  void add_escapes(const outcomes& o) {
    failures.insert(o.failures.begin(), o.failures.end());
    cancellations.insert(o.cancellations.begin(), o.cancellations.end());
  }
};

/// How a run ended.
struct result {
  enum class end { value, failure, error } how = end::error;
  std::uint64_t number = 0;
  std::string text;  ///< of an error
};

/// The result of the program with any order of its branches.
struct expectation {
  outcomes possible;
  std::uint64_t leaves = 0;  ///< evaluations of leaves, if the program is pure
};
expectation expect(const program& p);
/// The result of the sequential program.
result run_sequentially(const program& p);

}  // namespace random_programs
