// SPDX-License-Identifier: Apache-2.0
// A node under hierarchical omission: it runs the whole entry by itself, and omits tasks whose results it
// receives.
//
// Its thread, the cluster thread, asks the workers here for a task now and then (runtime/shared/remote.hpp).
// Other tasks cost nothing. A task that was split off gets a name. From then on it is a unit, until its
// result arrives:
//   known      another node has sent the result: the task ends with it before it runs (omitted)
//   claimed    another node has announced that it runs the task: the unit waits here, and others run first
//   free       the cluster thread lets it run when a worker here is idle, the youngest first, and claims it
// A unit runs as a task of its own, made from the bytes of its arguments. So its result exists in bytes and
// can be sent to all nodes. A result that arrives while the unit runs cuts it.
//
// If all remaining units are claimed by others, the node asks these nodes for tasks (giving.cpp). It also
// asks if it began a construct with the second branch and has left the first branch to others. A task that it
// receives is a unit as well, and its result is sent to the giver.
//
// If the node receives nothing for long, it helps: it also runs units that others have claimed, but their
// tasks in the reverse order, so that it meets the claimant in the middle. So the entry ends here even if all
// other nodes and messages are lost: a claim only delays (node_options::before_helping).
//
// Exceptions: on each node an entry ends as its own call ends there, or returns what another node's call has
// returned. A unit that throws here ends the task that waits for it by that exception. The exception is not
// sent to other nodes, because each of them runs that task itself. So if only one exception is possible, all
// nodes throw it. If several branches of an entry throw, nodes may throw different exceptions. A program that
// returns in spite of some exceptions must return the same value for each of them.
//
// The node asks its workers for these tasks (order.cpp):
//   - at the beginning of an entry: those of the planned start
//   - in a unit that it helps: the oldest task at each level
//   - for a node without work: the oldest task
//   - if a claim or a result shows that another node works inside a task that also runs here: the oldest
//     tasks, until several in a row are known to no other node
//   - one every tick, so that most of a long task has been sent before this node dies
//
// A node that joins later begins with the first entry, too (joining.cpp). It receives the results of the
// entries that have ended, and the known results of the running one. If those are many, it asks for the rest
// in each entry. Until it meets another node in an entry, or ends one first, it follows no plan. If no other
// node is ahead of it, it helps first, so it meets the others in the middle.
//
// Source: cluster.md of the design, sections 5 and 6. Every node gets every report; topics are not used.
#pragma once

#include "entry/ending.hpp"
#include "entry/event_queue.hpp"
#include "entry/node_base.hpp"
#include "hope/announcements.hpp"
#include "hope/claims.hpp"
#include "hope/entry_results.hpp"
#include "hope/looks.hpp"
#include "hope/messages.hpp"
#include "hope/named_task.hpp"
#include "hope/plan.hpp"
#include "hope/questions.hpp"
#include "hope/result_store.hpp"
#include "hope/work_requests.hpp"
#include "protocol/messages.hpp"
#include "transport/transport.hpp"

