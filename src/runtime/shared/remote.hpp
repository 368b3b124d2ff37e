// SPDX-License-Identifier: Apache-2.0
// The runtime's remote interface for the part cluster: tasks leave a runtime and arrive in it.
// remote/remote_interface.hpp describes how it works.
//
// Life of a task that leaves:   request_task → answered(t) → give_away(t) → finish(id), or take_back(id); or
//                               give_back(t), or keep_here(t)
// Life of a task that arrives:  its form makes a received_task → deliver(t) → ended(t), or answered(t) if no
//                               worker began it; then the node destroys it
#pragma once

#include <sukima/detail/travel.hpp>
#include <sukima/runtime.hpp>
#include <sukima/suspend.hpp>

#include <cstdint>
#include <exception>
#include <functional>

namespace sukima::detail {

/// The next step of a fiber that gives away a task. A node that needs another order of events lets it wait.
enum class giver : bool { goes_on, waits };

/// Interface through which a runtime notifies the node that is attached to it. Workers and the node's own
/// thread call these functions in the middle of a poll, never two at a time. So each must be quick, and must
/// neither wait nor call the runtime.
class remote_node {
 public:
  /// The answer to request_task: an unbegun task that may travel, or an unbegun received task
  /// (came_from_node), which the node should decline. Null: there is none.
  virtual void answered(task* t) noexcept = 0;
  /// Called instead of answered(t) if the giver waits. The node must resume it. Called only if the node
  /// requested it.
  virtual void answered_by_waiting(task& /*t*/, resumer /*of_giver*/) noexcept {}
  /// Called when a worker has looked for a task for the standing request, and has none. The worker looks
  /// again when it begins work after it was idle, and at remind_of_request. If the giver waits, the function
  /// is called after `polls_before_unanswered` polls without a task.
  virtual void unanswered() noexcept = 0;
  /// Called when a worker finds no work. The call is repeated now and then while that lasts.
  virtual void idle() noexcept = 0;
  /// Called when the result of a task that was given away is no longer needed; the task must be finished all
  /// the same. Called at most once for each task, perhaps inside give_away, perhaps after finish.
  virtual void aborted(std::uint64_t id) noexcept = 0;
  /// Called when a received task has ended on this thread: error, aborted or a result. The node destroys it.
  virtual void ended(received_task& t) noexcept = 0;

 protected:
  ~remote_node() = default;
};

/// Attaches a node; one at a time. \pre all tasks that were given away or received have ended
void attach_node(runtime& r, remote_node& node);
/// Detaches the node. The runtime calls none of its functions after this returns. \pre as attach_node
void detach_node(runtime& r) noexcept;

/// Kinds of request. A `single` request is answered once all workers have been asked, a `standing` request
/// when there is a task.
enum class request_kind : std::uint8_t { single, standing };
/// The number of polls at which workers look for the task of a standing request for which the giver waits,
/// before they report that they have none. A task that has just begun may have nothing to split off before
/// its next poll.
inline constexpr unsigned polls_before_unanswered = 64;

/// Asks the runtime's workers for a task; `answered` is called once, perhaps before this returns. A worker
/// that polls splits off its oldest work that travels; a worker that goes idle has none. May be called by any
/// thread but a worker.
/// \param then  whether the fiber that splits a task off waits, with all that it runs and has to do. A fiber
/// that is bound to its thread or to an executor continues all the same.
/// \pre the last request was answered or withdrawn
/// \par Complexity linear in the number of workers
void request_task(runtime& r, giver then = giver::goes_on, request_kind kind = request_kind::single) noexcept;
/// Asks the workers again for the standing request; if the request has been answered, nothing happens. The
/// node calls this after `unanswered`, and after a task has come into the injector queue. May be called by
/// any thread but a worker.
/// \par Complexity linear in the number of workers
void remind_of_request(runtime& r) noexcept;
/// Withdraws the request. \returns true if `answered` will not be called for it; false if it was answered, or
/// there was none
bool withdraw_request(runtime& r) noexcept;
/// Records that a task was given to another node. \returns its name, never used twice
std::uint64_t give_away(runtime& r, task& t);
/// Lets a task run here after all. \pre it was not given away
void give_back(runtime& r, task& t) noexcept;
/// The same for a task that cannot travel, although its kind may travel. It will not answer a request again.
void keep_here(runtime& r, task& t) noexcept;

/// Whether a task was delivered here; then it is a received_task.
bool came_from_node(const runtime& r, const task& t) noexcept;
/// Lets a task that was given away run here after all, because the other node has declined it unbegun.
/// \returns false if no such task is away; nothing has happened then
bool take_back(runtime& r, std::uint64_t id) noexcept;

/// How a task that was given away has ended.
struct given_outcome {
  std::span<const std::byte> result;  ///< its result, if it returned
  std::exception_ptr error;  ///< the exception that ended it
  bool aborted = false;
  /// Called in the handler of the exception if the result cannot be decoded, before the owner continues with
  /// that exception. Empty: nothing is called.
  std::function<void()> on_undecodable{};
};
/// Completes a task that was given away; its owner continues.
/// \returns false if no such task is away; nothing has happened then
bool finish(runtime& owner, std::uint64_t id, given_outcome how) noexcept;

/// Makes a received task available to the workers.
/// \pre an entry is active
void deliver(runtime& r, received_task& t) noexcept;
/// Aborts a received task that has not ended. The task ends soon, as aborted.
void cancel(runtime& r, received_task& t) noexcept;
/// Whether a worker looks for work.
bool has_idle_workers(const runtime& r) noexcept;
/// Whether the calling thread runs a task.
bool is_inside() noexcept;

}  // namespace sukima::detail
