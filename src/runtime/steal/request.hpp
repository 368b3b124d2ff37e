// SPDX-License-Identifier: Apache-2.0
// Requests of thieves and the replies to them. Protocol: mailbox.hpp.
#pragma once

#include "steal/mailbox.hpp"

#include <cstdint>

namespace sukima::detail {

struct task;
struct worker;

/// The mailbox of a worker that begins to run tasks, and of one that stops. With published tasks no thief
/// asks, and entering a runtime is cheaper without these accesses.
void open_mailbox(worker& w) noexcept;
void close_mailbox(worker& w) noexcept;
/// Takes the request out of a worker's mailbox at a poll. \return the thief, which must get a reply; null:
/// none
worker* take_request(worker& w) noexcept;
/// Replies to a thief whose request was taken out: a task, or null: none.
void reply_to_thief(worker& thief, task* t) noexcept;

/// A thief's request during one search.
class steal_request {
 public:
  /// The task that the victim gave; null: none yet. Asks a victim if none is asked.
  task* poll(worker& thief) noexcept;
  bool is_pending() const noexcept { return victim_ != nullptr; }
  const worker* victim() const noexcept { return victim_; }
  /// In how many ticks the first victim may be asked that was left alone at the last poll(); 0: there is
  /// none.
  std::uint64_t next_in() const noexcept { return next_in_; }
  /// Ends the asking. The task that was on its way, or null.
  task* withdraw(worker& thief) noexcept;

 private:
  /// In how many ticks that victim may be asked; 0: now.
  static std::uint64_t rest_of(const worker& victim, std::uint64_t now) noexcept;

  worker* victim_ = nullptr;  ///< whose reply is awaited
  std::uint64_t next_in_ = 0;
};

}  // namespace sukima::detail
