// SPDX-License-Identifier: Apache-2.0
// The runtime's remote interface, for the part cluster: tasks leave a runtime and come into it. How it works
// is described in remote/remote_interface.hpp.
//
// Life of a task that leaves:   request_task → answered(t) → give_away(t) → finish(id), or take_back(id); or
//                               give_back(t), or keep_here(t)
// Life of a task that arrives:  received_task made by its form → deliver(t) → ended(t), or answered(t) as it
//                               was not begun; then it is destroyed
#pragma once

#include <sukima/detail/travel.hpp>
#include <sukima/runtime.hpp>
#include <sukima/suspend.hpp>

#include <cstdint>
#include <exception>
#include <functional>

namespace sukima::detail {

/// What the fiber does next that gives a task: a node that wants another order lets it wait.
enum class giver : bool { goes_on, waits };

/// What a runtime tells the node that is attached to it. Called by workers and by the node's own thread,
/// never two at a time, in the middle of a poll: quick, without waiting and without calling the runtime.
class remote_node {
 public:
  /// The answer to request_task: a task that nobody has begun and that may travel, or a received one that
  /// nobody has begun (came_from_node), to be declined; null: there is none.
  virtual void answered(task* t) noexcept = 0;
  /// In place of answered(t) where the giver waits: it goes on when it is resumed, which must be done. Only
  /// for a node that asks so.
  virtual void answered_by_waiting(task& /*t*/, resumer /*of_giver*/) noexcept {}
  /// A worker has looked for a task for the request that stands, and has none. It looks again when it begins
  /// something after it was idle, and at remind_of_request.
  virtual void unanswered() noexcept = 0;
  /// A worker finds nothing to do. Comes again now and then while that lasts.
  virtual void idle() noexcept = 0;
  /// The result of a task that was given away is not needed any more; it must be finished all the same.
  /// Called once for each, or not at all; perhaps inside of give_away, perhaps after finish.
  virtual void aborted(std::uint64_t id) noexcept = 0;
  /// A received task has ended on this thread: error, aborted or a result. The node destroys it.
  virtual void ended(received_task& t) noexcept = 0;

 protected:
  ~remote_node() = default;
};

/// One node at a time. \pre no task was given away or received that has not ended
void attach_node(runtime& r, remote_node& node);
/// Nothing of the node is called any more when it returns. \pre as attach_node
void detach_node(runtime& r) noexcept;

/// A request of the node: `single` is answered once all have been asked, `standing` when there is a task.
enum class request_kind : std::uint8_t { single, standing };

/// Asks the runtime's workers for a task; `answered` is called once, perhaps before this returns. A worker
/// that polls splits its oldest work that travels off; one that goes idle has none. Any thread but a worker.
/// \param then whether the fiber waits that splits a task off, with all that it runs and has to do; one that
///             is bound to its thread or to an executor goes on all the same
/// \pre the last request was answered or withdrawn
/// \par Complexity linear in the number of workers
void request_task(runtime& r, giver then = giver::goes_on, request_kind kind = request_kind::single) noexcept;
/// The workers are asked again, for the request that stands; if it was answered meanwhile, nothing happens.
/// After `unanswered`, and where a task has come into the injector queue. Any thread but a worker.
/// \par Complexity linear in the number of workers
void remind_of_request(runtime& r) noexcept;
/// Nothing is wanted any more. \returns false: it was answered, or there was none; else `answered` is not
/// called for it
bool withdraw_request(runtime& r) noexcept;
/// A task was given to another node. \returns its name, never used twice
std::uint64_t give_away(runtime& r, task& t);
/// It runs here after all. \pre not given away
void give_back(runtime& r, task& t) noexcept;
/// The same of one that cannot travel, though its kind says so: no request is answered with it again.
void keep_here(runtime& r, task& t) noexcept;

/// Is it a task that was delivered here? Then it is a received_task.
bool came_from_node(const runtime& r, const task& t) noexcept;
/// The other node has declined a task that was given away, which it has not begun: it runs here after all.
/// \returns false: no such task is away; nothing has happened
bool take_back(runtime& r, std::uint64_t id) noexcept;

/// How a task has ended that was given away.
struct given_outcome {
  std::span<const std::byte> result;  ///< of one that ended well
  std::exception_ptr error;  ///< of one that ended by an exception
  bool aborted = false;
};
/// Its owner goes on.
/// \returns false: no such task is away; nothing has happened
bool finish(runtime& r, std::uint64_t id, given_outcome how) noexcept;

/// A received task becomes ready work.
/// \pre an entry is active
void deliver(runtime& r, received_task& t) noexcept;
/// Aborts a received task that has not ended; it ends soon, aborted.
void cancel(runtime& r, received_task& t) noexcept;
/// Does a worker look for work?
bool has_idle_workers(const runtime& r) noexcept;
/// Does the calling thread run a task?
bool is_inside() noexcept;

}  // namespace sukima::detail
