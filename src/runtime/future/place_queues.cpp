// SPDX-License-Identifier: Apache-2.0
// Queues of places (placement_policy::queue): the scheme that the paper on Schematic calls naive in section
// 3. The policies that bound fibers and tasks are compared with it.
//
// A future that is launched with a hint waits in the queue of its place, first in, first out. Only workers in
// that place take from it, before any other fresh work. A task that touches the future waits. So each touch
// parks a fiber and each launch keeps a task, and nothing bounds either.
//
// A queue whose place has no worker belongs to the workers of the nearest place around it that has one. These
// workers change when a worker moves to another place, leaves, or waits without taking work. Each of these
// events notifies the workers to which the queue then belongs. Both sides write before they read:
//   - A thread that adds a future adds it, then reads where the workers are.
//   - A worker that leaves is first removed from the counts. It then checks the queues, under their lock.
// So if both happen at once, at least one of them notifies the workers. A notified worker has flag_place set.
// It clears the flag before it checks the queue, and does not sleep while the flag is set.
#include "fiber/fiber.hpp"
#include "fiber/switch.hpp"
#include "future/future.hpp"
#include "join/join_parts.hpp"
#include "park/park.hpp"
#include "place/made_up_machine.hpp"
#include "place/place_events.hpp"
#include "stress.hpp"
#include "worker.hpp"

#include <sukima/detail/jump.hpp>

#include <sukima/runtime.hpp>

#include <array>
#include <charconv>
#include <memory>
#include <mutex>
#include <utility>

namespace sukima::detail {

void launched_futures::choose_queue(launched& t) {
  if (t.place == SUKIMA_PLACE_ANY || t.place == SUKIMA_PLACE_WHOLE) return;
  const std::lock_guard hold(lock_);
  if (queues_ == nullptr) {
    const std::uint32_t places = sukima_place_table_count(&table_of_machine());
    queues_ = std::make_unique<list[]>(std::size_t{places} + 1);
    queue_count_ = places + 1;
  }
  if (t.place < queue_count_) t.queue = t.place;
}

launched* launched_futures::take_queued(const worker& w) noexcept {
  const std::lock_guard hold(lock_);
  for (std::uint32_t p = 0; p < queue_count_; ++p)
    if (queues_[p].oldest != nullptr && hints_.serves(w, static_cast<sukima_place>(p)))
      if (launched* const t = begin_oldest(queues_[p])) return t;
  return nullptr;
}

void launched_futures::call_workers_to(sukima_place queue) noexcept {
  for (worker& w : workers_.all()) {
    if (!hints_.serves(w, queue)) continue;
    request_place_check(w);
    unpark(w);
  }
}

void launched_futures::call_workers_to_queues() noexcept {
  if (chosen_.placement != placement_policy::queue) return;
  stress_point();
  const std::lock_guard hold(lock_);
  for (std::uint32_t p = 0; p < queue_count_; ++p)
    if (queues_[p].oldest != nullptr) call_workers_to(static_cast<sukima_place>(p));
}

void launched_futures::wait_for_queued(fiber& self, char* top, const launched& touched) {
  // Without another fiber, this fiber would wait in place, and keep its worker from the queue.
  fiber* const other = self.on->take_fiber();
  if (other == nullptr)
    end_if_queued("the stack of another fiber");
  else
    self.on->give_fiber(other);
  struct toucher {
    std::atomic<std::size_t>& count;  // no partner: number for a message
    explicit toucher(std::atomic<std::size_t>& c) noexcept : count(c) {
      count.fetch_add(1, std::memory_order_relaxed);
    }
    toucher(const toucher&) = delete;
    toucher& operator=(const toucher&) = delete;
    ~toucher() { count.fetch_sub(1, std::memory_order_relaxed); }
  } const counted(touchers_);
  wait_for_end(top, *touched.cell);
}

namespace {

/// A message that needs no allocation. Text that does not fit is left out.
class fixed_message {
 public:
  fixed_message& operator<<(const char* text) noexcept {
    for (; *text != '\0' && used_ + 1 < text_.size(); ++text) text_[used_++] = *text;
    return *this;
  }
  fixed_message& operator<<(std::size_t number) noexcept {
    std::array<char, 24> digits{};
    std::to_chars(digits.data(), digits.data() + digits.size() - 1, number);
    return *this << digits.data();
  }
  const char* text() const noexcept { return text_.data(); }

 private:
  std::array<char, 2048> text_{};
  std::size_t used_ = 0;
};

}  // namespace

void launched_futures::end_if_queued(const char* missing) noexcept {
  const std::lock_guard hold(lock_);
  // Futures that touches have claimed do not wait for a place.
  for (std::uint32_t p = 0; p < queue_count_; ++p)
    for (launched* t = queues_[p].oldest; t != nullptr;) {
      launched& candidate = *std::exchange(t, t->after);
      if (!candidate.unbegun.load(std::memory_order_relaxed)) move_to_begun(candidate);
    }
  if (queued_.load(std::memory_order_seq_cst) == 0) return;
  fixed_message message;
  message << "sukima: no memory for " << missing << "; " << queued_.load(std::memory_order_seq_cst)
          << " futures wait for their places";
  const char* between = " (";
  for (std::uint32_t p = 0; p < queue_count_; ++p) {
    std::size_t count = 0;
    for (const launched* t = queues_[p].oldest; t != nullptr; t = t->after) ++count;
    if (count == 0) continue;
    std::array<char, 64> name{};
    sukima_place_table_text(&table_of_machine(), static_cast<sukima_place>(p), name.data(), name.size());
    message << between << count << " for " << name.data();
    between = ", ";
  }
  message << ") and " << touchers_.load(std::memory_order_relaxed)
          << " fibers for them. SUKIMA_PLACEMENT=queue bounds neither; use exchange, which has no queues\n";
  end_program(message.text());
}

void no_memory_to_launch() noexcept {
  const fiber* const s = running_fiber();
  if (s != nullptr) parts_of<join_parts>(*s).launched.end_if_queued("another future");
}

bool launch_follows_hints() {
  const fiber* const s = running_fiber();
  placement_policy policy = placement_policy::off;
  if (s != nullptr)
    policy = s->runtime->chosen.placement;
  else
    use_default_runtime([&policy](const runtime& r) { policy = r.chosen().placement; });
  return policy != placement_policy::off;
}

}  // namespace sukima::detail
