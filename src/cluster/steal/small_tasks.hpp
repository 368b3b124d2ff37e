// SPDX-License-Identifier: Apache-2.0
// Which nodes are too far away for the tasks of this node: a task that is short compared with the round trip
// stays. Decisions only, without clock, messages or threads.
//
// Nodes send their round trip with each request (thief.hpp). How long the next task will take is unknown, but
// the durations of the last tasks are known: of tasks that this node gave to others, without the way, and of
// others' tasks that ran here. If their median is below four round trips, a far node gets no task. After a
// pause since the last task to a far node, one task is sent anyway, to measure how long tasks are now. So a
// waiting node gets a task now and then, and more tasks when they are long. Near nodes get all that they ask
// for.
//
// Why four: a task that leaves costs about one round trip, in which no node computes it.
#pragma once

#include "transport/transport.hpp"

#include <vector>

namespace sukima::cluster {

class small_tasks {
 public:
  static constexpr unsigned remembered = 8;  ///< tasks that the median is of
  static constexpr unsigned least_round_trips = 4;  ///< that a task takes if it leaves for a far node
  static constexpr std::chrono::milliseconds pause{100};  ///< or so many round trips, if that is longer

  explicit small_tasks(unsigned nodes) : round_trips_(nodes) {}

  /// \param trip as that node has measured it; 0: it has not, and is near
  void set_round_trip(node_id node, clock::duration trip) { round_trips_[node] = trip; }
  void on_sent(node_id to, clock::time_point now);
  /// A task that was given to that node has ended. \param took from sending it to its result
  void on_result(node_id from, clock::duration took);
  /// A task of another node has ended here. \param took since it came
  void on_ended(clock::duration took);
  /// Returns from when on that node may get a task; for most nodes a time in the past.
  clock::time_point gives_from(node_id node) const;

 private:
  bool is_far(node_id node) const;
  bool are_long_enough(clock::duration trip) const;

  std::vector<clock::duration> round_trips_;  ///< by node
  std::vector<clock::duration> times_;  ///< that the last tasks took, the oldest first
  clock::time_point next_;  ///< when one is sent whatever its size
};

}  // namespace sukima::cluster
