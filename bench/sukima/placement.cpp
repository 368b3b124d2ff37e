// SPDX-License-Identifier: Apache-2.0
// The programs with which the paper on Schematic measures hints where to compute, each with and without them:
// sum-up, ReadVector, BinTree, and Barnes and Hut's method (nbody.cpp is the one without hints).
#include "kernels/nbody.hpp"

#include "harness/harness.hpp"
#include "kernels/matrix.hpp"
#include "kernels/placed.hpp"
#include "system.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

namespace {

using sukima::context;
using sukima::place;

/// How often each program reads its data.
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

/// With SUKIMA_PLACEMENT=queue the scheme that the paper calls naive.
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

std::uint64_t sum_of(context c, const kernels::read_vector& v) {
  return sukima::parallel_reduce(
      c, 0, v.blocks(), std::uint64_t{0}, [&v](int block) { return v.sum_of_block(block); }, std::plus{});
}

std::uint64_t sum_of(context c, const kernels::bin_tree::node& n) {
  if (n.left == nullptr) return n.value;
  auto [left, right] = sukima::fork2(
      c, [&n](context b) { return sum_of(b, *n.left); }, [&n](context b) { return sum_of(b, *n.right); });
  return n.value + left + right;
}
std::uint64_t sum_of(context c, const kernels::bin_tree& t) { return sum_of(c, t.root()); }

/// The passes go forward and back in turn: in one order only, work stealing keeps the objects where they
/// were.
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

template <hints H> void measure_read_vector(bench::run& run) {
  const auto elements =
      static_cast<std::size_t>(run.size_between(1, 1'000'000)) * 1024 / sizeof(std::uint32_t);
  measure_objects<H, kernels::read_vector>(run, [=] { return kernels::read_vector(elements); });
}

template <hints H> void measure_bin_tree(bench::run& run) {
  const int levels = run.size_between(1, 30);
  measure_objects<H, kernels::bin_tree>(run, [=] { return kernels::bin_tree(levels); });
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
    {"read-vector", measure_read_vector<hints::none>},
    {"read-vector-on", measure_read_vector<hints::given>},
    {"bin-tree", measure_bin_tree<hints::none>},
    {"bin-tree-on", measure_bin_tree<hints::given>},
    {"nbody-on", measure_nbody},
};

}  // namespace
