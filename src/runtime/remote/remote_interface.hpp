// SPDX-License-Identifier: Apache-2.0
// The remote interface of a runtime: through it, a node of a cluster takes tasks out of the runtime and puts
// tasks in. Other parts use shared/remote.hpp. None of this code is on the fork path. If no node is attached,
// each place in the runtime that uses it costs one load.
//
// A request: the node asks all workers that run a fiber for one task. The first worker that has one gives it.
// `word_` holds the state:
//   bit 0       a task is wanted
//   bit 1       the request is a standing one
//   the rest    the number of workers that have the question, and of calls in which the node is asking
// The steps:
//   node        Sets bit 0 and counts itself. Then for each worker that `answers_remote`, it counts the
//               worker, sets its asked_by_node and flag_remote, *then reads answers_remote again*. If that is
//               false, it takes the question back, otherwise it requests a poll. At the end it removes its
//               own count.
//   worker      At a poll with flag_remote it clears the flag, takes the question, *then* looks for a task.
//               When it goes idle, it sets answers_remote := false, *then* takes the question.
//   both        The thread that takes a question (asked_by_node: true to false) removes its count, by one CAS
//               with the answer. A task clears bit 0. The last thread that removes its count without a task
//               clears it, too: that is the answer "none".
// Before the workers, the node checks the injector queue, and answers with a task that it finds there. Such a
// task was given back, was found too late, or came while no worker was idle any more.
//
// So each request is answered exactly once. A worker that is asked polls, or goes idle, or had gone idle
// before; in the last case the node takes the question back. The flag only leads to the question: an entry
// that ends clears all flags, but goes idle after that. A worker that changes fibers or begins a task reads
// its flags as for an abort (poll_limit.hpp). A worker that finds a task too late leaves it to the injector
// queue. If the giver should wait, its suspension begins before it answers, so the node may resume it at
// once. A giver that was too late is not suspended.
//
// A single request would mostly find sequential clones, which have no choice points. So a worker without a
// task keeps the question there: the clone ends at once, and the next poll, which comes soon, may find choice
// points. A standing request finds choice points later, and larger tasks.
//
// A standing request is answered only by a task, or is withdrawn. The last thread that removes its count does
// not answer, and both bits stay set. So a worker must look again when there may be work:
//   - A worker that begins sets answers_remote := true, *then* reads whether a request stands. If so, it asks
//     itself. The node sets the bits, *then* reads which workers answer.
//   - A worker that finds no task at a poll reports that to the node (unanswered), which asks all workers
//     again after a pause. Only a requested poll makes that worker look. If the worker requested one itself,
//     it would look at each fork for as long as none of its work can travel.
// A worker that goes idle reports nothing: it asks itself when it begins.
//
// A task that was given away is in `given_` until its result arrives, or until the other node declines it
// unbegun. Only finish() and take_back() take it out, so it is completed once. Its owner waits as for any
// stolen task. No worker here runs it, so no poll would notice an abort of it. Therefore request_abort_checks
// searches `given_`, and give_away searches it once itself after it has added a task.
//
// Models: model/remote.pml, model/standing.pml.
#pragma once

#include "remote/node_events.hpp"

#include <sukima/detail/task.hpp>
#include <sukima/detail/travel.hpp>
#include <sukima/settings.hpp>
#include <sukima/suspend.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace sukima::detail {

struct choice_point;
struct fiber;
struct worker;
class injector_queue;
class parking;
class remote_node;
class worker_table;
enum class giver : bool;
enum class poll_place : std::uint8_t;
enum class request_kind : std::uint8_t;

class remote_interface final : public node_events {
 public:
  remote_interface(const settings& chosen, const worker_table& workers, const parking& park,
                   injector_queue& injector, std::atomic<bool>& asked)
      : chosen_(chosen), workers_(workers), park_(park), injector_(injector), workers_are_asked_(asked) {}

  // For the node; shared/remote.hpp describes these functions.
  void attach(remote_node& node);
  void detach() noexcept;
  /// Whether a node is attached now. Any thread may call this.
  bool has_node() noexcept {
    const std::lock_guard hold(calling_);
    return node_ != nullptr;
  }
  void request(giver then, request_kind kind) noexcept;
  void remind() noexcept;
  bool withdraw() noexcept;
  std::uint64_t give_away(task& t);
  task* take_given(std::uint64_t id) noexcept;

  // For workers.
  enum class answered : std::uint8_t {
    yes,
    not_yet,  ///< there is no task to give before the next poll: the worker keeps the question
    after_waiting,  ///< the fiber has waited: anything may have changed, including the worker that runs it
  };
  /// Answers the question at a poll of a fiber whose worker had flag_remote set. Parameters as for poll_slow.
  answered answer(fiber& self, choice_point* end, choice_point* polling, poll_place place) noexcept;
  void received_ended(received_task& t) noexcept override;

 private:
  struct given_task {
    std::uint64_t id;
    task* t;
    bool abort_reported;
  };
  static constexpr std::uint32_t wanted = 1;
  static constexpr std::uint32_t stands = 2;
  static constexpr std::uint32_t one_asked = 4;

  void begins(worker& w) noexcept override;
  void stops(worker& w) noexcept override;
  /// Asks all workers that run a fiber. \pre the node has counted itself for this call
  void ask_all() noexcept;
  /// Counts a worker and gives it the question. The caller requests its poll.
  void ask(worker& w) noexcept;
  /// Gives a worker the question. \pre the worker is counted
  void set_question(worker& w) noexcept;
  /// The effect of an answer.
  struct replied {
    std::uint32_t left;  ///< `word_` after the answer
    bool given;  ///< whether the task went to the node
  };
  /// Removes the count of one question, with a task or without.
  /// \param waiting  the giver's suspension; null: the giver continues
  replied reply(task* t, const resumer* waiting = nullptr) noexcept;
  /// Replies with a task; the fiber then waits until the node resumes it. \returns whether the fiber has
  /// waited
  bool reply_and_wait(fiber& s, task& t) noexcept;
  /// Called by a fiber without a task for the node: gives its worker to a ready fiber, because no worker can
  /// split work off a ready fiber before it runs. \returns whether there was one; this fiber then has
  /// continued
  bool let_another_run(fiber& s) noexcept;
  /// Whether a worker with nothing to split off keeps the question, because its next poll may find work.
  bool is_kept_for_next_poll(std::uint32_t word, poll_place place) noexcept;
  void report_idle() noexcept override;
  void abort_given() noexcept override;

  const settings& chosen_;
  const worker_table& workers_;
  const parking& park_;
  injector_queue& injector_;
  /// no partner: a worker that reads the old value is asked from its next search on
  std::atomic<bool>& workers_are_asked_;
  /// pairs with: begins, ask, request, remind, withdraw, reply, answer
  std::atomic<std::uint32_t> word_{0};
  /// Whether the giver waits, for the present request. Written before word_. Workers read it after they have
  /// taken the question.
  /// pairs with: request, answer
  std::atomic<bool> giver_waits_{false};
  /// The number of polls at which a worker still keeps a standing request whose giver waits. Written like
  /// giver_waits_.
  /// pairs with: request, is_kept_for_next_poll
  std::atomic<unsigned> polls_left_{0};
  std::mutex calling_;  ///< held while the node is called
  remote_node* node_ = nullptr;
  std::mutex given_lock_;
  std::vector<given_task> given_;
  std::uint64_t last_id_ = 0;
};

}  // namespace sukima::detail
