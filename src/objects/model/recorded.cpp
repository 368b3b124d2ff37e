// SPDX-License-Identifier: Apache-2.0
// Continues the simulation of a recorded program if no object can continue before its end.
//
// The recorded program has ended, so its objects do not wait for each other for ever. But a description
// contains only means. An object that asks one of two servers each time has two fractions of a message. If
// their sum is a little less than one, a computation may send nothing, and the simulation may come to rest.
// It then takes a step that the program must have taken.
#include <algorithm>

#include "model/simulation.hpp"

namespace sukima::objects::model {

bool simulation::waits_for_input(std::size_t object) const {
  return objects_[object].waits_for_input && !objects_[object].ended;
}

/// Lets the object with the largest fraction of a message send that message now. The object's later fractions
/// first make up for the missing part.
bool simulation::send_fraction() {
  std::size_t nearest = none, input = 0;
  double most = 0;
  for (std::size_t object = 0; object < objects_.size(); object++) {
    if (!waits_for_input(object)) continue;
    const std::vector<double>& pools = objects_[object].pools;
    const auto largest = std::max_element(pools.begin(), pools.end());
    if (*largest <= most) continue;
    most = *largest;
    nearest = object;
    input = static_cast<std::size_t>(largest - pools.begin());
  }
  if (nearest == none) return false;
  const object& one = program_.objects[nearest];
  object_state& state = objects_[nearest];
  owe_one(state, one, input < one.receives.size() ? one.receives[input] : none);
  state.waits_for_input = false;
  for (const std::size_t each : one.receives) streams_[each].waiting_receivers--;
  state.next_send = 0;
  find_send(state);
  make_ready(nearest);
  return true;
}

/// Makes room for a waiting sender, because with another order of the messages there would have been room.
bool simulation::make_room() {
  for (std::size_t stream = 0; stream < streams_.size(); stream++) {
    if (streams_[stream].waiting_senders == 0) continue;
    streams_[stream].capacity++;
    wake_sender(stream);
    return true;
  }
  return false;
}

/// Gives a message to the object that has done the smallest part of its computations. The means of its
/// senders lack that message.
bool simulation::give_input() {
  std::size_t last = none;
  double most_left = 0;
  for (std::size_t object = 0; object < objects_.size(); object++) {
    const object_state& state = objects_[object];
    if (!state.drives || !waits_for_input(object)) continue;
    const double left = state.computations_left / state.computations;
    if (last != none && left <= most_left) continue;
    last = object;
    most_left = left;
  }
  if (last == none) return false;
  const std::vector<std::size_t>& receives = program_.objects[last].receives;
  object_state& state = objects_[last];
  streams_[receives[state.next_input % receives.size()]].count++;
  state.waits_for_input = false;
  for (const std::size_t each : receives) streams_[each].waiting_receivers--;
  make_ready(last);
  return true;
}

/// Takes such a step. \returns whether an object can continue
bool simulation::go_on_as_recorded() {
  serving_ = none;
  waking_ns_ = 0;
  return send_fraction() || make_room() || give_input();
}

}  // namespace sukima::objects::model
