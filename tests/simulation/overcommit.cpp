// SPDX-License-Identifier: Apache-2.0
#include "overcommit.hpp"

#include "../runtime/random/numbers.hpp"
#include "isolated.hpp"
#include "shared_result.hpp"

#include <sukima/sukima.hpp>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace sukima::simulation {

namespace {

/// The time at which the searches of all machines begin. Before that, their runtimes start: each first thread
/// needs a moment, and may have to wait for a slice of each vCPU that shares its CPU.
std::uint64_t common_begin(const cell& c) {
  const std::uint64_t vcpus = std::uint64_t{c.machines} * c.vcpus + c.busy_vcpus;
  return 1'000'000 + vcpus / c.setup.pcpus * c.setup.hypervisor.slice;
}

/// A whole tree, or a part of one.
struct subtree {
  std::uint64_t seed;
  unsigned nodes;
};

/// The top node of a tree, and the parts below it.
struct top {
  std::uint64_t work;
  subtree left;
  subtree right;
};

top open(const subtree& t, std::uint64_t mean_work) {
  random_programs::numbers random(t.seed);
  const unsigned below = t.nodes - 1;
  const std::uint64_t work = 1 + random.below(2 * mean_work);
  const unsigned left = below == 0 ? 0 : 1 + static_cast<unsigned>(random.below(below));
  const std::uint64_t left_seed = random.next();
  return {work, {left_seed, left}, {random.next(), below - left}};
}

subtree tree_of(const search_shape& shape, unsigned round) {
  return {random_programs::numbers(shape.seed * 1'000'003 + round).next(), shape.nodes};
}

std::uint64_t work_below(const subtree& t, std::uint64_t mean_work) {
  if (t.nodes == 0) return 0;
  const top node = open(t, mean_work);
  return node.work + work_below(node.left, mean_work) + work_below(node.right, mean_work);
}

std::uint64_t search_below(context c, const subtree& t, std::uint64_t mean_work) {
  if (t.nodes == 0) return 0;
  const top node = open(t, mean_work);
  the_laboratory().work(node.work);
  if (node.right.nodes == 0) return 1 + search_below(c, node.left, mean_work);
  const auto [left, right] = fork2(
      c, [&](context below) { return search_below(below, node.left, mean_work); },
      [&](context below) { return search_below(below, node.right, mean_work); });
  return 1 + left + right;
}

/// The program of one machine, which runs on its first thread.
void run_machine(const cell& c, std::size_t guest, measurement& all, std::uint64_t& wrong) {
  laboratory& lab = the_laboratory();
  runtime workers(c.runtime);
  const std::uint64_t begin = common_begin(c);
  lab.wait(wait_kind::time, nullptr, begin);
  const std::uint64_t used_before = lab.pcpus().used(guest);
  const account before = lab.account_of(guest);
  const std::uint64_t sharing_before = lab.pcpus().sharing();
  const auto steals = [&] { return workers.statistics().steals; };
  const std::uint64_t steals_before = steals();
  for (unsigned round = 0; round < c.search.rounds; ++round)
    if (workers.run([&](context root) { return search(root, c.search, round); }) != c.search.nodes) ++wrong;
  const std::uint64_t took = lab.now() - begin;
  all.time = std::max(all.time, took);
  all.sum_of_times += took;
  all.used += lab.pcpus().used(guest) - used_before;
  all.work += lab.account_of(guest).work - before.work;
  all.sleeps += lab.account_of(guest).sleeps - before.sleeps;
  all.exits += lab.account_of(guest).exits - before.exits;
  all.steals += steals() - steals_before;
  all.sharing = lab.pcpus().sharing() - sharing_before;
}

std::string run_cell(const cell& c, measurement& all) {
  laboratory& lab = the_laboratory();
  std::vector<std::thread> first_threads;
  std::uint64_t wrong = 0;
  std::vector<std::size_t> guests;
  guest_shape shape{c.vcpus, 1024, c.quota};
  shape.phase = c.phase;
  shape.allowed = c.allowed;
  shape.preferred = c.preferred;
  for (unsigned i = 0; i < c.machines; ++i) guests.push_back(lab.add_guest(shape));
  if (c.busy_vcpus != 0) lab.make_busy(lab.add_guest({c.busy_vcpus, 1024, 0}));
  for (const std::size_t guest : guests) {
    lab.start_threads_in(guest);
    first_threads.emplace_back([&, guest] { run_machine(c, guest, all, wrong); });
  }
  for (std::thread& t : first_threads) t.join();
  for (const std::size_t guest : guests)
    all.most_in_a_period = std::max(all.most_in_a_period, lab.pcpus().most_in_a_period(guest));
  all.switching = lab.pcpus().switching();
  return wrong == 0 ? "" : "a search found another number of nodes";
}

}  // namespace

std::uint64_t work_of(const search_shape& shape) {
  std::uint64_t sum = 0;
  for (unsigned round = 0; round < shape.rounds; ++round)
    sum += work_below(tree_of(shape, round), shape.mean_work);
  return sum;
}

std::uint64_t search(context c, const search_shape& shape, unsigned round) {
  return search_below(c, tree_of(shape, round), shape.mean_work);
}

settings fixed_workers(const std::string& wait, const std::string& steal, unsigned workers) {
  setenv("SUKIMA_WAIT", wait.c_str(), 1);
  setenv("SUKIMA_STEAL", steal.c_str(), 1);
  settings s = settings::from_environment();
  s.workers = workers;
  s.elastic = false;
  s.pin = pin_policy::none;
  return s;
}

measurement simulate(const cell& c) {
  shared_result<measurement> all;
  limits most;
  most.steps = 20'000'000'000;
  const machine_maker make = [&](const limits& l, hang_handler hangs) {
    return std::make_unique<laboratory>(c.setup, l, std::move(hangs));
  };
  const outcome ended = run_isolated(make, [&] { return run_cell(c, *all); }, most);
  if (ended.how != outcome::end::as_expected) throw std::runtime_error(ended.text);
  all->steps = ended.steps;
  return *all;
}

}  // namespace sukima::simulation
