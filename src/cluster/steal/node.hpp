// SPDX-License-Identifier: Apache-2.0
// A node that steals connects a runtime with a transport. Its thread, the cluster thread, sleeps until a
// message or a worker wakes it. While a worker here is idle, the cluster thread requests tasks from other
// nodes. When another node requests a task, the cluster thread requests one from the workers here: by a
// single request for a message `request`, by a standing request for lifelines. Only this thread uses the
// transport and the members below "For the cluster thread".
//
// Entries have the same numbers on all nodes, starting with 1. An entry ends when its function returns on
// node 0. At that time no task of the entry runs anywhere, because the owner of a task that was given away
// waits for its result. The result of an entry contains the name of the function that node 0 called. A node
// that calls another function ends all nodes.
#pragma once

#include "entry/ending.hpp"
#include "entry/event_queue.hpp"
#include "entry/node_base.hpp"
#include "protocol/messages.hpp"
#include "steal/lifelines.hpp"
#include "steal/outbox.hpp"
#include "steal/past_results.hpp"
#include "steal/small_tasks.hpp"
#include "steal/thief.hpp"
#include "transport/transport.hpp"

#include <sukima/cluster.hpp>
#include <sukima/suspend.hpp>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace sukima::cluster {

struct node_options {
  std::uint64_t seed = 1;  ///< of the random order in which nodes receive requests
  std::chrono::seconds meeting_time{30};  ///< time within which all nodes must arrive
  /// Called by the cluster thread, or the program's, if this node cannot continue. It must not return.
  std::function<void(const run_failure&)> on_failure;
  /// Called in the same way, with the node's counters, after this node was requested to leave and has left.
  std::function<void(const traffic&)> on_own_leaving;
  bool joins = false;  ///< the other nodes are running already
  /// On node 0: the most bytes for results of entries, kept for nodes that join.
  std::size_t most_kept = std::size_t{64} << 20;
  sukima::detail::solution_board* solutions = nullptr;  ///< null: the board of the process
};

// Long: all work of the cluster thread in one place; its methods share the state of one entry.
class node final : public node_base {
 public:
  /// Meets the other nodes. \throws start_failure the nodes do not meet
  node(runtime& workers, std::unique_ptr<transport> by, node_options chosen);
  /// Notifies the others that this node leaves. \pre no entry is active
  ~node();
  node(const node&) = delete;
  node& operator=(const node&) = delete;

  /// Runs the next entry: node 0 makes the call, the other nodes help and take the result.
  /// \throws what the call throws, or remote_exception
  void run(detail::cluster_entry& entry);
  traffic statistics() const;

 private:
  /// An event that a worker posts for the cluster thread.
  struct event {
    enum class type : std::uint8_t { answered, aborted, ended, entry_over, differs } kind;
    detail::task* t = nullptr;
    std::uint64_t id = 0;
    outcome how = outcome::ok;
    bytes content{};
    bytes solutions{};  ///< of an entry that ends: copied, because the next entry may begin before it is sent
  };
  /// A request by another node.
  struct task_request {
    std::uint32_t entry;  ///< the entry that the other node is in
    std::uint64_t number;  ///< the number of the request
  };
  /// A task that was given away.
  struct away {
    node_id where;
    clock::time_point since;
  };
  /// A task received from another node.
  struct stolen_task {
    detail::received_task* t;
    clock::time_point since;
  };
  struct early_solutions {
    std::uint32_t entry;
    bytes content;
  };

  // Any thread.
  void run_here(detail::cluster_entry& entry);
  void help(detail::cluster_entry& entry);
  /// Ends all nodes, because this node and node 0 called different functions in one entry.
  [[noreturn]] void end_differing(const std::string& sentence);

  // remote_node: workers.
  void answered(detail::task* t) noexcept override;
  void unanswered() noexcept override;
  void idle() noexcept override;
  void aborted(std::uint64_t id) noexcept override;
  void ended(detail::received_task& done_task) noexcept override;

