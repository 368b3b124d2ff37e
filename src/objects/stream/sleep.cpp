// SPDX-License-Identifier: Apache-2.0
// Objects that let time pass: objects that sleep, and the timers of a program.
#include "program/program_core.hpp"
#include "recording/recording.hpp"

namespace sukima::objects::detail {

void program_core::wake_timers() noexcept {
  const std::lock_guard hold(run_lock);
  if (!is_running) return;
  for (const auto& o : objects)
    if (o->is_timer)
      // After `stopping` was stored. pairs with: announce_wait, wait_for_others in stream.cpp
      if (const std::uint64_t number = o->suspension.load(std::memory_order_seq_cst); number != 0)
        sukima::detail::try_resume(*o->self, number);
}

void sleep_until(clock::time_point until) {
  object_core& me = running_object("sleep_for or sleep_until");
  if (me.recorded != nullptr) me.program->recorded->pause(me);
  while (wait(me, nullptr, 0, &until)) {
  }
  if (me.recorded != nullptr) me.program->recorded->go_on(me);
}

void run_timer(out<tick> to, clock::duration period) {
  const clock::time_point began = clock::now();
  for (std::uint64_t number = 1;;) {
    const clock::time_point until = began + number * period;
    for (; clock::now() < until; to.wait_for_end(until))
      if (to.is_broken() || to.stop_requested()) return;
    number = static_cast<std::uint64_t>((clock::now() - began) / period);
    if (to.try_send(tick{number}) == send_result::broken || to.stop_requested()) return;
    ++number;
  }
}

}  // namespace sukima::objects::detail
