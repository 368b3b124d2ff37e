// SPDX-License-Identifier: Apache-2.0
// Which vCPU runs how much on which pCPU: a flow, and pushing it from pCPUs that have too much.
#pragma once

#include "estimate/subproblem.hpp"

namespace sukima::host {

/// A flow from vCPUs to pCPUs. It never sends a vCPU where it may not run.
class flow {
 public:
  struct entry {
    std::uint32_t vcpu;
    double amount;
  };
  /// What push leaves when not everything fits: the pCPUs reachable from those that have too much, and for
  /// each element whether it has a part there.
  struct cut {
    cpu_set reached;
    std::vector<char> low;
  };

  /// The problem must outlive the flow. \pre learn_kinds is called before push
  explicit flow(const problem& all);
  /// The same flow for a copy of its problem.
  flow(const flow& other, const problem& all);
  flow(const flow&) = delete;
  flow& operator=(const flow&) = delete;

  /// Finds out which vCPUs may run on the same pCPUs. To be called again when that has changed.
  /// \par Complexity vCPUs times the logarithm of the different sets
  void learn_kinds();
  /// Takes everything off these pCPUs.
  void clear(const cpu_set& cpus);
  /// Gives the elements of a subproblem their demands at a level, those with the fewest choices first, each
  /// onto the pCPUs with the most room; the subproblem's pCPUs must be clear. May exceed capacities.
  void spread(const subproblem& part, double level);
  /// Pushes what exceeds the capacities to other pCPUs of the subproblem, as far as that goes: along paths
  /// between pCPUs: p → q through all vCPUs on p that may run on q, or through another vCPU of the same
  /// element that gets less than it may. Maximum flow by breadth-first search; a search costs the number of
  /// entries, at most vCPUs + pCPUs.
  /// \returns whether everything fits \param left what hinders it, if not
  bool push(const subproblem& part, cut& left);

  /// The vCPUs that run on a pCPU, and how much.
  const std::vector<entry>& on(std::size_t p) const { return on_[p]; }
  double load(std::size_t p) const { return load_[p]; }
  double got(std::size_t vcpu) const { return got_[vcpu]; }
  /// How many searches there were; for tests of what solutions cost.
  std::uint32_t searches() const { return searches_; }

 private:
  // How a search reached a pCPU: from which pCPU, the vCPU to take off there, and the vCPU to run here
  // instead (often the same one).
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
  std::vector<std::uint32_t> kind_;  // of a vCPU: those that may run on the same pCPUs are of one kind
  std::vector<std::uint32_t> owner_;  // of a vCPU: its element's position in the present subproblem
  // Of the present search:
  std::vector<step> steps_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> opened_;  // of a kind: the last search that used it
  std::uint32_t searches_ = 0;
};

}  // namespace sukima::host
