// SPDX-License-Identifier: Apache-2.0
// The steal protocol `request` (Tascell's): a thief sends a request to one victim and waits for its reply, a
// task or none.
//
// Each worker has a mailbox with room for one request, and one word for the reply to its own request.
//   mailbox   null: open; a thief: its request; closed: the worker runs nothing, ask another one
//     thief:  CAS null → itself, then requests a poll of the victim's fiber    victim: takes it, then replies
//     thief:  CAS itself → null withdraws; if that fails a reply is on its way and must be waited for
//   reply     null: none yet. The worker that took the request out stores there (release), then unparks the
//             thief
// A worker closes its mailbox before it searches or leaves, and replies with no task to the request in it. So
// no thief waits for a thief. A worker that switches fibers checks its mailbox afterwards (arrive in
// fiber/switch.cpp). Models: model/request.pml, model/reply.pml.
//
// The protocol `indolent` is the same, but a thief sends no request to a victim that has replied less than
// settings::request_interval_us ago. The time of that reply is only a hint (worker::replied_at): a request
// that is sent too early is still answered, and one that is sent too late only costs the thief time. So a
// thief may have no victim for a request although there is work. Then it searches like a worker that found
// nothing, but as the sentinel it sleeps only until the first victim may be asked (find_work.cpp).
#pragma once

#include <sukima/detail/atomics.hpp>
#include <sukima/detail/task.hpp>

#include <cstdint>

namespace sukima::detail {

struct worker;

inline task* const no_task = reinterpret_cast<task*>(std::uintptr_t{1});

class steal_mailbox {
 public:
  // For its own worker.
  void open() noexcept { thief_.store(nullptr, std::memory_order_release); }
  /// \return the thief that must get a reply; null: none
  worker* close() noexcept {
    worker* const thief = thief_.exchange(closed, std::memory_order_seq_cst);
    return thief == closed ? nullptr : thief;
  }
  /// Read after `current` was exchanged; a thief calls put() and then reads `current`.
  bool has_request() const noexcept {
    const worker* const thief = thief_.load(std::memory_order_seq_cst);
    return thief != nullptr && thief != closed;
  }
  /// Takes the request out. \return the thief; null: none, or it was withdrawn
  worker* take() noexcept {
    if (!has_request()) return nullptr;
    worker* thief = thief_.load(std::memory_order_seq_cst);
    // The thief may withdraw, but only its own worker closes the mailbox, and that is the caller.
    while (thief != nullptr && !thief_.compare_exchange_weak(thief, nullptr, std::memory_order_seq_cst)) {
    }
    return thief;
  }

  // For thieves.
  /// Whether its worker runs no task. A hint.
  bool is_closed() const noexcept { return thief_.load(std::memory_order_relaxed) == closed; }
  /// \return false: it is closed, or another thief's request is in it
  bool put(worker& thief) noexcept {
    worker* expected = nullptr;
    return thief_.load(std::memory_order_relaxed) == nullptr &&
           thief_.compare_exchange_strong(expected, &thief, std::memory_order_seq_cst);
  }
  /// \return false: the request was taken out, and a reply is on its way
  bool withdraw(worker& thief) noexcept {
    worker* expected = &thief;
    return thief_.compare_exchange_strong(expected, nullptr, std::memory_order_seq_cst);
  }

 private:
  static inline worker* const closed = reinterpret_cast<worker*>(std::uintptr_t{1});
  atomic<worker*> thief_{closed};  ///< pairs with: put, has_request, take, close, withdraw
};

}  // namespace sukima::detail
