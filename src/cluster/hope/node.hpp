// SPDX-License-Identifier: Apache-2.0
// A node under hierarchical omission: it runs the whole entry by itself, and omits what it hears of others.
//
// Its thread, the cluster thread, asks the workers here for a task now and then (runtime/shared/remote.hpp);
// nothing is done for tasks that are not asked for. A task that was split off gets its name, and is a unit
// from then on, until its result is there:
//   known      another node has told the result: the task ends with it, unrun (omitted)
//   claimed    another node says that it runs it: it waits here, and other units are run first
//   free       the cluster thread lets it run when a worker here is idle, the youngest first, and claims it
// A unit runs as a task of its own, made from the bytes of its arguments, so its result is at hand in bytes
// and can be told to all. A result that comes meanwhile cuts it. If all units that are left are claimed by
// others, or the first branch of what the node began with the second one of is left to them, it asks them for
// tasks (giving.cpp): what it gets is a unit as well, of which it tells the result to whoever has given it.
// Where it gets nothing for long, it helps: it runs what is left to others as well, but its tasks in the
// reverse order, so that it meets the claimant in the middle. Because of this the entry ends here whatever
// becomes of the other nodes and of all messages: a claim only delays (node_options::before_helping).
//
// Exceptions: an entry returns or throws on each node what its own call returns or throws there, or returns
// what another node's call has returned. A unit that throws here ends the task that waits for it by that
// exception, and no other node hears of it: each runs that task itself. So with one possible exception all
// nodes throw it; where several branches of an entry throw, nodes may throw different ones of them, and
// where a program returns in spite of some exceptions, it is to return the same for each of them.
//
// Which tasks are asked for (order.cpp): at the beginning of an entry those of the planned start; in a unit
// that is helped the oldest one at each level; for a node that has none the oldest one; where a claim or a
// result says that another node is inside of what is worked on here, the oldest ones, until some are of no
// interest to anybody; and one every tick, so that of what runs long most is told to others before this node
// dies.
//
// Source: cluster.md of the design, sections 5 and 6, with every message to every node.
#pragma once

#include "entry/ending.hpp"
#include "entry/forms.hpp"
#include "entry/solution_board.hpp"
#include "hope/claims.hpp"
#include "hope/looks.hpp"
#include "hope/messages.hpp"
#include "hope/named_task.hpp"
#include "hope/planned_start.hpp"
#include "hope/result_store.hpp"
#include "hope/work_requests.hpp"
#include "protocol/messages.hpp"
#include "transport/cluster_thread.hpp"
#include "transport/transport.hpp"

#include <runtime/shared/remote.hpp>

