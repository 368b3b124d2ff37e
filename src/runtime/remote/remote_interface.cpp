// SPDX-License-Identifier: Apache-2.0
#include "remote/remote_interface.hpp"

#include <base/shared/assert.hpp>
#include "cancel/abort.hpp"
#include "choice/backtrack.hpp"
#include "choice/clone_grain.hpp"
#include "choice/poll.hpp"
#include "fiber/fiber.hpp"
#include "fiber/suspend.hpp"
#include "fiber/switch.hpp"
#include "park/park.hpp"
#include "shared/remote.hpp"
#include "steal/injector.hpp"
#include "steal/steal.hpp"
#include "steal/steal_parts.hpp"
#include "stress.hpp"
#include "worker.hpp"

#include <sukima/detail/executor.hpp>
#include <sukima/detail/ticks.hpp>

#include <algorithm>
#include <exception>

namespace sukima::detail {

void remote_interface::attach(remote_node& node) {
  const std::lock_guard hold(calling_);
  node_ = &node;
  attached_.store(true, std::memory_order_seq_cst);
  workers_are_asked_.store(true, std::memory_order_seq_cst);
}

void remote_interface::detach() noexcept {
  const std::lock_guard hold(calling_);
  // A worker that still has the question finds that no task is wanted.
  word_.fetch_and(~(wanted | stands), std::memory_order_seq_cst);
  node_ = nullptr;
}

void remote_interface::begins(worker& w) noexcept {
  // The flag is stored before the word is read. request() changes the word before it reads the flags.
  w.answers_remote.store(true, std::memory_order_seq_cst);
  stress_point();
  if ((word_.load(std::memory_order_seq_cst) & stands) == 0) return;
  ask(w);
  // Another fiber reads the flag when the worker switches to it.
  if (fiber* const s = w.current.load(std::memory_order_seq_cst)) s->limit.request_poll();
}

void remote_interface::stops(worker& w) noexcept {
  // The flag is stored before the question is taken. ask_all() sets the question before it reads the flag
  // again.
  w.answers_remote.store(false, std::memory_order_seq_cst);
  stress_point();
  if (w.asked_by_node.exchange(false, std::memory_order_seq_cst)) reply(nullptr);
}

void remote_interface::ask(worker& w) noexcept {
  // The worker is counted first. The thread that takes the question removes the count.
  word_.fetch_add(one_asked, std::memory_order_seq_cst);
  stress_point();
  set_question(w);
}

void remote_interface::set_question(worker& w) noexcept {
  // If the worker has a question already, that one is counted, too.
  if (w.asked_by_node.exchange(true, std::memory_order_seq_cst)) reply(nullptr);
  stress_point();
  w.flags.fetch_or(flag_remote, std::memory_order_seq_cst);
  stress_point();
}

void remote_interface::request(giver then, request_kind kind) noexcept {
  SUKIMA_ASSERT((word_.load(std::memory_order_seq_cst) & wanted) == 0, "one request at a time");
  const bool waits = then == giver::waits;
  giver_waits_.store(waits, std::memory_order_seq_cst);
  polls_left_.store(waits ? polls_before_unanswered : 0, std::memory_order_seq_cst);
  word_.fetch_add(wanted + (kind == request_kind::standing ? stands : 0) + one_asked,
                  std::memory_order_seq_cst);
  ask_all();
}

void remote_interface::remind() noexcept {
  // If the request has been answered since, the workers that are asked find that no task is wanted.
  word_.fetch_add(one_asked, std::memory_order_seq_cst);
  ask_all();
}

bool remote_interface::withdraw() noexcept {
  return (word_.fetch_and(~(wanted | stands), std::memory_order_seq_cst) & wanted) != 0;
}

void remote_interface::ask_all() noexcept {
  // A task in the queue is ready for any worker or node; idle workers of this node come first.
  if (!park_.has_idle_workers()) {
    if (task* const queued = injector_.take_for_node()) {
      reply(queued);
      return;
    }
  }
  for (worker& w : workers_.all()) {
    if (!w.answers_remote.load(std::memory_order_seq_cst)) continue;
    ask(w);
    // The question comes before the second read. stops() clears the flag before it takes the question.
    if (!w.answers_remote.load(std::memory_order_seq_cst)) {
      if (w.asked_by_node.exchange(false, std::memory_order_seq_cst)) reply(nullptr);
    } else if (fiber* const s = w.current.load(std::memory_order_seq_cst)) {
      s->limit.request_poll();
    }
  }
  reply(nullptr);
}

remote_interface::replied remote_interface::reply(task* given, const resumer* waiting) noexcept {
  std::uint32_t seen = word_.load(std::memory_order_seq_cst);
  std::uint32_t next = 0;
  for (;;) {
    next = seen - one_asked;
    const bool answers = (seen & wanted) != 0 && (given != nullptr || next == wanted);
    if (answers) next &= ~(wanted | stands);
    if (!word_.compare_exchange_weak(seen, next, std::memory_order_seq_cst)) continue;
    if (!answers) break;
    const std::lock_guard hold(calling_);
    if (node_ == nullptr) break;
    if (waiting != nullptr)
      node_->answered_by_waiting(*given, *waiting);
    else
      node_->answered(given);
    return {next, given != nullptr};
  }
  if (given != nullptr) injector_.push(given, queue_end::front);
  return {next, false};
}

bool remote_interface::reply_and_wait(fiber& s, task& t) noexcept {
  const std::uint64_t number = begin_suspension(s);
  const resumer waiting = suspension_resumer(s);
  if (reply(&t, &waiting).given) {
    wait_at_poll(s);
    return true;
  }
  const bool is_running = claim_suspension(s, number);
  SUKIMA_ASSERT(is_running, "no other thread knew of this suspension");
  static_cast<void>(is_running);
  return false;
}

bool remote_interface::is_kept_for_next_poll(std::uint32_t word, poll_place place) noexcept {
  if ((word & stands) == 0) return place == poll_place::clone;
  // Two workers may count the same poll. The number is only a bound for work without constructs.
  const unsigned left = polls_left_.load(std::memory_order_seq_cst);
  if (left == 0) return false;
  polls_left_.store(left - 1, std::memory_order_seq_cst);
  return true;
}

bool remote_interface::let_another_run(fiber& s) noexcept {
  fiber* const other = injector_.take_runnable();
  if (other == nullptr) return false;
  inject_published(s);
  switch_to(
      *s.on, s, *other, [](worker& w, fiber* from, void*) { parts_of<steal_parts>(w).injector.push(from); },
      nullptr);
  return true;
}

remote_interface::answered remote_interface::answer(fiber& self, choice_point* end, choice_point* polling,
                                                    poll_place place) noexcept {
  worker& w = *self.on;
  w.flags.fetch_and(~flag_remote, std::memory_order_seq_cst);
  std::uint32_t left = 0;
  bool may_switch = false;
  if (!w.asked_by_node.exchange(false, std::memory_order_seq_cst)) {
    // The question was answered already, or taken back because this worker was idle.
    left = word_.load(std::memory_order_seq_cst);
  } else {
    stress_point();
    task* t = nullptr;
    const std::uint32_t word = word_.load(std::memory_order_seq_cst);
    if ((word & wanted) != 0) {
      note_split(self, ticks());
      t = self.published.reclaim_oldest(
          chosen_.published_tasks, [](const task& published) { return published.kind->travel != nullptr; });
      if (t != nullptr)
        self.publish_wanted.store(true, std::memory_order_seq_cst);
      else if ((t = split_oldest(self, end, polling, w, taker::node)) != nullptr)
        ++w.statistics.promotions;
      else if (is_kept_for_next_poll(word, place)) {
        set_question(w);
        return answered::not_yet;
      }
    }
    // A fiber must not wait while an exception unwinds its stack, because other threads may need objects on
    // that stack.
    const bool may_wait =
        self.thread_bindings == 0 && self.home == nullptr && std::uncaught_exceptions() == 0;
    if (t != nullptr && may_wait && giver_waits_.load(std::memory_order_seq_cst))
      return reply_and_wait(self, *t) ? answered::after_waiting : answered::yes;
    left = reply(t).left;
    may_switch = (word & wanted) != 0 && t == nullptr && may_wait;
  }
  if ((left & stands) != 0) {
    const std::lock_guard hold(calling_);
    if (node_ != nullptr) node_->unanswered();
  }
  return may_switch && let_another_run(self) ? answered::after_waiting : answered::yes;
}

void remote_interface::report_idle() noexcept {
  const std::lock_guard hold(calling_);
  if (node_ != nullptr) node_->idle();
}

std::uint64_t remote_interface::give_away(task& t) {
  std::uint64_t id = 0;
  {
    const std::lock_guard hold(given_lock_);
    id = ++last_id_;
    given_.push_back({id, &t, false});
  }
  abort_given();  // an abort that was written before did not find this task
  return id;
}

task* remote_interface::take_given(std::uint64_t id) noexcept {
  const std::lock_guard hold(given_lock_);
  const auto found =
      std::find_if(given_.begin(), given_.end(), [&](const given_task& g) { return g.id == id; });
  if (found == given_.end()) return nullptr;
  task* const t = found->t;
  *found = given_.back();
  given_.pop_back();
  return t;
}

void remote_interface::abort_given() noexcept {
  const std::lock_guard hold(given_lock_);
  for (given_task& g : given_) {
    // The task and its ancestors still exist, because its owner, and all owners above it, wait.
    if (g.abort_reported || !is_task_concerned(g.t)) continue;
    g.abort_reported = true;
    const std::lock_guard calls(calling_);
    if (node_ != nullptr) node_->aborted(g.id);
  }
}

void remote_interface::received_ended(received_task& t) noexcept {
  const std::lock_guard hold(calling_);
  SUKIMA_ASSERT(node_ != nullptr, "a node stays while a task runs that it has delivered");
  node_->ended(t);
}

}  // namespace sukima::detail
