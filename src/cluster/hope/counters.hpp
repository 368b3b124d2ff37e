// SPDX-License-Identifier: Apache-2.0
// Counters of a node under hierarchical omission.
#pragma once

#include <cstdint>
#include <mutex>

namespace sukima::cluster::hope {

/// The counts of one node since it began.
struct counts {
  std::uint64_t named = 0;  ///< tasks that got a name
  std::uint64_t omitted = 0;  ///< units that another node's result ended before they ran here
  std::uint64_t cut = 0;  ///< units that another node's result ended while they ran here
  std::uint64_t computed = 0;  ///< units whose result was computed here
  std::uint64_t published = 0;  ///< units whose result was sent to other nodes
  /// How often this node, after it received no task, began a unit claimed by another node, or a branch left
  /// to others.
  std::uint64_t helped = 0;
  std::uint64_t given = 0;  ///< units given to nodes that requested tasks
  std::uint64_t taken_over = 0;  ///< units begun after their claimant was lost
  std::uint64_t yielded = 0;  ///< units left to another node that was also running them
  std::uint64_t reports = 0;  ///< notes for all other nodes that this node wrote while there were any
  std::uint64_t notes = 0;  ///< messages sent
  std::uint64_t bundles = 0;  ///< among them: messages that contain notes and go through mediators
  std::uint64_t requests = 0;  ///< among them: messages that request a task
  std::uint64_t refusals = 0;  ///< among them: messages that refuse a request
  std::uint64_t questions = 0;  ///< among them: messages that request a result
  std::uint64_t answers = 0;  ///< among them: messages that send a result to a single node that lacks it
  std::uint64_t sent_bytes = 0;  ///< total size of the messages in bytes
  std::uint64_t forwarded = 0;  ///< notes of other nodes that this node forwarded as a mediator
  /// Notes that this node did not forward to a node of its group, because that node does not subscribe to
  /// them.
  std::uint64_t withheld = 0;
  std::uint64_t deleted = 0;  ///< notes that this node did not forward, because no node needs them
};

/// The counters of one node. Any thread may use them.
class counters {
 public:
  void add(std::uint64_t counts::* counter, std::uint64_t number = 1) {
    const std::lock_guard hold(lock_);
    counts_.*counter += number;
  }
  counts all() const {
    const std::lock_guard hold(lock_);
    return counts_;
  }

 private:
  mutable std::mutex lock_;
  counts counts_;
};

}  // namespace sukima::cluster::hope