#include <sukima/cluster.hpp>
#include <sukima/suspend.hpp>

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sukima::cluster::hope {

/// A node that leaves gives up after this time without progress.
inline constexpr std::chrono::seconds leaving_time{2};

struct node_options {
  std::uint64_t seed = 1;  ///< of the choice which unit is helped
  std::chrono::seconds meeting_time{30};  ///< until all nodes must have arrived
  /// How long an idle node requests work before it starts units claimed by others. The node adds
  /// longest_way(), because a result may be on its way.
  std::chrono::microseconds before_helping{20000};
  /// How long the node is idle before it begins a unit that was left to others: a worker may be about to take
  /// a task that has just become ready.
  std::chrono::microseconds before_going_on{4000};
  /// Largest age of a unit that this node stops in favour of a lower node that runs it, too. It stops an
  /// older unit only in favour of a node that began it earlier.
  std::chrono::microseconds yields_within{4000};
  /// Shortest duration of a unit whose result is sent. Results of shorter units are sent only if two nodes
  /// met at the unit.
  std::chrono::microseconds before_announcing{2000};
  /// Delay before a running unit is announced. Most units end sooner, and are announced once, at their end.
  std::chrono::microseconds before_claiming{10000};
  /// At least one task is named in that time for each other living node. Its result is sent to all of them,
  /// so the cost of sending does not depend on their number.
  std::chrono::microseconds tick{1500};
  /// Bytes of results that are kept, and of the results of past entries where nodes may join.
  std::size_t memory = std::size_t{64} << 20;
  /// The node joins a run: in the first entry that it computes it follows no plan.
  bool joins = false;
  /// The largest number of nodes that send to each other without mediators. The same on all nodes.
  unsigned most_direct = most_without_mediators;
  /// Nodes are in different entries: called once by the cluster thread. It must not return.
  std::function<void(const run_failure&)> on_failure{};
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

  /// Runs the next entry, which ends when its own call has returned, or another node has sent its result.
  /// \throws what the call throws here
  void run(detail::cluster_entry& called);
  counts statistics() const { return counters_.all(); }

 private:
  struct root_task;
  struct unit;
  /// An entry, as the thread that runs it waits for it.
  struct active_entry {
    detail::cluster_entry* called;
    resumer waiting{};
    std::exception_ptr error{};
    std::optional<entry_value> received{};  ///< another node's result; nothing: the call has ended here
  };
  /// A task of this node's that was split off and waits for its unit.
  struct given_task {
    unit* of = nullptr;
    resumer giver{};  ///< the fiber that it was split off from, where that waits; or empty
    std::optional<task_key> helping{};  ///< the unit that is helped further when that fiber goes on
    node_group began{};  ///< the ranks that the plan led to that unit; none: it is helped
  };
  /// An event that a worker leaves for the cluster thread.
  struct event {
    enum class type : std::uint8_t { begins, answered, unanswered, began, aborted, ended } kind;
    active_entry* entry = nullptr;
    detail::task* t = nullptr;
    unit* of = nullptr;  ///< null: the entry's own call
    resumer giver{};  ///< or the fiber that has begun a task and waits
    std::uint64_t id = 0;
    outcome how = outcome::ok;
    bytes content{};
    std::exception_ptr error{};
  };
  enum class purpose : std::uint8_t { plan, help, look, give, tick };
  /// A fiber whose second branch is done, and whose first one is left to others for now.
  struct held_giver {
    resumer giver;
    task_key within;  ///< the unit, or the entry, that it belongs to
    node_group began;  ///< the ranks that the plan led there; none: it is helped
  };
  /// The claimant of a unit that begins here: this node, announced at once or after a while; or another node.
  enum class claim_as : std::uint8_t { mine_announced, mine, of_another };
  /// The result of an entry, after its name, and the node that has it.
  struct named_result {
    byte_view content;
    node_id of;
  };
  /// The state of a named task.
  enum class standing : std::uint8_t { known, under_way, of_no_interest };

  // Any thread.
  static void run_root(detail::task* t, context c);
  static void run_unit(detail::task* t, context c);
  /// Reports that a worker begins a task. \param waits  whether it continues only when the cluster thread has
  ///                                                    asked for what the plan divides next
  void report_begun(unit* u, bool waits, context c);

  // remote_node: workers.
  void answered(detail::task* t) noexcept override;
  void answered_by_waiting(detail::task& t, resumer of_giver) noexcept override;
  void unanswered() noexcept override;
  void idle() noexcept override;
  void aborted(std::uint64_t id) noexcept override;
  void ended(detail::received_task& done_task) noexcept override;

  // For the cluster thread.
  // node.cpp: the loop, entries
  void meet();
  void serve();
  void turn();
  void take_event(event& e);
  void begin_entry(active_entry& e);
  void root_ended(event& e);
  void end_entry();
  void conclude_if_over();
  clock::time_point next_turn() const;
  /// Returns the first invariant of units and given tasks that does not hold, as a sentence, or null
  /// (node_invariants.cpp).
  const char* violated_invariant() const;
  // joining.cpp: nodes that join while the others run
  void on_joined(node_id joined) override;
  void begin_as_newcomer();
  /// Whether another node has been in an entry after the active one.
  bool is_behind() const;
  /// Adapts this node's patience to the number of living nodes.
  void follow_number();
  // exchange.cpp: the messages of other nodes
  void on_message(node_id from, byte_view message) override;
  /// Takes a note. \param from  the node that has written it
  void receive_note(node_id from, byte_view message);
  void on_left(node_id gone) override;
  void on_lost(node_id gone, const std::string& why) override;
  void take_note(node_id from, const note& n);
  void take_claim(node_id from, const note& n);
  void take_result(node_id from, const note& n);
  void take_entry_result(node_id from, const note& n);
  /// Ends all nodes unless both results of an entry, with their names, are of one call.
  void compare_entries(std::uint64_t entry, named_result one, named_result other);
  /// Ends the active entry with another node's result. \returns false: it is malformed
  bool take_value(const entry_value& value);
  void answer(node_id from, const note& n);
  void answer_question(node_id from, const result_name& name);
  /// Sends a result, if it is known here. \returns false: it is not
  bool send_known(node_id to, const result_name& name);
  /// Sends a result to a node that lacks it, again later if there is no room for it now.
  void send_result(node_id to, const note& n);
  void send_entry_result(node_id to, std::uint64_t entry, const entry_value& value);
  // units.cpp: the life of a unit
  static unit& unit_of(const detail::received_task& t) noexcept;
  /// The unit that a task was split off from, or the entry. Linear in the number of its ancestors.
  task_key within(const detail::task& t) const;
  void name(detail::task& named, resumer giver, purpose asked);
  unit* find(const task_key& key) const;
  /// \pre there is none of that name
  unit& new_unit(const task_key& key, const task_key& within, const detail::travel_form& form,
                 bytes arguments);
  /// Lets it run here. \param how  the claimant, and whether the claim is sent at once
  void start(unit& u, claim_as how);
  /// Takes back a delivered unit that no worker has begun, because all have other work. It is free again,
  /// also for other nodes; or it ends, if it was cancelled.
  /// \returns false: it is the entry's own call
  bool take_back(detail::received_task& t);
  void announce_claim(unit& u);
  note claim_of(const unit& u) const;
  void announce_due_claims();
  void unit_ended(event& e);
  /// Ends all tasks that wait for it.
  void settle(unit& u, byte_view result);
  /// Ends a unit that has thrown here.
  void fail(unit& u, std::exception_ptr error);
  /// The unit is not needed any more: forgets it unless it runs. Tasks wait for it only after the end of the
  /// entry; they run here.
  void drop(unit& u);
  /// A task that waits for its unit runs after all: to its end below a shield and in a destructor; another
  /// one, whose entry has ended, finds itself aborted before it begins.
  void run_here(std::uint64_t id);
  void forget_task(std::uint64_t id);
  void finish(std::uint64_t id, detail::given_outcome how);
  void stop(unit& u);
  void unclaim(unit& u);
  void erase(unit& u);
  /// Whether the entry's own call, or a unit, runs here and is not left to others.
  bool is_running(const task_key& key) const;
  // order.cpp: which tasks the node asks for, and which unit runs next
  void begin_plan();
  void ask_here();
  /// Lets a fiber continue that waits for the next question of the plan.
  void ask_and_resume(resumer waiting);
  /// Withdraws the question of a plan that has ended.
  void withdraw_question_of_plan();
  /// Returns from when on a question may take back units that no worker has begun.
  clock::time_point may_take_back() const;
  std::optional<purpose> next_purpose(clock::time_point now) const;
  void answer_came(event& e);
  void nothing_came(purpose asked);
  /// Continues after a task was named. \param u null: its result is known, and it has ended
  void place(unit* u, standing found, std::uint64_t id, purpose asked);
  void place_in_plan(unit* u, std::uint64_t id);
  /// Takes over the units of a lost node, if this node is the next of the ranks that began there.
  void inherit();
  void help(const task_key& key);
  void let_giver_go(std::uint64_t id);
  void place_began(unit* u);
  /// Records that a worker runs the entry, or a unit, from now on.
  void goes_on(const task_key& key);
  /// Notes that another node has announced a task that has no name here.
  void add_announced(const note& n);
  /// The units, or the entry, that workers here are in the middle of. Linear in the number of units.
  std::vector<task_key> worked_on() const;
  /// Returns which notes this node needs from mediators: notes about its units, and about tasks within the
  /// units that it works on.
  interest subscription() const;
  /// Whether others have announced tasks within a unit that workers here run.
  bool is_worth_a_look() const;
  bool has_room_for_units() const noexcept;
  bool is_idle() const noexcept;
  void run_next();
  /// Whether a unit neither runs here nor is claimed by others.
  bool is_free(const unit& u) const;
  unit* youngest_free() const;  ///< null: none is free
  /// Returns the units that others claim and that do not run here, the oldest first.
  std::vector<unit*> units_left_to_others() const;
  /// Asks another node for work, or begins a unit that others claimed long ago.
  void find_work();
  // giving.cpp: tasks for nodes that have none
  void takes_request(node_id from);
  void give_to_others();
  void give(const unit& u, node_id to);
  void nothing_to_give(clock::time_point now);
  void have_none();
  void take_given(node_id from, const note& n);
  void let_held_go(std::size_t number);
  /// Continues a held fiber whose other nodes are all lost. \returns false: there is none
  bool let_inherited_go();
  void let_all_held_go(const task_key& within);

  const node_options chosen_;

  counters counters_;
  event_queue<event> events_{*transport_};

  // For the cluster thread.
  std::uint64_t entry_ = 0;  ///< the number of the active entry, or of the last one
  active_entry* active_ = nullptr;
  root_task* root_ = nullptr;  ///< until it has ended
  clock::time_point root_goes_on_;  ///< as a unit's `goes_on`
  bool is_over_ = false;  ///< no result of the active entry is needed any more
  entry_results entry_results_;
  bool is_newcomer_;  ///< it has joined, and may be in an entry that the others have ended
  bytes entry_name_;  ///< of the active entry, or of the last one
  std::vector<std::pair<node_id, bytes>> early_;  ///< notes of entries that have not begun here
  std::size_t early_size_ = 0;
  announcements others_;
  questions questions_;
  result_store store_;
  claims claims_;
  std::unordered_map<task_key, std::unique_ptr<unit>, task_key_hash> units_;
  std::unordered_map<std::uint64_t, given_task> given_;
  std::uint64_t last_number_ = 0;  ///< of units
  unsigned unbegun_ = 0;  ///< delivered, the entry's own call, too, and not begun by a worker
  clock::time_point delivered_;  ///< when one was last
  std::mt19937_64 draws_;
  work_requests requests_;
  std::deque<node_id> asking_;  ///< nodes that have nothing to do, and have got no answer
  clock::time_point give_again_;  ///< when something is looked for again for them
  clock::time_point give_until_;  ///< the time at which they are refused
  std::vector<held_giver> held_;

  // What is asked for.
  std::optional<purpose> asked_for_;  ///< an answer is awaited
  clock::time_point resumed_;  ///< when a fiber was last that had waited for a question
  bool holds_giver_ = false;  ///< the fiber that answers waits until its second branch is done
  std::optional<task_key> helping_;  ///< the unit, or the entry, whose tasks are asked for in reverse order
  plan plan_;
  looks looks_;
  unsigned failures_ = 0;  ///< times that the plan or a help got nothing, in a row
  clock::time_point not_before_;  ///< for asking again after that
  clock::time_point next_tick_;
  walk_pace walks_;
};

/// The entry's own call.
struct node::root_task : detail::received_task {
  node* owner = nullptr;
  detail::cluster_entry* called = nullptr;
  bool began = false;  ///< for the cluster thread
  bool waits = false;  ///< as a unit's
};

/// A task with a name.
struct node::unit {
  node* owner = nullptr;
  task_key key{};
  task_key within{};  ///< the unit that it was split off from, or the entry
  std::uint64_t number = 0;  ///< the youngest has the highest
  const detail::travel_form* form = nullptr;
  bytes arguments;
  std::vector<std::uint64_t> waiting;  ///< this node's tasks of that name
  void (*run)(detail::task*, context) = nullptr;  ///< of the task below, by its form
  detail::received_task* running = nullptr;  ///< delivered, and not ended
  clock::time_point since;  ///< when it was delivered
  clock::time_point goes_on;  ///< when a worker has begun it, or has gone on where it was left to others
  /// The node that waits for its result: it has given the unit, or the plan leaves the unit to this node.
  std::optional<node_id> given_by;
  bool began = false;  ///< a worker has begun it
  bool waits = false;  ///< the worker that begins it waits for the next question of the plan
  bool is_mine = false;  ///< no other node should run it
  bool is_claimed = false;  ///< this node has announced that
  bool is_stopped = false;  ///< it was cancelled
};

}  // namespace sukima::cluster::hope
