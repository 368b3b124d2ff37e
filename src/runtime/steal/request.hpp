// SPDX-License-Identifier: Apache-2.0
// Requests of thieves and the replies to them. Protocol: mailbox.hpp.
#pragma once

#include "steal/mailbox.hpp"

#include <cstdint>

namespace sukima::detail {

struct task;
struct worker;

/// Opens the mailbox of a worker that begins to run tasks, and closes that of one that stops. With published
/// tasks no thief sends requests, and entering a runtime is cheaper without these accesses.
void open_mailbox(worker& w) noexcept;
void close_mailbox(worker& w) noexcept;
/// Takes the request out of a worker's mailbox at a poll. \return the thief, which must get a reply; null:
/// none
worker* take_request(worker& w) noexcept;
/// Replies to a thief whose request was taken out, with a task; null: none.
void reply_to_thief(worker& thief, task* t) noexcept;

/// A thief's request during one search.
class steal_request {
 public:
  /// Returns the task that the victim gave; null: none yet. Sends a request to a victim if none is pending.
  task* poll(worker& thief) noexcept;
  bool is_pending() const noexcept { return victim_ != nullptr; }
  const worker* victim() const noexcept { return victim_; }
  /// Ticks until the first of the victims that got no request at the last poll() may be asked; 0: there is
  /// none.
  std::uint64_t next_in() const noexcept { return next_in_; }
  /// Withdraws the request. \returns the task that was on its way, or null
  task* withdraw(worker& thief) noexcept;

 private:
  /// Ticks until that victim may be asked; 0: now.
  static std::uint64_t rest_of(const worker& victim, std::uint64_t now) noexcept;

  worker* victim_ = nullptr;  ///< whose reply is awaited
  std::uint64_t next_in_ = 0;
};

}  // namespace sukima::detail
