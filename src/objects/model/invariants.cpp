// SPDX-License-Identifier: Apache-2.0
// The invariants of a simulation between two steps, of a configuration, and of a finished plan.
#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "model/simulation.hpp"
#include "shared/planner.hpp"

namespace sukima::objects::model {

const char* simulation::violated_stream() const {
  for (std::size_t number = 0; number < streams_.size(); number++) {
    const stream_state& state = streams_[number];
    const stream& one = program_.streams[number];
    std::size_t waiting_senders = 0, waiting_receivers = 0, listeners = 0;
    for (const std::size_t sender : one.senders)
      if (objects_[sender].waits_for_room == number) waiting_senders++;
    for (const std::size_t receiver : one.receivers) {
      const std::vector<std::size_t>& inputs = program_.objects[receiver].receives;
      if (objects_[receiver].waits_for_input)
        waiting_receivers += static_cast<std::size_t>(std::count(inputs.begin(), inputs.end(), number));
      if (!objects_[receiver].ended)
        listeners += static_cast<std::size_t>(std::count(inputs.begin(), inputs.end(), number));
    }
    if (state.count > state.capacity) return "a stream holds no more messages than its capacity";
    if (state.waiting_senders != waiting_senders) return "a stream counts the objects that wait for its room";
    if (state.waiting_receivers != waiting_receivers)
      return "a stream counts the objects that wait for its messages";
    if (state.listeners != listeners) return "a stream counts the receivers that have not ended";
  }
  return nullptr;
}

const char* simulation::violated_object() const {
  std::vector<std::size_t> places(objects_.size());
  for (std::size_t number = 0; number < islands_.size(); number++) {
    const island_state& island = islands_[number];
    if (island.running != none) places[island.running]++;
    for (const std::size_t object : island.ready) {
      places[object]++;
      if (objects_[object].island != number) return "an object is ready on its own island";
    }
  }
  std::size_t driving = 0;
  for (std::size_t number = 0; number < objects_.size(); number++) {
    const object_state& state = objects_[number];
    if (state.drives && !state.ended) driving++;
    if (state.waits_for_input) places[number]++;
    if (state.waits_for_room != none) places[number]++;
    if (places[number] != (state.ended ? 0 : 1)) return "an object runs, is ready, waits, or has ended";
  }
  return driving_ == driving ? nullptr : "the objects that drive the run and have not ended are counted";
}

const char* simulation::violated_thread() const {
  std::vector<unsigned> queued(threads_.size()), running(threads_.size()), waiting(islands_.size());
  for (const std::size_t thread : thread_queue_) ++queued[thread];
  for (const cpu_state& cpu : cpus_)
    if (cpu.thread != none) ++running[cpu.thread];
  for (const std::size_t island : island_queue_) ++waiting[island];
  const auto blocked = std::count_if(threads_.begin(), threads_.end(),
                                     [](const auto& one) { return one.at == thread_at::blocked; });
  if (static_cast<std::size_t>(blocked) != blocked_.size())
    return "a thread that sleeps in the kernel has a time at which it wakes";
  for (std::size_t number = 0; number < threads_.size(); number++) {
    const thread_state& thread = threads_[number];
    if (queued[number] != (thread.at == thread_at::queue ? 1U : 0U))
      return "a thread that waits for a CPU is in the queue";
    if (running[number] != (thread.at == thread_at::cpu ? 1U : 0U))
      return "a thread that runs has a CPU of its own";
  }
  for (std::size_t number = 0; number < islands_.size(); number++) {
    const island_state& island = islands_[number];
    if (waiting[number] != (island.queued ? 1U : 0U))
      return "an island that waits for a worker is in the queue";
    if (island.queued && island.thread != none) return "an island with a thread does not wait for a worker";
    if (!island.queued && island.thread == none && (island.running != none || !island.ready.empty()))
      return "an island that can go on has a thread, or waits for one";
  }
  return nullptr;
}

const char* simulation::violated_invariant() const {
  for (const char* const violated : {violated_stream(), violated_object(), violated_thread()})
    if (violated != nullptr) return violated;
  return nullptr;
}

const char* configuration::violated_invariant() const {
  const std::set<std::size_t> numbers(groups.begin(), groups.end());
  if (!numbers.empty() && *numbers.rbegin() != numbers.size() - 1) return "groups are numbered without gaps";
  if (std::find(capacities.begin(), capacities.end(), 0) != capacities.end())
    return "a stream has room for a message";
  return nullptr;
}

const char* plan::violated_invariant() const {
  if (ranking.empty()) return "a plan has a candidate";
  if (tied == 0 || tied > ranking.size()) return "the tied candidates are the first ones of the ranking";
  if (chosen >= tied) return "the chosen candidate is tied with the first one";
  std::set<execution_model> models;
  for (const candidate& one : ranking) {
    if (!models.insert(one.how.model).second) return "a model is ranked once";
    if (one.how.groups.size() != ranking.front().how.groups.size() ||
        one.how.capacities.size() != ranking.front().how.capacities.size())
      return "all candidates are of the same program";
    if (const char* const violated = one.how.violated_invariant()) return violated;
  }
  for (std::size_t i = 0; i < tied; i++)
    if (ranking[i].units < ranking[chosen].units)
      return "the chosen candidate has the fewest units of the tied";
  for (const left_out_model& one : left_out)
    if (models.contains(one.model)) return "a model that is left out is not ranked";
  return nullptr;
}

}  // namespace sukima::objects::model
