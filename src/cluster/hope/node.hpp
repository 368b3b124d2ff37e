// SPDX-License-Identifier: Apache-2.0
// A node under hierarchical omission: it runs the whole entry itself, and omits the tasks whose results it
// receives.
//
// Its thread, the cluster thread, requests a task from the workers here from time to time
// (runtime/shared/remote.hpp). Other tasks cost nothing. A task that was split off gets a name. From then on
// it is a unit, until its result arrives:
//   known      another node has sent the result: the task ends with it and does not run (omitted)
//   claimed    another node has announced that it runs the task: the unit waits, and others run first
//   free       the cluster thread starts and claims it when a worker here is idle, the youngest unit first
// A unit runs as a separate task, made from the bytes of its arguments. So its result exists as bytes and
// can be sent to all nodes. If a result arrives while the unit runs, the unit is cut: it is stopped.
//
// If all remaining units are claimed by others, the node requests tasks from these nodes (giving.cpp). It
// also does so if it began a construct with the second branch and has left the first branch to others. A task
// that it receives is also a unit, and its result is sent to the giver.
//
// If the node receives no task for a long time, it helps: it also runs units that others have claimed, but
// runs their tasks in the reverse order, so that it meets the claimant in the middle. So the entry ends here
// even if all other nodes and messages are lost, because a claim only delays (node_options::before_helping).
//
// Exceptions: on each node an entry ends in the same way as its own call there, or returns the value that
// another node's call has returned. If a unit throws here, the task that waits for it ends with that
// exception. The exception is not sent to other nodes, because each of them runs that task itself. So if only
// one exception is possible, all nodes throw it. If several branches of an entry throw, nodes may throw
// different exceptions. If a program returns a value in spite of some exceptions, the value must be the same
// for each of them.
//
// The node requests these tasks from its workers (order.cpp):
//   - at the beginning of an entry: the tasks of the planned start
//   - in a unit that it helps with: the oldest task at each level
//   - for a node without work: the oldest task
//   - if a claim or a result shows that another node works inside a task that also runs here: the oldest
//     tasks, until several consecutive ones are unknown to all other nodes
//   - one task every tick, so that most results of a long task were sent if this node dies
//
// A node that joins later begins with the first entry, too (joining.cpp). It receives the results of the
// entries that have ended, and the known results of the active entry. If there are many, it requests the
// others in each entry. Until it meets another node in an entry, or ends one first, it follows no plan. If no
// other node is ahead of it, it helps first, so that it meets the others in the middle.
//
// Source: cluster.md of the design, sections 5 and 6. In this implementation every node gets every report;
// topics are not used.
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

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sukima::cluster::hope {

/// A node that leaves gives up after this time without progress.
inline constexpr std::chrono::seconds leaving_time{2};

struct node_options {
  std::uint64_t seed = 1;  ///< seed of the random choices, such as which unit to help with
  std::chrono::seconds meeting_time{30};  ///< time within which all nodes must arrive
  /// How long an idle node requests work before it starts units claimed by others. The node adds
  /// longest_way(), because a result may be on its way.
  std::chrono::microseconds before_helping{20000};
  /// How long the node must be idle before it begins a unit left to others: a worker may be taking a task.
  std::chrono::microseconds before_going_on{4000};
  /// How long a delivered task waits for its worker to wake up. An earlier request would take it back.
  std::chrono::microseconds before_taking_back{4000};
  /// Largest age of a unit that this node stops in favour of a node with a lower number that runs it, too. It
  /// stops an older unit only in favour of a node that began it earlier.
  std::chrono::microseconds yields_within{4000};
  /// Shortest duration of a unit whose result is sent. The result of a shorter unit is sent only if two nodes
  /// met at the unit.
  std::chrono::microseconds before_announcing{2000};
  /// Delay before a running unit is announced. Most units end sooner, and only their results are announced.
  std::chrono::microseconds before_claiming{10000};
  /// With n other living nodes, at least one task is named in n ticks. Its result is sent to all of them, so
  /// the cost of sending does not depend on their number.
  std::chrono::microseconds tick{1500};
  /// Most bytes of stored results; also the limit for results of past entries if nodes may join.
  std::size_t memory = std::size_t{64} << 20;
  /// The node joins a run: in the first entry that it computes it follows no plan.
  bool joins = false;
  /// The largest number of nodes that send to each other without mediators. Equal on all nodes.
  unsigned most_direct = most_without_mediators;
  /// Called by any thread if nodes run different entries, or a result or task cannot be encoded or decoded
  /// here. It must not return.
  std::function<void(const run_failure&)> on_failure{};
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

  /// Runs the next entry. It ends when its own call has returned, or another node has sent its result.
  /// \throws what the call throws here
  void run(detail::cluster_entry& called);
  counts statistics() const { return counters_.all(); }

 private:
  struct root_task;
  struct unit;
  /// An entry, together with the thread that runs it and waits.
  struct active_entry {
    detail::cluster_entry* called;
    resumer waiting{};
    std::exception_ptr error{};
    std::optional<entry_value> received{};  ///< the result of another node; nothing: the call has ended here
  };
  /// A task of this node that was split off and waits for its unit.
  struct given_task {
    unit* of = nullptr;
    resumer giver{};  ///< the fiber that split it off, if that fiber waits; or empty
    std::optional<task_key> helping{};  ///< the unit to help with further when that fiber continues
    node_group began{};  ///< the ranks that the plan led to that unit; empty: this node helps with it
  };
  /// An event that a worker posts for the cluster thread.
  struct event {
    enum class type : std::uint8_t { begins, answered, unanswered, began, aborted, ended } kind;
    active_entry* entry = nullptr;
    detail::task* t = nullptr;
    unit* of = nullptr;  ///< null: the entry's own call
    resumer giver{};  ///< that of `given_task`, or the fiber that has begun a task and waits
    std::uint64_t id = 0;
    outcome how = outcome::ok;
    bytes content{};
    std::exception_ptr error{};
    bool is_unencodable = false;  ///< `error` was thrown while the result was encoded
  };
  enum class purpose : std::uint8_t { plan, help, look, give, tick };
  /// A fiber whose second branch has ended, while its first branch is left to others for now.
  struct held_giver {
    resumer giver;
    task_key within;  ///< the unit that contains it, or the entry
    node_group began;  ///< the ranks that the plan led there; empty: this node helps with it
  };
  /// The claimant of a unit that begins here: this node, with an announcement now or later, or another node.
  enum class claim_as : std::uint8_t { mine_announced, mine, of_another };
  /// The result of an entry, with the name of its function first, and the node that computed it.
  struct named_result {
    byte_view content;
    node_id of;
  };
  /// The state of a named task.
  enum class standing : std::uint8_t { known, under_way, of_no_interest };

  // Any thread.
  static void run_root(detail::task* t, context c);
  static void run_unit(detail::task* t, context c);
  /// Reports that a worker begins a task. \param waits  whether the worker waits until the cluster thread has
  ///                                                    requested the next task that the plan divides
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
  /// Whether another node has reached an entry after the active one.
  bool is_behind() const;
  /// Adapts this node's patience to the number of living nodes.
  void follow_number();
  // exchange.cpp: the messages of other nodes
  void on_message(node_id from, byte_view message) override;
  /// Takes a note. \param from  the node that wrote it
  void receive_note(node_id from, byte_view message);
  void on_left(node_id gone) override;
  void on_lost(node_id gone, const std::string& why) override;
  void take_note(node_id from, const note& n);
  void take_claim(node_id from, const note& n);
  void take_result(node_id from, const note& n);
  void take_entry_result(node_id from, const note& n);
  /// Compares the names in two results of one entry. If they differ, this node ends all nodes.
  void compare_entries(std::uint64_t entry, named_result one, named_result other);
  /// Ends the active entry with another node's result. \returns false: the result is malformed
  bool take_value(const entry_value& value);
  void answer(node_id from, const note& n);
  void answer_question(node_id from, const result_name& name);
  /// Sends a result, if it is known here. \returns false: it is unknown
  bool send_known(node_id to, const result_name& name);
  /// Sends a result to a node that lacks it. If there is no room for it now, sends it again later.
  void send_result(node_id to, const note& n);
  void send_entry_result(node_id to, std::uint64_t entry, const entry_value& value);
  // units.cpp: the life of a unit
  static unit& unit_of(const detail::received_task& t) noexcept;
  /// Returns the unit that a task was split off from, or the entry. Complexity: linear in the number of its
  /// ancestors.
  task_key within(const detail::task& t) const;
  void name(detail::task& named, resumer giver, purpose asked);
  unit* find(const task_key& key) const;
  /// \pre there is no unit of that name
  unit& new_unit(const task_key& key, const task_key& within, const detail::travel_form& form,
                 bytes arguments);
  /// Runs a unit here. \param how  the claimant, and whether the claim is sent at once
  void start(unit& u, claim_as how);
  /// Takes back a delivered unit that no worker has begun, because all workers have other work. The unit
  /// becomes free again, also for other nodes; if it was cancelled, it ends.
  /// \returns false: the task is the entry's own call
  bool take_back(detail::received_task& t);
  void announce_claim(unit& u);
  note claim_of(const unit& u) const;
  void announce_due_claims();
  void unit_ended(event& e);
  /// Ends all tasks that wait for the unit.
  void settle(unit& u, byte_view result);
  /// Ends a unit that has thrown here.
  void fail(unit& u, std::exception_ptr error);
  /// Removes a unit that is not needed any more, unless it runs. Tasks still wait for it only after the end
  /// of the entry; these run here.
  void drop(unit& u);
  /// Runs a task here that waits for its unit. Below a shield and in a destructor it runs to its end.
  /// Otherwise its entry has ended, and it is aborted before it begins.
  void run_here(std::uint64_t id);
  /// Ends this node, because a codec has thrown here. \param failed  the action that failed
  void end_by_codec(const std::string& failed, const std::exception_ptr& error) const;
  void forget_task(std::uint64_t id);
  void finish(std::uint64_t id, detail::given_outcome how);
  void stop(unit& u);
  void unclaim(unit& u);
  void erase(unit& u);
  /// Whether the entry's own call, or a unit, runs here and is not left to others.
  bool is_running(const task_key& key) const;
  // order.cpp: which tasks the node requests, and which unit runs next
  void begin_plan();
  void ask_here();
  /// Makes the next request of the plan, and resumes the fiber that waits for it.
  void ask_and_resume(resumer waiting);
  /// Withdraws the request of a plan that has ended.
  void withdraw_question_of_plan();
  /// Returns the time from which a request may take back units that no worker has begun.
  clock::time_point may_take_back() const;
  std::optional<purpose> next_purpose(clock::time_point now) const;
  void answer_came(event& e);
  void nothing_came(purpose asked);
  /// Continues after a task was named. \param u null: the task's result was known, so the task has ended
  void place(unit* u, standing found, std::uint64_t id, purpose asked);
  void place_in_plan(unit* u, std::uint64_t id);
  /// Takes over the units of a lost node, if this node is the next of the ranks that began there.
  void inherit();
  void help(const task_key& key);
  void let_giver_go(std::uint64_t id);
  void place_began(unit* u);
  /// Records that a worker runs the entry, or a unit, from now on.
  void goes_on(const task_key& key);
  /// Records that another node has announced a task that has no name here.
  void add_announced(const note& n);
  /// Returns the units, or the entry, that workers here are running. Complexity: linear in the number of
  /// units.
  std::vector<task_key> worked_on() const;
  /// Returns which notes this node needs from mediators: notes about its units, and about tasks inside the
  /// units that it runs.
  interest subscription() const;
  /// Whether others have announced tasks inside a unit that workers here run.
  bool is_worth_a_look() const;
  bool has_room_for_units() const noexcept;
  bool is_idle() const noexcept;
  void run_next();
  /// Whether a unit neither runs here nor is claimed by others.
  bool is_free(const unit& u) const;
  unit* youngest_free() const;  ///< null: no unit is free
  /// Returns the units that others claim and that do not run here, the oldest first.
  std::vector<unit*> units_left_to_others() const;
  /// Requests work from another node, or begins a unit that others claimed long ago.
  void find_work();
  // giving.cpp: tasks for nodes without work
  void takes_request(node_id from);
  void give_to_others();
  void give(const unit& u, node_id to);
  void nothing_to_give(clock::time_point now);
  void have_none();
  void take_given(node_id from, const note& n);
  void let_held_go(std::size_t number);
  /// Resumes a held fiber if all other nodes that began there are lost. \returns false: there is none
  bool let_inherited_go();
  void let_all_held_go(const task_key& within);

  const node_options chosen_;

  counters counters_;
  event_queue<event> events_{*transport_};

  // For the cluster thread.
  std::uint64_t entry_ = 0;  ///< the number of the active entry, or of the last one
  active_entry* active_ = nullptr;
  root_task* root_ = nullptr;  ///< null after it has ended
  clock::time_point root_goes_on_;  ///< like `goes_on` of a unit
  bool is_over_ = false;  ///< no result of the active entry is needed any more
  entry_results entry_results_;
  bool is_newcomer_;  ///< this node joined, and may be in an entry that the others have ended
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
  unsigned unbegun_ = 0;  ///< delivered tasks, with the entry's own call, that no worker has begun
  clock::time_point delivered_;  ///< when a task was last delivered
  std::mt19937_64 draws_;
  work_requests requests_;
  std::deque<node_id> asking_;  ///< nodes that have requested a task, and wait for the answer
  clock::time_point give_again_;  ///< when to look for a task for them again
  clock::time_point give_until_;  ///< the time at which they are refused
  std::vector<held_giver> held_;

  // The request to the workers.
  std::optional<purpose> asked_for_;  ///< the purpose of the request whose answer is awaited
  clock::time_point resumed_;  ///< when a fiber that waited for a request was last resumed
  bool holds_giver_ = false;  ///< whether the fiber that answers waits until its second branch has ended
  std::optional<task_key> helping_;  ///< the unit, or the entry, whose tasks are requested in reverse order
  plan plan_;
  looks looks_;
  unsigned failures_ = 0;  ///< consecutive requests of the plan, or of a help, that got no task
  clock::time_point not_before_;  ///< earliest time of the next request after such a failure
  clock::time_point next_tick_;
  walk_pace walks_;
};

/// The entry's own call.
struct node::root_task : detail::received_task {
  node* owner = nullptr;
  detail::cluster_entry* called = nullptr;
  bool began = false;  ///< used only by the cluster thread
  bool waits = false;  ///< as in a unit
};

/// A task with a name.
struct node::unit {
  node* owner = nullptr;
  task_key key{};
  task_key within{};  ///< the unit that it was split off from, or the entry
  std::uint64_t number = 0;  ///< the youngest unit has the highest number
  const detail::travel_form* form = nullptr;
  bytes arguments;
  std::vector<std::uint64_t> waiting;  ///< tasks of this node with that name
  void (*run)(detail::task*, context) = nullptr;  ///< the function of the task below, by its form
  detail::received_task* running = nullptr;  ///< the delivered task, until it has ended
  clock::time_point since;  ///< when it was delivered
  clock::time_point goes_on;  ///< when a worker began it, or resumed it after a part was left to others
  /// The node that waits for its result: it gave the unit to this node, or the plan assigns the unit to this
  /// node.
  std::optional<node_id> given_by;
  bool began = false;  ///< a worker has begun it
  bool waits = false;  ///< whether the worker that begins it waits for the next request of the plan
  bool is_mine = false;  ///< whether this node claims it
  bool is_claimed = false;  ///< whether this node has announced the claim
  bool is_stopped = false;  ///< it was cancelled
};

}  // namespace sukima::cluster::hope
