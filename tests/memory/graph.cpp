// SPDX-License-Identifier: Apache-2.0
#include "graph.hpp"

#include <algorithm>
#include <stdexcept>

namespace sukima::memory {

void clock::join(const clock& other) noexcept {
  for (unsigned i = 0; i < max_threads; ++i) steps[i] = std::max(steps[i], other.steps[i]);
}

bool acquires(std::memory_order order) noexcept {
  return order == std::memory_order_acquire || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}

bool releases(std::memory_order order) noexcept {
  return order == std::memory_order_release || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}

void graph::clear() {
  events_.clear();
  locations_.clear();
  threads_ = {};
  for (std::vector<int>& events : in_thread_) events.clear();
  sc_after_.clear();
  sc_events_.clear();
  has_sc_fence_ = false;
  stamp_ = 1;
}

std::uint16_t graph::step(int thread) noexcept { return ++threads_[at(thread)].known.steps[at(thread)]; }

int graph::append(event e) {
  if (events_.size() == max_events) throw std::length_error("an execution has more than 512 events");
  const int id = size();
  if (e.kind != access::first) {
    e.index = in_thread_[at(e.thread)].size();
    in_thread_[at(e.thread)].push_back(id);
  }
  events_.push_back(e);
  sc_after_.emplace_back();
  return id;
}

int graph::add_location(int thread, std::uint64_t value) {
  location_state made;
  event first;
  first.location = static_cast<int>(locations_.size());
  first.value = value;
  first.thread = thread;
  if (thread != none) {
    made.maker = thread;
    first.stamp = stamp_;
    made.made = first.step = step(thread);
    first.known = made.accessed = known(thread);
  }
  const int id = append(first);
  made.order.push_back(id);
  made.accesses.push_back(id);
  locations_.push_back(made);
  return first.location;
}

bool graph::knows_location(int thread, int location) const noexcept {
  const location_state& l = locations_[at(location)];
  return known(thread).covers(l.maker, l.made);
}

bool graph::end_location(int thread, int location) {
  location_state& l = locations_[at(location)];
  l.ended = true;
  for (unsigned i = 0; i < max_threads; ++i)
    if (known(thread).steps[i] < l.accessed.steps[i]) return false;
  return true;
}

std::size_t graph::oldest_readable(int thread, int location, const clock* also) const {
  const clock& knows = known(thread);
  std::size_t oldest = 0;
  for (const int id : locations_[at(location)].accesses) {
    const event& e = events_[at(id)];
    if (!knows.covers(e.thread, e.step) && (also == nullptr || !also->covers(e.thread, e.step))) continue;
    const std::size_t place = e.writes() ? e.place : events_[at(e.reads)].place;
    oldest = std::max(oldest, place);
  }
  return oldest;
}

std::vector<int> graph::readable(int thread, int location, const clock* also) const {
  const std::vector<int>& order = locations_[at(location)].order;
  return {order.begin() + static_cast<std::ptrdiff_t>(oldest_readable(thread, location, also)), order.end()};
}

std::vector<std::size_t> graph::places(int thread, int location) const {
  const std::vector<int>& order = locations_[at(location)].order;
  std::vector<std::size_t> found;
  for (std::size_t p = oldest_readable(thread, location, nullptr) + 1; p <= order.size(); ++p)
    if (!events_[at(order[p - 1])].consumed) found.push_back(p);
  return found;
}

void graph::begin(event& e) {
  e.step = step(e.thread);
  e.known = known(e.thread);
  e.stamp = ++stamp_;
}

void graph::learn_by_reading(event& e, const event& write) {
  thread_state& t = threads_[at(e.thread)];
  if (acquires(e.order))
    t.known.join(write.released);
  else
    t.read_relaxed.join(write.released);
  e.known = t.known;
}

clock graph::released_by(const event& e) const {
  return releases(e.order) ? e.known : threads_[at(e.thread)].at_release_fence;
}

void graph::insert_write(int id, std::size_t place) {
  location_state& l = locations_[at(events_[at(id)].location)];
  l.order.insert(l.order.begin() + static_cast<std::ptrdiff_t>(place), id);
  for (std::size_t p = place; p < l.order.size(); ++p) events_[at(l.order[p])].place = p;
}

int graph::add_load(event e, int write) {
  begin(e);
  e.reads = write;
  e.value = events_[at(write)].value;
  learn_by_reading(e, events_[at(write)]);
  location_state& l = locations_[at(e.location)];
  l.accessed.join(e.known);
  const int id = append(e);
  l.accesses.push_back(id);
  link_sc(id);
  return id;
}

int graph::add_store(event e, std::size_t place) {
  begin(e);
  e.released = released_by(e);
  location_state& l = locations_[at(e.location)];
  l.accessed.join(e.known);
  const int id = append(e);
  l.accesses.push_back(id);
  insert_write(id, place);
  link_sc(id);
  return id;
}

int graph::add_rmw(event e, int write) {
  begin(e);
  e.reads = write;
  learn_by_reading(e, events_[at(write)]);
  e.released = released_by(e);
  e.released.join(events_[at(write)].released);
  events_[at(write)].consumed = true;
  location_state& l = locations_[at(e.location)];
  l.accessed.join(e.known);
  const int id = append(e);
  l.accesses.push_back(id);
  insert_write(id, events_[at(write)].place + 1);
  link_sc(id);
  return id;
}

int graph::add_fence(event e) {
  begin(e);
  thread_state& t = threads_[at(e.thread)];
  if (acquires(e.order)) t.known.join(t.read_relaxed);
  e.known = t.known;
  if (releases(e.order)) t.at_release_fence = t.known;
  const int id = append(e);
  if (e.is_sc()) has_sc_fence_ = true;
  link_sc(id);
  return id;
}

}  // namespace sukima::memory
