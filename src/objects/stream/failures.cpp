// SPDX-License-Identifier: Apache-2.0
// The exceptions that end operations of streams.
#include "program/program_core.hpp"
#include "recording/recording.hpp"
#include "stream/remote.hpp"

#include <string>

namespace sukima::objects::detail {

/// Ends the operation of the running object before its exception leaves it, so that a recording times what
/// the object computes from then on.
static void leave_operation(const stream_core& s) {
  if (recording* const recorded = s.program->recorded.get(); recorded != nullptr)
    recorded->leave_operation(running_object("an operation of a stream"));
}

void stream_core::leave_slots(std::uint32_t side) noexcept {
  leave_operation(*this);
  const wait_list& list = side == receivers_wait ? receivers : senders;
  // An object that sets the bit after this load checks the stream itself. pairs with: enlist in stream.cpp
  if (shared ? (words->waiting.load(std::memory_order_seq_cst) & side) != 0 : list.first != nullptr)
    wake(side, 1);
}

void stream_core::throw_broken(const object_core* sender) const {
  leave_operation(*this);
  throw stream_broken("sukima: stream " + name + ": " + (sender != nullptr ? sender->name : "an object") +
                      " sends, and no receiver is left");
}

void stream_core::throw_if_failed() const {
  const std::uint32_t state = now();
  if ((state & failed) != 0) leave_operation(*this);
  if ((state & cut_off) != 0) throw stream_cut_off(failure_of(*this));
  if ((state & failed) != 0) throw stream_failed(failure_of(*this));
}

void stream_core::throw_corrupt() const {
  throw stream_failed("sukima: stream " + name + " is corrupt: another process wrote into its memory");
}

}  // namespace sukima::objects::detail
