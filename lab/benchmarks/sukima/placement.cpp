// SPDX-License-Identifier: Apache-2.0
// The programs with which the paper on Schematic measures hints where to compute, each with and without them:
// sum-up, ReadVector, BinTree, and Barnes and Hut's method (nbody.cpp is the one without hints).
#include "kernels/nbody.hpp"

#include "harness/harness.hpp"
#include "kernels/matrix.hpp"
#include "kernels/placed.hpp"
#include "system.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace {

using kernels::bin_tree;
using kernels::read_vector;
using sukima::context;
using sukima::place;

/// How many times each program reads its data.
constexpr int passes = 100;

enum class hints { none, given };

/// Places for objects that are numbered: the usable cores in turn.
class homes {
 public:
  place of(std::uint64_t number) const { return cores_[number % cores_.size()]; }

 private:
  std::vector<place> cores_ = sukima::places(sukima::place_level::core);
};

void add_fields(bench::run& run) {
  const sukima::statistics counted = system_runtime().statistics();
  const double hinted = counted.at_home_seconds + counted.away_seconds;
  run.field("exchanges", static_cast<double>(counted.exchanges));
  run.field("at_home", hinted > 0 ? counted.at_home_seconds / hinted : 0);
}

// sum-up: a tree that is only counted. The place of a node comes from its path.

