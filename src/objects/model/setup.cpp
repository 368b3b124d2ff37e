// SPDX-License-Identifier: Apache-2.0
// Sets up the simulation: at its beginning every object is ready, and every thread waits for a CPU.
#include <algorithm>
#include <cmath>

#include "model/carriers.hpp"
#include "model/simulation.hpp"

namespace sukima::objects::model {

unsigned whole_cpus(double cpus) { return static_cast<unsigned>(std::max(1.0, std::ceil(cpus - 0.05))); }

bool is_within(const stream& one, const configuration& how) {
  const model_parts parts = parts_of(how.model);
  if (!parts.grouped) return how.model == execution_model::simulated;
  const std::size_t group = how.groups[one.senders.front()];
  const auto inside = [&](std::size_t object) { return how.groups[object] == group; };
  return std::all_of(one.senders.begin(), one.senders.end(), inside) &&
         std::all_of(one.receivers.begin(), one.receivers.end(), inside);
}

unit carrier_of(const stream& one, const configuration& how) {
  const model_parts parts = parts_of(how.model);
  const unit carrier = is_within(one, how) ? parts.within : parts.between;
  return parts.pipes && carrier == unit::process ? unit::pipe : carrier;
}

// The same as tuning::adaptive_spin_ns of the runtime: how long an island's own thread spins by the default
// policy.
constexpr double spin_before_sleep_ns = 3850;

// The slice of a thread while others wait for its CPU. It is longer if a computation would take many slices,
// because the bound of the simulation is a number of events, and the end of a slice is none.
constexpr double least_cpu_slice_ns = 3e6, most_slices_of_computation = 128;

// The limits of the standard deviation of computing times, as a part of their mean. With a ratio far beyond
// them the parameters of the Gamma distribution are zero or infinite, and it returns no number.
constexpr double least_ratio = 1e-6, most_ratio = 1e3;

std::size_t group_count(const configuration& how, std::size_t objects) {
  if (how.model == execution_model::simulated) return 1;
  if (!parts_of(how.model).grouped) return objects;
  return *std::max_element(how.groups.begin(), how.groups.end()) + 1;
}

simulation::simulation(const description& program, const flow& all, const configuration& how,
                       const machine& where, double part, std::uint64_t seed)
    : program_(program),
      streams_(program.streams.size()),
      objects_(program.objects.size()),
      cpus_(whole_cpus(where.cpus)),
      pool_(how.model == execution_model::workers_simulated),
      listens_(parts_of(how.model).between == unit::process),
      switch_ns_(where.costs.switch_ns.value_or(0)),
      wait_ns_(where.costs.wait_ns.value_or(switch_ns_)),
      resume_ns_(where.costs.resume_ns.value_or(0)),
      same_(where.costs.same_cpu.value_or(sleep_cost{})),
      other_(where.costs.other_cpu.value_or(same_)),
      random_(seed) {
  cpu_slice_ns_ = least_cpu_slice_ns;
  for (const object& one : program.objects)
    cpu_slice_ns_ = std::max(cpu_slice_ns_, one.compute_ns / most_slices_of_computation);
  look_around_ns_ = other_.waker_ns + other_.until_ns;
  if (!pool_) look_around_ns_ = std::min(look_around_ns_, spin_before_sleep_ns);
  add_islands(how);
  add_streams(how, where);
  add_objects(all, part);
  place_threads();
}

void simulation::add_islands(const configuration& how) {
  const model_parts parts = parts_of(how.model);
  const std::size_t count = parts.island_each ? objects_.size() : group_count(how, objects_.size());
  islands_.resize(count);
  for (std::size_t object = 0; object < objects_.size(); object++) {
    objects_[object].island = parts.island_each ? object : parts.grouped ? how.groups[object] : 0;
  }
  threads_.resize(pool_ ? std::min(cpus_.size(), count) : count);
}

bool simulation::is_in_one_island(const stream& one) const {
  const std::size_t island = objects_[one.senders.front()].island;
  const auto inside = [&](std::size_t object) { return objects_[object].island == island; };
  return std::all_of(one.senders.begin(), one.senders.end(), inside) &&
         std::all_of(one.receivers.begin(), one.receivers.end(), inside);
}

void simulation::add_streams(const configuration& how, const machine& where) {
  const auto cpus = static_cast<unsigned>(std::min(cpus_.size(), islands_.size()));
  for (std::size_t number = 0; number < streams_.size(); number++) {
    const stream& one = program_.streams[number];
    const message_cost cost = where.costs.of(carrier_of(one, how), one.bytes, cpus);
    streams_[number].capacity = how.capacities[number];
    streams_[number].sender_ns = cost.sender_ns;
    streams_[number].receiver_ns = cost.receiver_ns;
    streams_[number].listeners = one.receivers.size();
    streams_[number].shared = how.model != execution_model::simulated && !is_in_one_island(one);
  }
}

void simulation::add_objects(const flow& all, double part) {
  for (std::size_t number = 0; number < objects_.size(); number++) {
    const object& one = program_.objects[number];
    object_state& state = objects_[number];
    state.drives = one.activations.has_value() || one.receives.empty();
    state.owed.resize(one.sends.size());
    state.credit.resize(one.sends.size());
    state.pools.resize(one.receives.size() + 1);
    for (const std::size_t input : one.receives) state.shared_inputs |= streams_[input].shared;
    state.computations = INFINITY;
    if (one.spread_ns > 0 && one.compute_ns > 0) {
      const double ratio = std::clamp(one.spread_ns / one.compute_ns, least_ratio, most_ratio);
      state.gamma = std::gamma_distribution<double>(1 / (ratio * ratio), one.compute_ns * ratio * ratio);
    }
    state.starts_left = one.starts;
    if (state.drives) {
      const double whole = all.activations[number];
      state.computations = whole >= 1 ? std::max(1.0, std::round(whole * part)) : 0;
      if (one.receives.empty()) state.starts_left = state.computations;
      driving_++;
    }
    state.computations_left = state.computations;
    islands_[state.island].ready.push_back(number);
  }
}

void simulation::place_threads() {
  for (std::size_t island = 0; island < islands_.size(); island++) {
    if (pool_) {
      islands_[island].queued = true;
      island_queue_.push_back(island);
    } else {
      islands_[island].thread = island;
      threads_[island].island = island;
    }
  }
  for (std::size_t thread = 0; thread < threads_.size(); thread++) {
    threads_[thread].at = thread_at::queue;
    thread_queue_.push_back(thread);
  }
  for (std::size_t cpu = 0; cpu < cpus_.size(); cpu++) dispatch(cpu, 0);
}

}  // namespace sukima::objects::model
