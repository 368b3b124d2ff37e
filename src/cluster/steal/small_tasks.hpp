// SPDX-License-Identifier: Apache-2.0
// Decides which nodes are too far away for the tasks of this node: a task that is short compared with the
// round trip is not sent. Decisions only, without a clock, messages or threads.
//
// Nodes send their round trip with each request (thief.hpp). The duration of the next task is unknown. The
// node records the durations of the last tasks: of tasks that it gave to other nodes, without the round trip,
// and of other nodes' tasks that ran here. If the median is below four round trips, a far node gets no task.
// After a pause since the last task to a far node, one task is sent anyway, to measure how long tasks take
// now. So a waiting far node gets a task from time to time, and more tasks when they take long. Near nodes
// get all tasks that they request.
//
// Why four: while a task travels, no node computes it; that takes about one round trip.
#pragma once

#include "transport/transport.hpp"

#include <vector>

namespace sukima::cluster {

class small_tasks {
 public:
  static constexpr unsigned remembered = 8;  ///< number of tasks for the median
  static constexpr unsigned least_round_trips = 4;  ///< in round trips: shortest task for a far node
  static constexpr std::chrono::milliseconds pause{100};  ///< or that many round trips, if they take longer

  explicit small_tasks(unsigned nodes) : round_trips_(nodes) {}

  /// \param trip  round trip that the other node has measured; 0: it has measured none, and is near
  void set_round_trip(node_id node, clock::duration trip) { round_trips_[node] = trip; }
  void on_sent(node_id to, clock::time_point now);
  /// Records that a task given to that node has ended. \param took time from sending the task to its result
  void on_result(node_id from, clock::duration took);
  /// Records that a task of another node has ended here. \param took time since it arrived
  void on_ended(clock::duration took);
  /// Returns the time from which that node may get a task. For most nodes that time is in the past.
  clock::time_point gives_from(node_id node) const;

 private:
  bool is_far(node_id node) const;
  bool are_long_enough(clock::duration trip) const;

  std::vector<clock::duration> round_trips_;  ///< by node
  std::vector<clock::duration> times_;  ///< durations of the last tasks, the oldest first
  clock::time_point next_;  ///< when a task of any size may be sent to a far node
};

}  // namespace sukima::cluster