  // For the cluster thread.
  void meet();
  void serve();
  void on_message(node_id from, byte_view bytes_of_message) override;
  void on_left(node_id gone) override;
  void on_lost(node_id gone, const std::string& why) override;
  void on_leave_request() override;
  void on_joined(node_id joined) override;
  std::string obstacle_to_joining() override;
  void take_event(event& e);
  void take_task(node_id from, const message& m);
  /// Handles the result of a task that was given away, or the message that the task was declined.
  void take_result(node_id from, const message& m);
  /// Runs a task here that was given away, but not begun by the other node. \returns false: this node has not
  /// given away such a task
  bool take_back(std::uint64_t id);
  /// Takes back the tasks that a node had not begun when it left. \returns false: it had begun some of them
  bool take_back_from(node_id gone);
  /// Stops exchanging tasks with that node.
  void leave_out(node_id other);
  /// Leaves if the others were notified, this node has no task of others, and its program waits for a result.
  void leave_when_done();
  /// Whether all messages on which the other nodes depend were sent, or will be sent.
  bool all_is_sent() const;
  void take_entry(const message& m);
  /// Sends a node that joins the results of earlier entries. \pre this is node 0
  void welcome(node_id joined);
  /// Sends results of entries that have ended, as many as fit into one answer. \pre they are kept
  void send_past(node_id to, std::uint32_t first, std::uint32_t last);
  void take_welcome(node_id from, const message& m);
  void answer_missing(node_id from, const message& m);
  /// Whether this node joined after the end of that entry, or does not know that yet.
  bool is_behind(std::uint32_t entry) const { return !is_welcome_ || entry <= ended_before_; }
  /// Requests the result of an entry that ended before this node joined from node 0, unless it is under way.
  void ask_for_result(std::uint32_t entry);
  /// Whether the run continues without a lost node: that node joined, and has no task of this node.
  bool goes_on_without(node_id gone) const;
  void ask_others();
  void look_for_idle_workers();
  void ask_here();
  void give(detail::task& given);
  void refuse(node_id asker, const task_request& asked);
  void refuse_all();
  void send(node_id to, const message& m);
  void send_solutions(node_id to, const sukima::detail::solution_snapshot& known);
  void send_solutions_if_new();
  void take_solutions(node_id from, std::uint32_t entry, byte_view solutions);
  /// Takes another node's solutions, or stores them until this node begins their entry.
  void take_best(node_id from, const message& m);
  void take_early_solutions(std::uint32_t entry);
  clock::time_point next_look() const;
  void end_all(const run_failure& why);
  /// Ends all nodes if node 0 left before the result of the active entry arrived, or before that entry began
  /// here.
  void look_for_node_0();
  /// Returns the entry whose result the program here waits for; 0: none. The answer is valid until this
  /// thread takes a result.
  std::uint32_t awaited_entry();
  void end_without(node_id gone, std::uint32_t entry);
  /// Sends the waiting messages. Gives up on each node that takes no byte for a while.
  void wait_for_leaving();

  const node_options chosen_;
  /// The number of the active entry; 0: none. Stored by the thread in run(), which then rings. Sequentially
  /// consistent, as rings require it (transport/tcp_transport.hpp). pairs with: run, run_here, help, idle,
  /// next_look; ask_others, ask_here, give in asking.cpp; take_entry in exchange.cpp; awaited_entry in
  /// leaving.cpp
  std::atomic<std::uint32_t> active_entry_{0};
  // Reports of workers since the last check by the cluster thread. A worker that sets one rings. Sequentially
  // consistent for the same reason.
  std::atomic<bool> idle_reported_{false};  ///< pairs with: idle, run, look_for_idle_workers
  std::atomic<bool> unanswered_reported_{false};  ///< pairs with: unanswered, ask_here

  event_queue<event> events_{*transport_};

  mutable std::mutex lock_;  ///< guards the members below
  std::map<std::uint32_t, entry_result> results_;  ///< results of entries that this node has not left yet
  resumer helper_;  ///< resumes the program, which waits for the result of the active entry
  traffic statistics_;

  std::uint32_t entries_ = 0;  ///< number of entries so far; only for the thread that calls run()

  // For the cluster thread.
  const bool is_sparse_;  ///< as in transport_limits
  thief thief_;
  std::map<node_id, task_request> requests_;  ///< nodes that wait for a task, with their requests
  lifelines lifelines_;  ///< lifelines of other nodes
  small_tasks small_tasks_{0};
  std::uint32_t entry_seen_ = 0;  ///< the last value of active_entry_ that the cluster thread has seen
  std::uint32_t last_begun_ = 0;  ///< the last entry that the cluster thread has seen begin
  /// The latest solutions that each node sent in an entry that has not begun here.
  std::map<node_id, early_solutions> early_solutions_;
  enum class asking : std::uint8_t { nothing, once, standing } asking_here_ = asking::nothing;
  std::map<std::uint64_t, away> given_;
  std::map<std::pair<node_id, std::uint64_t>, stolen_task> received_;
  outbox outbox_;
  std::vector<bool> gone_;
  std::vector<bool> leaving_;  ///< nodes, including this one, that have announced that they leave
  std::vector<bool> has_talked_to_;  ///< other nodes with which this node has exchanged a message
  bool has_left_ = false;  ///< this node has left, and drops all messages that arrive
  bool has_met_ = false;
  std::vector<bool> has_joined_;  ///< other nodes that joined after the start of the run
  past_results past_;  ///< on node 0, if nodes may join
  // For a node that joins.
  bool is_welcome_;  ///< this node knows how many entries had ended; a node of the start knows: none
  std::uint32_t ended_before_ = 0;  ///< number of entries that had ended before this node joined
  std::uint32_t promised_until_ = 0;  ///< the last of these whose result arrives without another request
  clock::time_point next_solutions_;  ///< the earliest time at which solutions are sent without a result
};

}  // namespace sukima::cluster