#include <sukima/cluster.hpp>
#include <sukima/suspend.hpp>

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sukima::cluster::hope {

/// Without progress for so long, a node that leaves gives up.
inline constexpr std::chrono::seconds leaving_time{2};

struct node_options {
  std::uint64_t seed = 1;  ///< of the choice which unit is helped
  std::chrono::seconds meeting_time{30};  ///< for all nodes to come
  /// So long an idle node asks others for work before it begins what they claim.
  std::chrono::microseconds before_helping{20000};
  /// Nor does it begin anything that was left to others before it has been idle for so long: a worker may be
  /// about to take what has just become ready.
  std::chrono::microseconds before_going_on{4000};
  /// A unit that was begun so lately is left to a lower node that runs it, too, and else only to one that
  /// began it earlier.
  std::chrono::microseconds yields_within{4000};
  std::chrono::microseconds before_telling{2000};  ///< nobody hears of units that take less, unless nodes met
  /// Nor that they run here, before they have taken that long: most end sooner, and are told once, then.
  std::chrono::microseconds before_claiming{10000};
  /// At least one task is named in that time for each other node that lives: all are told its result, and
  /// what telling costs a node is the same whatever their number.
  std::chrono::microseconds tick{1500};
  std::size_t memory = std::size_t{64} << 20;  ///< bytes of results that are kept
  /// Nodes are in different entries: called once by the cluster thread. It must not return.
  std::function<void(const run_failure&)> on_failure{};
  sukima::detail::solution_board* solutions = nullptr;  ///< null: that of the process
};

/// What a node has done so far.
struct counts {
  std::uint64_t named = 0;  ///< tasks that got a name
  std::uint64_t omitted = 0;  ///< units that ended by another node's result, and did not run here
  std::uint64_t cut = 0;  ///< units that ended by it while they ran here
  std::uint64_t computed = 0;  ///< units that gave their result here
  std::uint64_t told = 0;  ///< those whose result other nodes were told
  /// Times that a node that got nothing from others began a unit that another one claimed, or the branch that
  /// was left to others.
  std::uint64_t helped = 0;
  std::uint64_t given = 0;  ///< units given to nodes that asked
  std::uint64_t taken_over = 0;  ///< units begun after their claimant was lost
  std::uint64_t yielded = 0;  ///< units left to a lower node that began them, too
  std::uint64_t notes = 0;  ///< messages sent
};

// Long: what the cluster thread does in one place; its methods share the state of one entry.
class node final : private receiver, private detail::remote_node {
 public:
  /// Meets the other nodes. \throws start_failure
  node(runtime& workers, std::unique_ptr<transport> by, node_options chosen);
  /// Tells the others that this node leaves. \pre no entry is active
  ~node();
  node(const node&) = delete;
  node& operator=(const node&) = delete;

  node_id id() const noexcept { return self_; }
  unsigned nodes() const noexcept { return nodes_; }
  /// The next entry: ends when its own call has returned, or another node has told its result.
  /// \throws what the call throws here
  void run(detail::cluster_entry& called);
  counts statistics() const;

 private:
  struct root_task;
  struct unit;
  /// The result of an entry, after its name, and the best solutions that it relied on.
  struct entry_value {
    node_id from;  ///< the node that has sent it, or this one
    bytes content;
    bytes solutions;
  };
  /// An entry, as the thread that runs it waits for it.
  struct active_entry {
    detail::cluster_entry* called;
    resumer waiting{};
    std::exception_ptr error{};
    std::optional<entry_value> told{};  ///< another node's; nothing: the call has returned here, or thrown
  };
  /// A task of this node's that was split off and waits for its unit.
  struct given_task {
    unit* of = nullptr;
    resumer giver{};  ///< the fiber that it was split off from, where that waits; or empty
    std::optional<task_key> helping{};  ///< the unit that is helped further when that fiber goes on
    node_group began{};  ///< the ranks that the plan led to that unit; none: it is helped
  };
  /// What workers leave for the cluster thread.
  struct event {
    enum class what : std::uint8_t { begins, answered, began, aborted, ended } kind;
    active_entry* entry = nullptr;
    detail::task* t = nullptr;
    unit* of = nullptr;  ///< null: the entry's own call
    resumer giver{};
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
  /// Who claims a unit that begins here: this node, told at once or when it has taken a while; or another.
  enum class claim_as : std::uint8_t { mine_told, mine, of_another };
  /// How a named task stands.
  enum class standing : std::uint8_t { known, under_way, of_no_interest };

  // Any thread.
  void post(event e);
  void count(std::uint64_t counts::* what);
  static void run_root(detail::task* t, context c);
  static void run_unit(detail::task* t, context c);

  // remote_node: workers.
  void answered(detail::task* t) noexcept override;
  void answered_by_waiting(detail::task& t, resumer of_giver) noexcept override;
  void unanswered() noexcept override {}  // of its requests none stands
  void idle() noexcept override;
  void aborted(std::uint64_t id) noexcept override;
  void ended(detail::received_task& t) noexcept override;

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
  // exchange.cpp: what nodes say
  void on_message(node_id from, byte_view message) override;
  void on_left(node_id gone) override;
  void on_lost(node_id gone, const std::string& why) override;
  void take_note(node_id from, const note& n);
  void take_claim(node_id from, const note& n);
  void take_result(node_id from, const note& n);
  void take_entry_result(node_id from, const note& n);
  /// Ends all nodes unless both results of an entry, with their names, are of one call.
  void compare_entries(std::uint64_t entry, byte_view own, node_id other, byte_view others);
  /// Ends the active entry with what another node has got. \returns false: it is malformed
  bool take_value(const entry_value& value);
  void answer(node_id from, const note& n);
  void tell(const note& n);
  void tell_one(node_id to, const note& n);
  void send(node_id to, const note& n);
  /// A result with the solutions that it may rely on.
  void tell_entry_result(node_id to, std::uint64_t entry, const entry_value& value);
  void tell_solutions_if_new();
  // units.cpp: the life of a unit
  static unit& unit_of(const detail::received_task& t) noexcept;
  /// The unit that a task was split off from, or the entry. Linear in the number of its ancestors.
  task_key within(const detail::task& t) const;
  void name(detail::task& t, resumer giver, purpose asked);
  unit* find(const task_key& key) const;
  /// \pre there is none of that name
  unit& new_unit(const task_key& key, const task_key& within, const detail::travel_form& form,
                 bytes arguments);
  /// Lets it run here. \param how  whose it is, and whether others hear of it at once
  void start(unit& u, claim_as how);
  /// A unit that no worker has begun, as all have something else to do: it is free again, also for others; or
  /// it has ended, if it was to.
  /// \returns false: it is the entry's own call
  bool take_back(detail::received_task& t);
  void tell_claim(unit& u);
  void tell_claims_that_are_due();
  void unit_ended(event& e);
  /// Ends all tasks that wait for it.
  void settle(unit& u, byte_view result);
  /// It has thrown here.
  void fail(unit& u, std::exception_ptr error);
  /// Nobody needs it any more: forgets it unless it runs. Tasks wait for it only where the entry is over;
  /// they run here.
  void drop(unit& u);
  /// A task that waits for its unit runs after all: to its end below a shield and in a destructor; another
  /// one, whose entry is over, finds itself aborted before it begins.
  void run_here(std::uint64_t id);
  void forget_task(std::uint64_t id);
  void finish(std::uint64_t id, detail::given_outcome how);
  void stop(unit& u);
  void unclaim(unit& u);
  void erase(unit& u);
  /// The entry's own call, or a unit: does it run here, and go on?
  bool is_running(const task_key& key) const;
  // order.cpp: what is asked for and what runs next
  void begin_plan();
  void ask_here();
  /// From when on a question may take back what no worker has begun.
  clock::time_point may_take_back() const;
  std::optional<purpose> next_purpose(clock::time_point now) const;
  void answer_came(event& e);
  void nothing_came(purpose asked);
  /// A task has got its name. \param u  null: its result is known, and it has ended
  void place(unit* u, standing s, std::uint64_t id, purpose asked);
  void place_in_plan(unit* u, std::uint64_t id);
  bool is_planning() const noexcept;
  /// Is this the first of these ranks that lives? Then nobody else goes on with where they began.
  bool is_first_of(node_group ranks) const;
  /// What the first of the ranks that began there was to run is this node's: the first one is lost.
  void inherit();
  unsigned living_others() const noexcept;
  bool is_alone() const noexcept { return living_others() == 0; }
  void help(const task_key& key);
  void let_giver_go(std::uint64_t id);
  void place_began(unit* u);
  /// A worker is in the middle of the entry, or of a unit, from now on.
  void goes_on(const task_key& key);
  /// Another node is inside of something, and has told of a task that has no name here.
  void heard_of(const note& n);
  /// What workers here are in the middle of. Linear in the number of units.
  std::vector<task_key> worked_on() const;
  /// Do others tell of tasks within something that is worked on here?
  bool is_worth_a_look() const;
  bool has_room_for_units() const noexcept;
  bool is_idle() const noexcept;
  void run_next();
  /// Neither running here nor claimed by others?
  bool is_free(const unit& u) const;
  unit* youngest_free() const;  ///< null: none is free
  /// Those that others claim and that do not run here, the oldest first.
  std::vector<unit*> units_left_to_others() const;
  /// Asks another node, or begins what others have not ended for long.
  void find_work();
  // giving.cpp: tasks for nodes that have none
  void takes_request(node_id from);
  void give_to_others();
  void give(const unit& u, node_id to);
  void nothing_to_give(clock::time_point now);
  void have_none();
  void take_given(node_id from, const note& n);
  void let_held_go(std::size_t number);
  /// One that is left to nobody any more goes on. \returns false: there is none
  bool let_inherited_go();
  void let_all_held_go(const task_key& within);

  runtime& workers_;
  const std::unique_ptr<transport> transport_;
  const node_options chosen_;
  const form_table forms_;
  sukima::detail::solution_board& solutions_;
  node_id self_ = 0;
  unsigned nodes_ = 1;

  mutable std::mutex lock_;  ///< guards the next ones
  std::vector<event> events_;
  counts counts_;

  // For the cluster thread.
  std::uint64_t entry_ = 0;  ///< the number of the active entry, or of the last one
  active_entry* active_ = nullptr;
  root_task* root_ = nullptr;  ///< until it has ended
  clock::time_point root_goes_on_;  ///< as a unit's `goes_on`
  bool is_over_ = false;  ///< nothing of the active entry is needed any more
  std::map<std::uint64_t, entry_value> entry_results_;  ///< of entries to come, and of the last ones
  bytes entry_name_;  ///< of the active entry, or of the last one
  std::vector<std::pair<node_id, bytes>> early_;  ///< notes of entries that have not begun here
  std::size_t early_size_ = 0;
  result_store store_;
  claims claims_;
  std::unordered_map<task_key, std::unique_ptr<unit>, task_key_hash> units_;
  std::unordered_map<std::uint64_t, given_task> given_;
  std::uint64_t last_number_ = 0;  ///< of units
  unsigned unbegun_ = 0;  ///< delivered, the entry's own call, too, and not begun by a worker
  clock::time_point delivered_;  ///< when one was last
  std::vector<bool> gone_;
  std::mt19937_64 draws_;
  work_requests requests_;
  std::deque<node_id> asking_;  ///< nodes that have nothing to do, and have got no answer
  clock::time_point give_again_;  ///< when something is looked for again for them
  clock::time_point give_until_;  ///< they are told then that there is nothing
  std::vector<held_giver> held_;

  // What is asked for.
  std::optional<purpose> asked_for_;  ///< an answer is awaited
  std::vector<node_id> members_;  ///< the nodes that lived when the entry began
  node_id rank_ = 0;  ///< this one's place among them
  node_group group_{};  ///< of the plan: the ranks that begin where this one does
  task_key place_{};  ///< where the plan has led so far: the entry, or a unit
  bool place_began_ = false;  ///< a worker is there
  std::optional<task_key> helping_;  ///< the unit, or the entry, whose tasks are asked for in reverse order
  looks looks_;
  unsigned failures_ = 0;  ///< times that the plan or a help got nothing, in a row
  clock::time_point not_before_;  ///< for asking again after that
  clock::time_point next_tick_;
  clock::time_point next_solutions_;  ///< the earliest time at which solutions are sent without a result

  cluster_thread thread_;  ///< last: everything else is there when it begins
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
  std::optional<node_id> given_by;  ///< the node that waits for its result, as it has given it
  bool began = false;  ///< a worker has begun it
  bool is_mine = false;  ///< no other node is to run it
  bool is_claimed = false;  ///< this node has told so
  bool is_stopped = false;  ///< it was cancelled
};

}  // namespace sukima::cluster::hope
