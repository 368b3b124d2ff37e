// SPDX-License-Identifier: Apache-2.0
// The objects of the simulation: they receive, compute, send, and wait for each other.
#include "model/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sukima::objects::model {
namespace {

// Sums of fractions of messages have rounding errors.
constexpr double nearly_one = 1 - 1e-9;

}  // namespace

double simulation::full_part(std::size_t stream) const {
  const stream_state& state = streams_[stream];
  return state.sends > 0 ? std::min(1.0, state.blocked / state.sends) : 0;
}

/// Draws a computing time from a Gamma distribution with this mean and standard deviation; from an
/// exponential one if they are equal.
double simulation::computation(const object& one, object_state& state) {
  if (one.spread_ns <= 0 || one.compute_ns <= 0) return one.compute_ns;
  if (one.spread_ns == one.compute_ns) {
    const double uniform = static_cast<double>(random_() >> 11) * 0x1p-53;
    return -one.compute_ns * std::log1p(-uniform);
  }
  return state.gamma(random_);
}

void simulation::wake_receiver(std::size_t stream) {
  stream_state& state = streams_[stream];
  if (state.waiting_receivers == 0) return;
  const std::vector<std::size_t>& receivers = program_.streams[stream].receivers;
  for (std::size_t i = 0; i < receivers.size(); i++) {
    const std::size_t at = (state.next_receiver + i) % receivers.size();
    if (!objects_[receivers[at]].waits_for_input) continue;
    state.next_receiver = at + 1;
    objects_[receivers[at]].waits_for_input = false;
    objects_[receivers[at]].woken_for = stream;
    for (const std::size_t input : program_.objects[receivers[at]].receives)
      streams_[input].waiting_receivers--;
    make_ready(receivers[at]);
    return;
  }
}

void simulation::wake_sender(std::size_t stream) {
  stream_state& state = streams_[stream];
  if (state.waiting_senders == 0) return;
  const std::vector<std::size_t>& senders = program_.streams[stream].senders;
  for (std::size_t i = 0; i < senders.size(); i++) {
    const std::size_t at = (state.next_sender + i) % senders.size();
    if (objects_[senders[at]].waits_for_room != stream) continue;
    state.next_sender = at + 1;
    objects_[senders[at]].waits_for_room = none;
    state.waiting_senders--;
    make_ready(senders[at]);
    return;
  }
}

/// Ends the object and breaks its inputs, whose senders continue without it.
void simulation::end(std::size_t object) {
  object_state& state = objects_[object];
  state.ended = true;
  if (state.drives) driving_--;
  for (const std::size_t input : program_.objects[object].receives) {
    if (--streams_[input].listeners > 0) continue;
    while (streams_[input].waiting_senders > 0) wake_sender(input);
  }
}

bool simulation::find_send(object_state& state) {
  while (state.next_send < state.owed.size() && state.owed[state.next_send] == 0) state.next_send++;
  if (state.next_send < state.owed.size()) return true;
  state.next_send = none;
  return false;
}

/// Returns the sum of the fractions after that input, or without an input.
double& simulation::pool_after(object_state& state, const object& one, std::size_t input) {
  const auto at = std::find(one.receives.begin(), one.receives.end(), input);
  return state.pools[static_cast<std::size_t>(at - one.receives.begin())];
}

/// Adds the messages that the object must send after one computation. Fractions after the same input are
/// alternatives, as those of a server that answers one of its clients. They have a common sum; whenever the
/// sum reaches a message, the stream that lacks most of its part gets it. If each fraction had a sum of its
/// own, a server would keep the answers of all its clients until one of them is due, and no client would ask
/// again.
void simulation::owe(object_state& state, const object& one, std::size_t input) {
  const auto sends_now = [&](std::size_t i) { return !one.sends[i].input || one.sends[i].input == input; };
  double& pool = pool_after(state, one, input);
  for (std::size_t i = 0; i < one.sends.size(); i++) {
    if (!sends_now(i)) continue;
    const double whole = std::floor(one.sends[i].per_input);
    state.owed[i] += static_cast<std::size_t>(whole);
    state.credit[i] += one.sends[i].per_input - whole;
    pool += one.sends[i].per_input - whole;
  }
  while (pool >= nearly_one) owe_one(state, one, input);
}

/// Takes one message from the fractions after that input, for the stream that lacks most of its part.
void simulation::owe_one(object_state& state, const object& one, std::size_t input) {
  std::size_t most = none;
  for (std::size_t i = 0; i < one.sends.size(); i++) {
    const bool is_sent = !one.sends[i].input || one.sends[i].input == input;
    if (is_sent && (most == none || state.credit[i] > state.credit[most])) most = i;
  }
  state.owed[most]++;
  state.credit[most]--;
  pool_after(state, one, input)--;
}

/// Takes a message, round robin. \returns whether there was one
bool simulation::find_input(object_state& state, const object& one, std::size_t& input) {
  for (std::size_t i = 0; i < one.receives.size(); i++) {
    const std::size_t at = (state.next_input + i) % one.receives.size();
    if (streams_[one.receives[at]].count == 0) continue;
    state.next_input = at + 1;
    input = one.receives[at];
    streams_[input].count--;
    wake_sender(input);
    // The object was woken for another stream's message and leaves it, so another receiver is woken, as by
    // withdraw (stream.cpp).
    const std::size_t other = std::exchange(state.woken_for, none);
    if (other != none && other != input && streams_[other].count > 0) wake_receiver(other);
    return true;
  }
  return false;
}

/// Receives and computes. \returns false if the object waits or has ended
bool simulation::receive(std::size_t object, double& cost) {
  object_state& state = objects_[object];
  const model::object& one = program_.objects[object];
  if (state.computations_left < nearly_one) {
    end(object);
    return false;
  }
  std::size_t input = none;
  if (state.starts_left >= nearly_one) {
    state.starts_left--;
  } else if (find_input(state, one, input)) {
    cost += streams_[input].receiver_ns;
  } else if (one.receives.empty()) {
    end(object);
    return false;
  } else {
    state.waits_for_input = true;
    state.woken_for = none;
    state.was_suspended = state.shared_inputs;
    for (const std::size_t each : one.receives) streams_[each].waiting_receivers++;
    return false;
  }
  const double computing = computation(one, state);
  state.computing_ns += computing;
  cost += computing;
  state.blocked_ns += one.blocked_ns;
  threads_[serving_].blocks_ns = one.blocked_ns;
  state.computations_left--;
  computations_++;
  events_++;
  means_.count(now_);
  owe(state, one, input);
  state.next_send = 0;
  if (find_send(state)) cost += streams_[one.sends[state.next_send].stream].sender_ns;
  return true;
}

/// Publishes a message, whose cost has been paid. \returns false if there is no room
bool simulation::send(std::size_t object, double& cost) {
  object_state& state = objects_[object];
  const model::object& one = program_.objects[object];
  const std::size_t target = one.sends[state.next_send].stream;
  stream_state& stream = streams_[target];
  if (stream.listeners > 0) {
    if (stream.count == stream.capacity) {
      stream.blocked++;
      state.waits_for_room = target;
      state.was_suspended = stream.shared;
      stream.waiting_senders++;
      return false;
    }
    stream.count++;
    stream.sends++;
    wake_receiver(target);
  }
  events_++;
  state.owed[state.next_send]--;
  if (find_send(state)) cost += streams_[one.sends[state.next_send].stream].sender_ns;
  return true;
}

bool simulation::step(std::size_t object, double& cost) {
  return objects_[object].next_send == none ? receive(object, cost) : send(object, cost);
}

}  // namespace sukima::objects::model