constexpr std::uint64_t scattered(std::uint64_t path) { return path * 0x9e37'79b9'7f4a'7c15U >> 32; }

template <hints H> std::int64_t sum_up(context c, int level, std::uint64_t path, const homes& where) {
  if (level == 0) return 1;
  const auto of_left = [=, &where](context b) { return sum_up<H>(b, level - 1, 2 * path, where); };
  const auto finish = [&](auto& left) {
    const std::int64_t right = sum_up<H>(c, level - 1, 2 * path + 1, where);
    return left.touch(c) + right;
  };
  if constexpr (H == hints::given) {
    sukima::future left(c, of_left, sukima::on([=, &where] { return where.of(scattered(2 * path)); }));
    return finish(left);
  } else {
    sukima::future left(c, of_left);
    return finish(left);
  }
}

/// With SUKIMA_PLACEMENT=queue, this is the paper's naive scheme.
std::int64_t sum_up_launched(context c, int level, std::uint64_t path, const homes& where) {
  if (level == 0) return 1;
  const auto left =
      sukima::launch([=, &where](context b) { return sum_up_launched(b, level - 1, 2 * path, where); },
                     sukima::on(where.of(scattered(2 * path))));
  const std::int64_t right = sum_up_launched(c, level - 1, 2 * path + 1, where);
  return left.touch(c) + right;
}

using summing = std::int64_t (*)(context, int, std::uint64_t, const homes&);

template <summing Sum> void measure_sum_up(bench::run& run) {
  const int levels = run.size_between(0, 40);
  const homes where;
  std::int64_t leaves = 0;
  run.time([&] { leaves = system_runtime().run([&](context c) { return Sum(c, levels, 1, where); }); });
  if (leaves != std::int64_t{1} << levels) throw bench::wrong_result("the leaves have been counted wrongly");
  run.result(leaves);
  add_fields(run);
  bench::fields_of_system(run);
  run.field("waiting", static_cast<double>(system_runtime().statistics().launched_peak));
}

// ReadVector and BinTree: as many objects as workers, at least two.

template <class Object> struct placed_object {
  Object data;
  place home;
  std::uint64_t sum = 0;  ///< by a sequential program
};

std::uint64_t sum_of(context c, const read_vector& v) {
  return sukima::parallel_reduce(
      c, 0, v.blocks(), std::uint64_t{0}, [&v](int block) { return v.sum_of_block(block); }, std::plus{});
}

std::uint64_t sum_of(context c, const bin_tree::node& n) {
  if (n.left == nullptr) return n.value;
  auto [left, right] = sukima::fork2(
      c, [&n](context b) { return sum_of(b, *n.left); }, [&n](context b) { return sum_of(b, *n.right); });
  return n.value + left + right;
}
std::uint64_t sum_of(context c, const bin_tree& t) { return sum_of(c, t.root()); }

/// The passes go forward and back in turn. With a single direction, work stealing would keep the objects
/// where they were.
template <hints H, class Object> void measure_objects(bench::run& run, const std::function<Object()>& make) {
  const homes where;
  std::vector<placed_object<Object>> objects;
  const unsigned count = std::max(2U, run.workers());
  for (unsigned i = 0; i < count; ++i) objects.push_back({make(), where.of(i)});
  sukima::runtime& runtime = system_runtime();
  const int last = static_cast<int>(count) - 1;
  std::vector<std::uint64_t> sums(count);
  runtime.run([&](context c) {
    sukima::parallel_for(
        c, 0, last + 1,
        [&](int i) {
          auto& one = objects[static_cast<std::size_t>(i)];
          one.sum = one.data.fill(static_cast<std::uint64_t>(i) + 1);
        },
        sukima::on([&](int i) { return objects[static_cast<std::size_t>(i)].home; }));
  });
  run.time([&] {
    runtime.run([&](context c) {
      for (int pass = 0; pass < passes; ++pass) {
        const auto at = [&](int i) { return static_cast<std::size_t>(pass % 2 == 0 ? i : last - i); };
        const auto read = [&](context b, int i) { sums[at(i)] += sum_of(b, objects[at(i)].data); };
        if constexpr (H == hints::given)
          sukima::parallel_for(c, 0, last + 1, read, sukima::on([&](int i) { return objects[at(i)].home; }));
        else
          sukima::parallel_for(c, 0, last + 1, read);
      }
    });
  });
  run.record(run.seconds() / passes, run.cpu_seconds() / passes);
  for (std::size_t i = 0; i < count; ++i)
    if (sums[i] != passes * objects[i].sum) throw bench::wrong_result("an object was read wrongly");
  run.result(objects[0].sum);
  add_fields(run);
}

// The possible gain: two threads on a CPU each read one object in each pass, either their own one or both in
// turn. Hints can gain no more than the difference.

std::uint64_t plain_sum_of(const read_vector& v) {
  std::uint64_t sum = 0;
  for (int block = 0; block < v.blocks(); ++block) sum += v.sum_of_block(block);
  return sum;
}
std::uint64_t plain_sum_of(const bin_tree::node& n) {
  return n.left == nullptr ? n.value : n.value + plain_sum_of(*n.left) + plain_sum_of(*n.right);
}
std::uint64_t plain_sum_of(const bin_tree& t) { return plain_sum_of(t.root()); }

/// Two CPUs of this process; the same one twice if it has a single CPU.
std::array<int, 2> two_cpus() {
  cpu_set_t usable;
  std::array<int, 2> found{};
  if (sched_getaffinity(0, sizeof usable, &usable) != 0) return found;
  const auto next = [&](int cpu) {
    while (cpu < CPU_SETSIZE && !CPU_ISSET(cpu, &usable)) ++cpu;
    return cpu;
  };
  found[0] = next(0);
  found[1] = next(found[0] + 1);
  if (found[1] == CPU_SETSIZE) found[1] = found[0];
  return found;
}

/// \returns seconds for all passes
template <class Object> double read_pinned(std::array<placed_object<Object>, 2>& objects, bool in_turn) {
  const std::array<int, 2> cpus = two_cpus();
  std::array<std::uint64_t, 2> sums{};
  std::barrier together(2);
  std::chrono::steady_clock::time_point begin;
  const auto read = [&](std::size_t self) {
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(cpus[self], &own);
    sched_setaffinity(0, sizeof own, &own);
    objects[self].sum = objects[self].data.fill(self + 1);
    together.arrive_and_wait();
    if (self == 0) begin = std::chrono::steady_clock::now();
    for (std::size_t pass = 0; pass < passes; ++pass) {
      const std::size_t which = in_turn ? (self + pass) % 2 : self;
      sums[self] += plain_sum_of(objects[which].data);
      together.arrive_and_wait();
    }
  };
  {
    const std::jthread other(read, 1);
    const std::jthread one(read, 0);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (sums[0] + sums[1] != passes * (objects[0].sum + objects[1].sum))
    throw bench::wrong_result("an object was read wrongly");
  return seconds;
}

template <class Object> void measure_pinned(bench::run& run, const std::function<Object()>& make) {
  std::array<placed_object<Object>, 2> objects{{{make(), {}}, {make(), {}}}};
  const double in_turn = read_pinned(objects, true);
  double own = 0;
  run.time([&] { own = read_pinned(objects, false); });
  run.record(own / passes, run.cpu_seconds() / passes);
  run.result(objects[0].sum);
  run.field("in_turn_over_own", in_turn / own);
}

template <auto Measure> void measure_read_vector(bench::run& run) {
  const auto elements =
      static_cast<std::size_t>(run.size_between(1, 1'000'000)) * 1024 / sizeof(std::uint32_t);
  Measure(run, [=] { return read_vector(elements); });
}

template <auto Measure> void measure_bin_tree(bench::run& run) {
  const int levels = run.size_between(1, 30);
  Measure(run, [=] { return bin_tree(levels); });
}

// Barnes and Hut's method: a cell of the tree and a block of bodies are at home where their part of the
// bodies, counted along the leaves, has its core.

using kernels::nbody_problem;
using kernels::nbody_sum;

class placed_nbody {
 public:
  explicit placed_nbody(std::size_t bodies) : problem_(bodies) {}

  void step(context c) {
    sukima::parallel_for(
        c, 0, problem_.blocks(), [this](int block) { problem_.set_keys(block); },
        sukima::on([this](int block) { return home_of(block); }));
    grow(c, problem_.root());
    problem_.end_step(move(c, 0, problem_.blocks()));
  }
  const nbody_problem& problem() const { return problem_; }

 private:
  place home_of(int block) const {
    return where_.of(static_cast<std::uint64_t>(block) * parts /
                     static_cast<std::uint64_t>(problem_.blocks()));
  }
  void grow(context c, const nbody_problem::cell& cell) {
    if (cell.bodies() <= nbody_problem::grow_bodies) return problem_.grow(cell);
    const nbody_problem::octants o = problem_.divide(cell);
    if (o.count == 0) return problem_.set_leaf(cell);
    sukima::parallel_for(c, 0, o.count, [this, &o](context below, int i) {
      const nbody_problem::cell& part = o.part[static_cast<std::size_t>(i)];
      const int block = static_cast<int>(part.first / nbody_problem::block_bodies);
      sukima::on(below, home_of(block), [&](context there) { grow(there, part); });
    });
    problem_.finish(cell);
  }
  nbody_sum move(context c, int first, int last) {
    if (last - first == 1) return problem_.move_block(first);
    const int middle = first + (last - first) / 2;
    auto [one, other] = sukima::fork2(
        c, [&](context b) { return move(b, first, middle); },
        [&](context b) { return move(b, middle, last); }, sukima::on(home_of(first), home_of(middle)));
    return one + other;
  }

  static constexpr std::uint64_t parts = 8;  ///< into which the bodies are divided among the cores
  nbody_problem problem_;
  const homes where_;
};

double energy_by_one(std::size_t bodies) {
  nbody_problem p(bodies);
  for (int step = 0; step < nbody_problem::steps; ++step) {
    for (int block = 0; block < p.blocks(); ++block) p.set_keys(block);
    p.grow(p.root());
    nbody_sum sum;
    for (int block = 0; block < p.blocks(); ++block) sum += p.move_block(block);
    p.end_step(sum);
  }
  return p.energy();
}

void measure_nbody(bench::run& run) {
  const auto bodies = static_cast<std::size_t>(run.size_between(2, 10'000'000));
  placed_nbody placed(bodies);
  run.time([&] {
    system_runtime().run([&](context c) {
      for (int step = 0; step < nbody_problem::steps; ++step) placed.step(c);
    });
  });
  if (!placed.problem().conserved()) throw bench::wrong_result("the energy has not been kept");
  run.result(kernels::six_digits(placed.problem().energy()));
  if (run.result() != kernels::six_digits(energy_by_one(bodies)))
    throw bench::wrong_result("the energy is not that of the sequential program");
  add_fields(run);
}

const bench::registration registered[]{
    {"sum-up", measure_sum_up<sum_up<hints::none>>},
    {"sum-up-on", measure_sum_up<sum_up<hints::given>>},
    {"sum-up-launched", measure_sum_up<sum_up_launched>},
    {"read-vector", measure_read_vector<measure_objects<hints::none, read_vector>>},
    {"read-vector-on", measure_read_vector<measure_objects<hints::given, read_vector>>},
    {"read-vector-pinned", measure_read_vector<measure_pinned<read_vector>>},
    {"bin-tree", measure_bin_tree<measure_objects<hints::none, bin_tree>>},
    {"bin-tree-on", measure_bin_tree<measure_objects<hints::given, bin_tree>>},
    {"bin-tree-pinned", measure_bin_tree<measure_pinned<bin_tree>>},
    {"nbody-on", measure_nbody},
};

}  // namespace
