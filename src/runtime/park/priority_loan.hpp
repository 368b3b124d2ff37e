// SPDX-License-Identifier: Apache-2.0
// Lending a waiting thread's priority to the thread that it waits for, by the kernel's priority-inheriting
// futex.
//
// Such a futex is a lock whose word is the kernel's number of the thread that holds it. While a thread waits
// for it the kernel runs the holder with the waiter's priority, if that is higher: a real-time priority, or a
// deadline. Threads of the usual class lend nothing, whatever their nice values. Only the holder can wake the
// waiter. Here the waiting thread itself writes the holder into the word, but its wait depends on another
// word. So it reads that other word at least every tuning::longest_loan_ns.
//   word   0: no loan; the borrower's number: the lender waits, or is about to; the lender's own: it was
//          woken
//     lender:    stores the borrower's number, looks whether its wait has ended, then sleeps in the kernel
//     borrower:  ends the lender's wait by advancing its wake epoch, then reads the word. If its own number
//                is in it, it gives the lock away: by CAS if the lender is not in the kernel yet, else by a
//                system call
#pragma once

#include <atomic>
#include <cstdint>

namespace sukima::detail {

class priority_loan {
 public:
  /// Lender: from now on that thread can end the sleep.
  void begin(std::uint32_t borrower) noexcept { word_.store(borrower, std::memory_order_seq_cst); }
  /// Lender: sleeps until the borrower ends the loan, at most for this number of nanoseconds.
  /// \return false: the kernel cannot do that; no such thread, a ring of threads that wait for each other, or
  /// no such futex (before Linux 5.14)
  bool sleep(std::uint64_t nanoseconds) noexcept;
  /// Lender: takes the loan back.
  void take_back() noexcept;
  /// Any thread: wakes the lender if this thread is the borrower.
  void end() noexcept;

 private:
  /// A priority-inheriting futex. pairs with: begin, end, take_back
  std::atomic<std::uint32_t> word_{0};
};

}  // namespace sukima::detail
