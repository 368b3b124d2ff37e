// SPDX-License-Identifier: Apache-2.0
// The remote interface of a runtime: how a node of a cluster takes tasks out of it and puts tasks in. Other
// parts use shared/remote.hpp. Nothing of it is on the fork path, and where no node is attached each of its
// places in the runtime costs one load.
//
// A request. The node asks all workers that run something for one task; the first that has one gives it.
//   word        bit 0: a task is wanted; bit 1: and that stands; the rest counts the workers that are asked,
//               and the node while it asks
//   node:       wanted, and counts itself; then for each worker that `answers_remote`: counts it, sets its
//               asked_by_node and flag_remote, *then reads answers_remote again*: if that is false it takes
//               the question back, else it requests a poll; at the end it counts itself out
//   worker:     at a poll with flag_remote: clears that, takes the question, *then* looks for a task; on
//               going idle: answers_remote := false, *then* takes the question
//   who takes a question (asked_by_node: true to false) counts it out, by one CAS with the answer: a task
//               clears bit 0; so does the last one out without a task, and that is the answer "none"
// Before the workers the node looks into the injector queue, where a task lies that was given back, was
// found too late, or has come while no worker was idle any more; it answers with that. So a request is
// answered once, and always: a worker that is asked either polls, or goes idle, or had gone idle before,
// and then the node takes the question back. The flag only leads to the question: an entry that ends
// wipes all flags out, but goes idle after that. A worker that changes fibers or begins a task looks at
// its flags as for an abort (poll_limit.hpp). Whoever finds a task too late leaves it to the injector
// queue. Where the giver is to wait, its suspension begins before it answers, so the node may resume it at
// once; a giver that was too late is not suspended.
//
// A request that does not stand would mostly meet sequential clones, which have no choice points. There a
// worker without a task asks itself again: the clone ends at once, and the next poll, which is soon, may find
// some. One that stands meets choice points later, and larger tasks.
//
// A request that stands is answered by a task only, or is withdrawn. The last one out says nothing, and both
// bits stay set; so somebody must look again when there may be work:
//   a worker that begins says so (answers_remote := true), *then* reads whether a request stands, and asks
//               itself if so; the node sets the bits, *then* reads who answers
//   a worker that finds nothing at a poll tells the node (unanswered), which asks all again after a pause:
//               only a requested poll makes that worker look, and if it requested one itself, it would look
//               at each fork for as long as nothing of it travels
// A worker that goes idle needs no word: it is asked when it begins.
//
// A task that was given away is in `given_` until its result comes, or until the other node declines it
// unbegun: finish() and take_back() take it out, and so does nothing else, so it is completed once. Its
// owner waits as for any stolen task. Nobody here runs it, so an abort is not noticed at a poll:
// request_abort_checks looks through `given_`, and give_away looks once itself after it has entered a
// task.
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

  // For the node: shared/remote.hpp describes these.
  void attach(remote_node& node);
  void detach() noexcept;
  /// Is one attached now? Any thread.
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
    not_yet,  ///< a clone has nothing to give before it ends: the question stands, for the next poll
    after_waiting,  ///< the fiber has not run meanwhile: all may be otherwise than before, its worker, too
  };
  /// At a poll of a fiber on whose worker flag_remote was seen. Parameters as poll_slow.
  answered answer(fiber& s, choice_point* end, choice_point* polling, poll_place place) noexcept;
  void received_ended(received_task& t) noexcept override;

 private:
  struct given_task {
    std::uint64_t id;
    task* t;
    bool abort_told;
  };
  static constexpr std::uint32_t wanted = 1;
  static constexpr std::uint32_t stands = 2;
  static constexpr std::uint32_t one_asked = 4;

  void begins(worker& w) noexcept override;
  void stops(worker& w) noexcept override;
  /// Asks whoever runs something. \pre the node is counted, for this
  void ask_all() noexcept;
  /// A worker gets the question. Its poll is requested by the caller.
  void ask(worker& w) noexcept;
  /// \pre it is counted
  void set_question(worker& w) noexcept;
  /// What became of an answer.
  struct replied {
    std::uint32_t left;  ///< the word after it
    bool given;  ///< the task went to the node
  };
  /// Counts one out, with a task or without.
  /// \param waiting  the giver's suspension; null: it goes on
  replied reply(task* t, const resumer* waiting = nullptr) noexcept;
  /// \returns the fiber has waited
  bool reply_and_wait(fiber& s, task& t) noexcept;
  /// A fiber without a task for the node gives its worker to one that is ready: what that has to do nobody
  /// can take before it runs. \returns there was one, and this fiber goes on again
  bool let_another_run(fiber& s) noexcept;
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
  /// Of the request that stands. Written before word_, read by workers after they took the question.
  /// pairs with: request, answer
  std::atomic<bool> giver_waits_{false};
  std::mutex calling_;  ///< held while the node is called
  remote_node* node_ = nullptr;
  std::mutex given_lock_;
  std::vector<given_task> given_;
  std::uint64_t last_id_ = 0;
};

}  // namespace sukima::detail
