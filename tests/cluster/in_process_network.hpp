// SPDX-License-Identifier: Apache-2.0
// A network between nodes in one process. Messages are delayed at random. Messages of different pairs
// overtake each other.
#pragma once

#include "transport/transport.hpp"

#include <memory>

namespace sukima::cluster {

/// The network between the nodes of one process.
class in_process_network {
 public:
  struct options {
    unsigned nodes = 2;
    std::uint64_t seed = 1;  ///< of the delays
    std::chrono::microseconds longest_delay{200};  ///< most messages take less time; 0: no delays
    bool is_sparse = false;  ///< as in transport_limits: nodes request tasks only from some others
  };
  explicit in_process_network(const options& chosen);
  ~in_process_network();
  in_process_network(const in_process_network&) = delete;
  in_process_network& operator=(const in_process_network&) = delete;

  /// Returns the transport of one node. It may outlive this object.
  /// \param node below options::nodes; each number once
  std::unique_ptr<transport> join(node_id node);
  /// Simulates that the process of a node is killed: it sends and receives nothing more, and the others lose
  /// it.
  void kill(node_id node);

  struct shared_state;  ///< in_process_network.cpp

 private:
  std::shared_ptr<shared_state> state_;
};

}  // namespace sukima::cluster
