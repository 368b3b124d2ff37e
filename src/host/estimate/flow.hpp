// SPDX-License-Identifier: Apache-2.0
// Which vCPU runs how much on which pCPU, as a flow. Pushes flow away from overloaded pCPUs.
#pragma once

#include "estimate/subproblem.hpp"

namespace sukima::host {

/// A flow from vCPUs to pCPUs. A vCPU is never placed on a pCPU that it may not use.
class flow {
 public:
  struct entry {
    std::uint32_t vcpu;
    double amount;
  };
  /// The state after a push that did not fit everything: the pCPUs that are reachable from overloaded ones,
  /// and for each element whether it has a part on those.
  struct cut {
    cpu_set reached;
    std::vector<char> low;
  };

  /// The problem must outlive the flow. \pre learn_kinds must be called before push
  explicit flow(const problem& all);
  /// Copies the flow for a copy of its problem.
  flow(const flow& other, const problem& all);
  flow(const flow&) = delete;
  flow& operator=(const flow&) = delete;

  /// Determines which vCPUs may use the same pCPUs. Must be called again when that has changed.
  /// \par Complexity vCPUs times the logarithm of the number of different sets
  void learn_kinds();
  /// Removes all flow from these pCPUs.
  void clear(const cpu_set& cpus);
  /// Places the demands of a subproblem's elements at a level. vCPUs with the fewest pCPUs to choose from
  /// come first, each on the pCPUs with the most room. The subproblem's pCPUs must be clear. Capacities may
  /// be exceeded.
  void spread(const subproblem& part, double level);
  /// Pushes flow above the capacities to other pCPUs of the subproblem, as far as possible, along paths
  /// between pCPUs. A step p → q goes through all vCPUs on p that may run on q, or through another vCPU of
  /// the same element that gets less than it may. This is maximum flow by breadth-first search; a search
  /// costs the number of entries, at most vCPUs + pCPUs.
  /// \returns whether everything fits \param left the obstacle, if not everything fits
  bool push(const subproblem& part, cut& left);

  /// The vCPUs that run on a pCPU, with their amounts.
  const std::vector<entry>& on(std::size_t p) const { return on_[p]; }
  double load(std::size_t p) const { return load_[p]; }
  double got(std::size_t vcpu) const { return got_[vcpu]; }
  /// The number of searches so far; for tests of the cost of solutions.
  std::uint32_t searches() const { return searches_; }
  /// \returns the first invariant that does not hold, or null
  const char* violated_invariant() const;

 private:
  // The step by which a search reached a pCPU: the pCPU that it came from, the vCPU to remove there, and the
  // vCPU to place here instead (often the same one).
  struct step {
    std::int32_t from;
    std::uint32_t off, on;
  };

  void put(std::size_t p, std::uint32_t vcpu, double amount);
  void take(std::size_t p, std::uint32_t vcpu, double amount);
  double amount_on(std::size_t p, std::uint32_t vcpu) const;
  double room(std::size_t p) const { return all_.capacity[p] - load_[p]; }
  void place(std::uint32_t vcpu, double amount, const cpu_set& cpus);
  std::size_t roomiest(const runnable& candidate, const cpu_set& cpus) const;
  void search(const subproblem& part, cut& found);
  void leave(const subproblem& part, std::size_t p, cut& found);
  bool is_open(std::uint32_t vcpu) const { return opened_[kind_[vcpu]] == searches_; }
  void open(const subproblem& part, std::size_t p, std::uint32_t off, std::uint32_t on, cut& found);
  bool augment(std::size_t to);
  double most_into(std::size_t to) const;
  void move_into(std::size_t to, double amount);

  const problem& all_;
  std::vector<std::vector<entry>> on_;
  std::vector<double> load_, got_;
  std::vector<std::uint32_t> kind_;  // for each vCPU; vCPUs that may use the same pCPUs are of one kind
  std::vector<std::uint32_t> owner_;  // for each vCPU: the position of its element in the present subproblem
  // State of the present search:
  std::vector<step> steps_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> opened_;  // for each kind: the last search that opened it
  std::uint32_t searches_ = 0;
};

}  // namespace sukima::host
