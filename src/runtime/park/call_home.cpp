// SPDX-License-Identifier: Apache-2.0
#include "park/call_home.hpp"

#include "fiber/fiber.hpp"
#include "park/park.hpp"
#include "stress.hpp"

namespace sukima::detail {

void call_home(worker& w) noexcept {
  w.flags.fetch_or(flag_leave, std::memory_order_seq_cst);
  stress_point();
  if (fiber* const s = w.current.load(std::memory_order_seq_cst)) s->limit.request_poll();
  unpark(w);
}

void answer_call_home(worker& w) noexcept { w.flags.fetch_and(~flag_leave, std::memory_order_seq_cst); }

}  // namespace sukima::detail
