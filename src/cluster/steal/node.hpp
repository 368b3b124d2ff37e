// SPDX-License-Identifier: Apache-2.0
// A node connects a runtime with a transport. Its thread, the cluster thread, sleeps until a message or a
// worker wakes it. It asks other nodes while a worker here is idle. It asks the workers here when another
// node wants a task: by a single request for a request, by a standing request for lifelines. Only this thread
// uses the transport and the members below "For the cluster thread".
//
// Entries have the same numbers on all nodes, from 1. An entry ends when its function returns on node 0. At
// that time no task of it is under way anywhere, because the owner of a task that was given away waits for
// its result. The result carries the name of the function that node 0 called. A node that calls another
// function ends all nodes.
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
  std::uint64_t seed = 1;  ///< of the order in which nodes are asked
  std::chrono::seconds meeting_time{30};  ///< until all nodes must have arrived
  /// Called once by the cluster thread if this node cannot continue. It must not return.
  std::function<void(const run_failure&)> on_failure;
  /// Called in the same way when this node was asked to leave and has left, with its counts.
  std::function<void(const traffic&)> on_own_leaving;
  bool joins = false;  ///< the others run already
  /// On node 0: the bytes that results of entries may take that are kept for nodes that join.
  std::size_t most_kept = std::size_t{64} << 20;
  sukima::detail::solution_board* solutions = nullptr;  ///< null: that of the process
};

// Long: what the cluster thread does in one place; its methods share the state of one entry.
class node final : public node_base {
 public:
  /// Meets the other nodes. \throws start_failure
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
  /// An event that a worker leaves for the cluster thread.
  struct event {
    enum class type : std::uint8_t { answered, aborted, ended, entry_over, differs } kind;
    detail::task* t = nullptr;
    std::uint64_t id = 0;
    outcome how = outcome::ok;
    bytes content{};
    bytes solutions{};  ///< of an entry: its own, as the next one may begin before this is sent
  };
  /// A request of another node.
  struct wish {
    std::uint32_t entry;  ///< that it is in
    std::uint64_t number;  ///< of the request
  };
  /// A task that was given away.
  struct away {
    node_id where;
    clock::time_point since;
  };
  /// A task of another node.
  struct guest {
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
  /// Ends all nodes, because node 0 called another function in the entry of that number.
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
  /// Takes the result of a task that was given away, or the message that it was declined.
  void take_result(node_id from, const message& m);
  /// Lets a task run here that was given away and not begun there. \returns false: this node has not given
  /// such a task away
  bool take_back(std::uint64_t id);
  /// Takes back the tasks that a node had not begun when it left. \returns false: it had begun some
  bool take_back_from(node_id gone);
  /// Neither asks that node nor gives it tasks any more.
  void leave_out(node_id other);
  /// Leaves if the others were notified, this node has no task of others, and its program waits for a result.
  void leave_when_done();
  /// Whether the others have, or will get, the messages of this node on which they depend.
  bool all_is_sent() const;
  void take_entry(const message& m);
  /// Sends a node that joins what has happened before. \pre this is node 0
  void welcome(node_id joined);
  /// Sends results of entries that have ended, as many as one answer holds. \pre they are kept
  void send_past(node_id to, std::uint32_t first, std::uint32_t last);
  void take_welcome(node_id from, const message& m);
  void answer_missing(node_id from, const message& m);
  /// Whether this node joined after the end of that entry, or does not know that yet.
  bool is_behind(std::uint32_t entry) const { return !is_welcome_ || entry <= ended_before_; }
  /// Asks node 0 for the result of an entry that ended before this node joined, unless that result is under
  /// way.
  void ask_for_result(std::uint32_t entry);
  /// Whether the run continues without a lost node: it joined, and has no task of this node.
  bool goes_on_without(node_id gone) const;
  void ask_others();
  void look_for_idle_workers();
  void ask_here();
  void give(detail::task& given);
  void refuse(node_id asker, const wish& asked);
  void refuse_all();
  void send(node_id to, const message& m);
  void send_solutions(node_id to, const sukima::detail::solution_snapshot& known);
  void send_solutions_if_new();
  void take_solutions(node_id from, std::uint32_t entry, byte_view solutions);
  /// Takes another node's solutions, or keeps them until this node begins their entry.
  void take_best(node_id from, const message& m);
  void take_early_solutions(std::uint32_t entry);
  clock::time_point next_look() const;
  void end_all(const run_failure& why);
  /// Ends all nodes if node 0 left before the result of the active entry came, or before that entry began
  /// here.
  void look_for_node_0();
  /// Returns the entry whose result the program here waits for; 0: none. The answer stays the same until this
  /// thread takes a result.
  std::uint32_t awaited_entry();
  void end_without(node_id gone, std::uint32_t entry);
  /// Sends the waiting messages. Gives up each node that takes nothing for a while.
  void wait_for_leaving();

  const node_options chosen_;
  /// 0: none. Stored by the thread in run(), which then rings. Sequentially consistent, as rings need it
  /// (transport/tcp_transport.hpp). Partners: the cluster thread, after its wait; idle().
  std::atomic<std::uint32_t> active_entry_{0};
  // Reports of workers since the cluster thread looked. A worker that sets one rings. The order is that of
  // above.
  std::atomic<bool> idle_reported_{false};  ///< partners: idle(), run(), look_for_idle_workers
  std::atomic<bool> unanswered_reported_{false};  ///< partners: unanswered(), ask_here

  event_queue<event> events_{*transport_};

  mutable std::mutex lock_;  ///< guards the next ones
  std::map<std::uint32_t, entry_result> results_;  ///< of entries that this node has not left yet
  resumer helper_;  ///< waits for the result of the active entry
  traffic statistics_;

  std::uint32_t entries_ = 0;  ///< so far; only for the thread that calls run()

  // For the cluster thread.
  const bool is_sparse_;  ///< as in transport_limits
  thief thief_;
  std::map<node_id, wish> wanting_;  ///< nodes that wait for a task
  lifelines lifelines_;  ///< of other nodes
  small_tasks small_tasks_{0};
  std::uint32_t entry_seen_ = 0;  ///< of active_entry_
  std::uint32_t last_begun_ = 0;  ///< the last entry that active_entry_ showed
  /// The latest solutions that each node sent in an entry that has not begun here.
  std::map<node_id, early_solutions> early_solutions_;
  enum class asking : std::uint8_t { nothing, once, standing } asking_here_ = asking::nothing;
  std::map<std::uint64_t, away> given_;
  std::map<std::pair<node_id, std::uint64_t>, guest> received_;
  outbox outbox_;
  std::vector<bool> gone_;
  std::vector<bool> leaving_;  ///< the nodes, this one included, that have announced that they leave
  std::vector<bool> has_talked_to_;  ///< the others with which it has exchanged a message
  bool has_left_ = false;  ///< this node: whatever arrives is dropped
  bool has_met_ = false;
  std::vector<bool> has_joined_;  ///< the others that were not there at the start of the run
  past_results past_;  ///< node 0, if nodes may join
  // Of a node that joins.
  bool is_welcome_;  ///< it knows how many entries had ended; others know that none had
  std::uint32_t ended_before_ = 0;  ///< how many entries had ended
  std::uint32_t promised_until_ = 0;  ///< the last of these whose result arrives without another question
  clock::time_point next_solutions_;  ///< the earliest time at which solutions are sent without a result
};

}  // namespace sukima::cluster
