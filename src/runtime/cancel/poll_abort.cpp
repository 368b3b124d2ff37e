// SPDX-License-Identifier: Apache-2.0
#include "cancel/poll_abort.hpp"

#include "cancel/abort.hpp"
#include "worker.hpp"

#include <algorithm>

namespace sukima::detail {

poll_step check_abort(slow_poll& poll) noexcept {
  if ((poll.flags & flag_check_abort) != 0) {
    poll.s.on->flags.fetch_and(~flag_check_abort, std::memory_order_seq_cst);
    look_for_abort(poll.s);
  }
  return poll_step::next;
}

poll_step stop_aborted_loop(slow_poll& poll) noexcept {
  fiber& s = poll.s;
  choice_point* const r = poll.polling;
  // Loops of destructors are whole, also where an abort is pending.
  if (s.abort_pending && poll.place == poll_place::ahead && kind_of(r)->stop != nullptr &&
      leaves_at_join(s)) {
    kind_of(r)->stop(r);
    if (s.failure) s.oldest_ended_loop = std::min(s.oldest_ended_loop, reinterpret_cast<char*>(r));
  }
  return poll_step::next;
}

}  // namespace sukima::detail
