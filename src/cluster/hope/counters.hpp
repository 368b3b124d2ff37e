// SPDX-License-Identifier: Apache-2.0
// Counts of what a node did under hierarchical omission.
#pragma once

#include <cstdint>
#include <mutex>

namespace sukima::cluster::hope {

/// Counts of one node since it began.
struct counts {
  std::uint64_t named = 0;  ///< tasks that got a name
  std::uint64_t omitted = 0;  ///< units that ended by another node's result, and did not run here
  std::uint64_t cut = 0;  ///< units that ended by it while they ran here
  std::uint64_t computed = 0;  ///< units that gave their result here
  std::uint64_t published = 0;  ///< units whose result was sent to other nodes
  /// Times that this node, having received no task, began a unit claimed by another node, or a branch left to
  /// others.
  std::uint64_t helped = 0;
  std::uint64_t given = 0;  ///< units given to nodes that asked
  std::uint64_t taken_over = 0;  ///< units begun after their claimant was lost
  std::uint64_t yielded = 0;  ///< units left to another node that had begun them, too
  std::uint64_t reports = 0;  ///< notes for all other nodes that this node made while it had any
  std::uint64_t notes = 0;  ///< messages sent
  std::uint64_t bundles = 0;  ///< messages among them that carry notes by way of mediators
  std::uint64_t requests = 0;  ///< messages among them that ask for a task
  std::uint64_t refusals = 0;  ///< messages among them that refuse a request
  std::uint64_t questions = 0;  ///< messages among them that ask for a result
  std::uint64_t answers = 0;  ///< messages among them that bring a result to one node that lacks it
  std::uint64_t sent_bytes = 0;  ///< bytes of these messages
  std::uint64_t forwarded = 0;  ///< notes of other nodes that this node forwarded as a mediator
  /// Notes that it did not forward to a node of its group, because that node does not subscribe to them.
  std::uint64_t withheld = 0;
  std::uint64_t deleted = 0;  ///< notes that it did not forward, because no node needs them
};

/// The counts of one node. Any thread.
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
