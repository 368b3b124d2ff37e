// SPDX-License-Identifier: Apache-2.0
// The steal protocol `request` (Tascell's): a thief asks one victim and waits for its reply, a task or none.
//
// Each worker has a mailbox with room for one request, and one word for the reply to its own request.
//   mailbox   null: open; a thief: its request; closed: the worker runs nothing, ask another one
//     thief:  CAS null → itself, then requests a poll of the victim's fiber    victim: takes it, then replies
//     thief:  CAS itself → null withdraws; if that fails a reply is on its way and must be waited for
//   reply     null: none yet. Whoever took the request out stores there (release), then unparks the thief
// A worker closes its mailbox before it searches or leaves, and replies to what was in it with no task:
// so no thief waits for a thief. A worker that changes fibers looks into its mailbox afterwards (arrive
// in fiber/switch.cpp). Model: model/request.pml.
#pragma once

#include <sukima/detail/task.hpp>

#include <atomic>
#include <cstdint>

namespace sukima::detail {

struct worker;

inline task* const no_task = reinterpret_cast<task*>(std::uintptr_t{1});

class steal_mailbox {
 public:
  // For its own worker.
  void open() noexcept { thief_.store(nullptr, std::memory_order_release); }
  /// \return the thief to be replied to; null: none
  worker* close() noexcept {
    worker* const thief = thief_.exchange(closed);
    return thief == closed ? nullptr : thief;
  }
  /// Sequentially consistent. Partner: the CAS in put(), before which `current` was exchanged.
  bool has_request() const noexcept {
    const worker* const thief = thief_.load();
    return thief != nullptr && thief != closed;
  }
  /// Takes the request out. \return the thief; null: none, or it was withdrawn
  worker* take() noexcept {
    if (!has_request()) return nullptr;
    worker* thief = thief_.load();
    // The thief may withdraw, but only its own worker closes the mailbox, and that is the caller.
    while (thief != nullptr && !thief_.compare_exchange_weak(thief, nullptr)) {
    }
    return thief;
  }

  // For thieves.
  /// \return false: it is closed, or another thief's request is in it
  bool put(worker& thief) noexcept {
    worker* expected = nullptr;
    return thief_.load(std::memory_order_relaxed) == nullptr &&
           thief_.compare_exchange_strong(expected, &thief);
  }
  /// \return false: the request was taken out, and a reply is on its way
  bool withdraw(worker& thief) noexcept {
    worker* expected = &thief;
    return thief_.compare_exchange_strong(expected, nullptr);
  }

 private:
  static inline worker* const closed = reinterpret_cast<worker*>(std::uintptr_t{1});
  std::atomic<worker*> thief_{closed};
};

/// The mailbox of a worker that begins to run tasks, and of one that stops. With published tasks no thief
/// asks, and entering a runtime is cheaper without these accesses.
void open_mailbox(worker& w) noexcept;
void close_mailbox(worker& w) noexcept;
/// Replies to a thief whose request was taken out: a task, or null: none.
void reply_to_thief(worker& thief, task* t) noexcept;

/// A thief's request during one search.
class steal_request {
 public:
  /// The task that the victim gave; null: none yet. Asks a victim if none is asked.
  task* poll(worker& w) noexcept;
  bool is_pending() const noexcept { return victim_ != nullptr; }
  /// Ends the asking. The task that was on its way, or null.
  task* withdraw(worker& w) noexcept;

 private:
  worker* victim_ = nullptr;  ///< whose reply is awaited
};

}  // namespace sukima::detail
