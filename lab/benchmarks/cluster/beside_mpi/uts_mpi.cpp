// SPDX-License-Identifier: Apache-2.0
// The nodes of an unbalanced tree with MPI: mpirun.openmpi -n 4 uts-openmpi NUMBER
//
// Work stealing by messages (J. Dinan et al., "Dynamic Load Balancing of Unbalanced Computations Using
// Message Passing", IPDPS 2007): each rank searches its own part depth first and looks for requests from
// time to time. A rank without work asks one at random, which gives half of its oldest nodes. A token that
// goes round detects the end (E. W. Dijkstra et al., "Derivation of a termination detection algorithm for
// distributed computations", IPL 1983).
#include "cluster/beside_mpi/arguments.hpp"
#include "kernels/uts.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <vector>

using kernels::uts_node, kernels::uts_tree;

/// Tuned: nodes between two looks for requests, and the most that one answer gives.
constexpr int nodes_between_looks = 64;
constexpr std::ptrdiff_t most_given = 64;

enum tag : int { request, work, token, done };

class searcher {
 public:
  explicit searcher(const uts_tree& whole) : tree_(whole) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    has_token_ = rank_ == 0;
    random_.seed(static_cast<unsigned>(rank_));
  }

  /// \returns the nodes that this rank has visited
  std::int64_t run() {
    if (rank_ == 0) open_.push_back(kernels::uts_root(tree_));
    while (!is_done_) {
      while (!open_.empty()) {
        for (int i = 0; i < nodes_between_looks && !open_.empty(); ++i) visit();
        take_messages();
      }
      if (ranks_ == 1) break;
      pass_token();
      if (!is_done_) steal();
    }
    leave();
    return visited_;
  }

 private:
  void visit() {
    const uts_node node = open_.back();
    open_.pop_back();
    ++visited_;
    for (int i = kernels::uts_children(tree_, node) - 1; i >= 0; --i)
      open_.push_back(kernels::uts_child(node, i));
  }

  void take_messages() {
    for (int there = 1; there != 0;) {
      MPI_Status status;
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
      if (there != 0) take(status);
    }
  }
  void take(const MPI_Status& status) {
    const int from = status.MPI_SOURCE;
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    switch (status.MPI_TAG) {
      case request:
        MPI_Recv(nullptr, 0, MPI_BYTE, from, request, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        give(from);
        return;
      case work:
        open_.resize(static_cast<std::size_t>(bytes) / sizeof(uts_node));  // empty: it has none
        MPI_Recv(open_.data(), bytes, MPI_BYTE, from, work, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        is_waiting_ = false;
        return;
      case token:
        MPI_Recv(&token_is_black_, 1, MPI_INT, from, token, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        has_token_ = true;
        return;
      default:
        MPI_Recv(nullptr, 0, MPI_BYTE, from, done, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        is_done_ = true;
    }
  }
  void give(int to) {
    const auto given = std::min(static_cast<std::ptrdiff_t>(open_.size() / 2), most_given);
    MPI_Send(open_.data(), static_cast<int>(given * static_cast<std::ptrdiff_t>(sizeof(uts_node))), MPI_BYTE,
             to, work, MPI_COMM_WORLD);
    open_.erase(open_.begin(), open_.begin() + given);
    if (given != 0) is_black_ = 1;
  }

  void steal() {
    int victim = std::uniform_int_distribution(0, ranks_ - 2)(random_);
    if (victim >= rank_) ++victim;
    MPI_Send(nullptr, 0, MPI_BYTE, victim, request, MPI_COMM_WORLD);
    is_waiting_ = true;
    wait_for_answer();
  }
  void wait_for_answer() {
    while (is_waiting_) {
      MPI_Status status;
      MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      take(status);
    }
  }

  /// \pre no nodes are here or on their way here
  void pass_token() {
    if (!has_token_) return;
    // It was white at each rank, and none has given nodes since it came there before.
    if (rank_ == 0 && has_gone_round_ && token_is_black_ == 0 && is_black_ == 0) {
      for (int to = 1; to < ranks_; ++to) MPI_Send(nullptr, 0, MPI_BYTE, to, done, MPI_COMM_WORLD);
      is_done_ = true;
      return;
    }
    int black = rank_ == 0 ? 0 : token_is_black_ | is_black_;
    MPI_Send(&black, 1, MPI_INT, (rank_ + 1) % ranks_, token, MPI_COMM_WORLD);
    has_gone_round_ = true;
    has_token_ = false;
    is_black_ = 0;
  }

  /// Answers requests until no rank waits for an answer any more.
  void leave() {
    MPI_Request all = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &all);
    for (int have_left = 0; have_left == 0;) {
      take_messages();
      MPI_Test(&all, &have_left, MPI_STATUS_IGNORE);
    }
  }

  const uts_tree tree_;
  int rank_ = 0, ranks_ = 1;
  std::vector<uts_node> open_;  ///< the nodes to visit, the oldest first
  std::int64_t visited_ = 0;
  std::minstd_rand random_;
  bool is_waiting_ = false, is_done_ = false, has_token_ = false, has_gone_round_ = false;
  int token_is_black_ = 0, is_black_ = 0;
};

int main(int count, char** words) {
  const uts_tree tree = tree_of(count, words);
  MPI_Init(&count, &words);
  const std::int64_t visited = searcher(tree).run();
  std::int64_t all = 0;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Reduce(&visited, &all, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%lld\n", static_cast<long long>(all));
  MPI_Finalize();
}
