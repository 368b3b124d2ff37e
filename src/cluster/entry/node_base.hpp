// SPDX-License-Identifier: Apache-2.0
// The common base of nodes that steal and nodes under hierarchical omission: a runtime, a transport, and the
// thread that connects them.
#pragma once

#include "entry/forms.hpp"
#include "entry/solution_board.hpp"
#include "transport/cluster_thread.hpp"
#include "transport/transport.hpp"

#include <runtime/shared/remote.hpp>

#include <sukima/cluster/best_solution.hpp>

#include <memory>
#include <utility>

namespace sukima::cluster {

class node_base : protected receiver, protected sukima::detail::remote_node {
 public:
  node_base(const node_base&) = delete;
  node_base& operator=(const node_base&) = delete;
  node_id id() const noexcept { return self_; }
  unsigned nodes() const noexcept { return nodes_; }
  /// Ends the thread, which first sends the waiting messages. A second call does nothing. The destructor of a
  /// derived class must call this first.
  /// \pre no entry is active
  void end() {
    solutions_.on_news({});
    thread_.stop(*transport_);
  }

 protected:
  /// \param solutions  solution board; null: the board of this process
  node_base(runtime& workers, std::unique_ptr<transport> by, sukima::detail::solution_board* solutions)
      : workers_(workers),
        transport_(std::move(by)),
        solutions_(solutions != nullptr ? *solutions : sukima::detail::own_solution_board()),
        nodes_(transport_->nodes()) {}
  ~node_base() = default;

  /// Starts the cluster thread, which calls meet() and then serve(). The constructor of a derived class must
  /// call this last.
  /// \throws what meet() throws
  template <class Meet, class Serve> void begin(Meet meet, Serve serve) {
    thread_.start(std::move(meet), std::move(serve));
    solutions_.on_news([this] { transport_->ring(); });
  }
  /// Whether serve() must return.
  bool is_ending() const noexcept { return thread_.is_stopping(); }

  runtime& workers_;
  const std::unique_ptr<transport> transport_;
  const form_table forms_;
  sukima::detail::solution_board& solutions_;
  node_id self_ = 0;
  const unsigned nodes_;

 private:
  cluster_thread thread_;
};

}  // namespace sukima::cluster
