// SPDX-License-Identifier: Apache-2.0
// The functions of a node that the program and the workers call, and the loop of its thread.
#include "steal/node.hpp"

#include "protocol/entry_name.hpp"
#include "protocol/exceptions.hpp"
#include "transport/progress_deadline.hpp"

#include <base/shared/exception_text.hpp>

#include <stdexcept>
#include <thread>
#include <utility>

namespace sukima::cluster {

namespace {

/// Pause before the node sends a message again that the transport has refused.
constexpr std::chrono::milliseconds between_tries{1};
constexpr std::chrono::seconds leaving_time{2};
/// The same for a node that leaves while the others continue, because they need its last results. Longer than
/// a node may be silent by default.
constexpr std::chrono::seconds early_leaving_time{10};

}  // namespace

node::node(runtime& workers, std::unique_ptr<transport> by, node_options chosen)
    : node_base(workers, std::move(by), chosen.solutions),
      chosen_(std::move(chosen)),
      is_sparse_(transport_->can().is_sparse),
      thief_(0, nodes_, 0, is_sparse_),
      outbox_(*transport_, nodes_),
      past_(chosen_.most_kept),
      is_welcome_(!chosen_.joins) {
  gone_.resize(nodes_);
  leaving_.resize(nodes_);
  has_talked_to_.resize(nodes_);
  has_joined_.resize(nodes_);
  small_tasks_ = small_tasks(nodes_);
  begin([this] { meet(); }, [this] { serve(); });
}

node::~node() { end(); }

void node::meet() {
  self_ = transport_->start(*this, clock::now() + chosen_.meeting_time);
  thief_ = thief(self_, nodes_, chosen_.seed * nodes_ + self_, is_sparse_);
  for (node_id n = 0; n < nodes_; ++n)
    if (gone_[n]) leave_out(n);
  has_met_ = true;
  detail::attach_node(workers_, *this);
}

void node::serve() {
  while (!is_ending()) {
    transport_->wait(next_look());
    for (event& e : events_.take()) take_event(e);
    look_for_node_0();
    outbox_.send_waiting();
    send_solutions_if_new();
    ask_others();
    ask_here();
    leave_when_done();
  }
  detail::detach_node(workers_);
  wait_for_leaving();
}

void node::wait_for_leaving() {
  for (event& e : events_.take()) take_event(e);
  // Nodes of MPI end together, so over MPI the node waits without a limit.
  const bool gives_up = transport_->can().sees_losses;
  std::vector<progress_deadline> ends(nodes_, progress_deadline(leaving_time));
  while (!outbox_.empty()) {
    const clock::time_point now = clock::now();
    for (node_id n = 0; n < nodes_; ++n) {
      const std::size_t waiting = outbox_.count(n);
      // The sum grows with each byte that the receiving node takes.
      if (gives_up && waiting != 0 && now >= ends[n].after(transport_->taken_by(n) - waiting, now))
        outbox_.close(n);
    }
    transport_->wait(now + between_tries);
    outbox_.send_waiting();
  }
  transport_->stop(has_left_ ? early_leaving_time : leaving_time);
}

clock::time_point node::next_look() const {
  const clock::time_point now = clock::now();
  clock::time_point until = now + std::chrono::hours(1);
  if (!outbox_.empty()) until = now + between_tries;
  const std::uint32_t entry = active_entry_.load(std::memory_order_seq_cst);
  if (entry == 0) return until;
  if (solutions_.has_news()) until = std::min(until, next_solutions_);
  if (const auto look = thief_.next_look(); look && !is_behind(entry)) until = std::min(until, *look);
  if (asking_here_ == asking::once) return until;
  if (const auto line = lifelines_.next(entry, small_tasks_, now)) {
    const auto look = lifelines_.next_look();
    // There is a standing request already, or the node makes one as soon as another node may get a task.
    if (look || asking_here_ == asking::nothing)
      until = std::min(until, std::max(line->from, look.value_or(line->from)));
  }
  return until;
}

void node::run(detail::cluster_entry& entry) {
  const std::uint32_t number = ++entries_;
  solutions_.begin_entry(number);
  active_entry_.store(number, std::memory_order_seq_cst);  // before the ring; pairs with: ask_others, idle
  // Discards a report for the previous entry. This may lose a report that a worker is making now, but the
  // worker repeats it soon (see remote_node::idle). pairs with: idle; look_for_idle_workers in asking.cpp
  idle_reported_.store(false, std::memory_order_seq_cst);
  transport_->ring();
  if (self_ == 0)
    run_here(entry);
  else
    help(entry);
}

void node::run_here(detail::cluster_entry& entry) {
  event over{.kind = event::type::entry_over, .id = active_entry_.load(std::memory_order_seq_cst)};
  put_name(over.content, name_of(entry));
  const std::size_t size_of_name = over.content.size();
  std::exception_ptr thrown;
  try {
    workers_.run([&](context c) { entry.run(entry, c); });
    entry.put(entry, over.content);
    if (over.content.size() > largest_message / 2)
      throw std::length_error("sukima: the result of an entry is longer than 128 MiB, and cannot travel");
  } catch (...) {
    thrown = std::current_exception();
    over.how = outcome::thrown;
    over.content.resize(size_of_name);
    const bytes exception = write_exception(thrown, self_);
    over.content.insert(over.content.end(), exception.begin(), exception.end());
  }
  over.solutions = solutions_.all();
  // Before the ring, which post makes. pairs with: idle; ask_others in asking.cpp
  active_entry_.store(0, std::memory_order_seq_cst);
  events_.post(std::move(over));
  if (thrown) std::rethrow_exception(thrown);
}

void node::help(detail::cluster_entry& entry) {
  const std::uint32_t number = active_entry_.load(std::memory_order_seq_cst);
  // During this call the runtime is inside an entry, so its workers search for work. This thread is one of
  // them.
  workers_.run([&](context c) {
    suspend(c, [&](resumer r) {
      std::unique_lock hold(lock_);
      if (results_.contains(number)) {
        hold.unlock();
        r.resume();
      } else {
        helper_ = r;
      }
    });
  });
  // Before the result is removed, under the lock. pairs with: awaited_entry in leaving.cpp
  active_entry_.store(0, std::memory_order_seq_cst);
  entry_result result;
  {
    const std::lock_guard hold(lock_);
    result = std::move(results_.at(number));
    results_.erase(number);
  }
  solutions_.merge(number, result.solutions);
  byte_view content = result.content;
  const std::string own = name_of(entry);
  if (const auto there = take_name(content); there != own)
    end_differing(sentence_of_difference(number, {there.value_or(""), 0}, {own, self_}));
  if (result.how != outcome::ok) std::rethrow_exception(read_exception(content));
  try {
    entry.get(entry, content);
  } catch (...) {
    // The exception is not one of the program: the others continue with the result.
    end_all({.sentence = "node " + std::to_string(self_) + " cannot decode the result of entry " +
                         std::to_string(number) + " from node 0: " + handled_exception_text(),
             .status = status_failed});
    throw;
  }
}

void node::end_differing(const std::string& sentence) {
  const byte_view text = std::as_bytes(std::span(sentence));
  events_.post({.kind = event::type::differs, .content = bytes(text.begin(), text.end())});
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));  // the cluster thread ends the process
}

traffic node::statistics() const {
  const std::lock_guard hold(lock_);
  return statistics_;
}

void node::answered(detail::task* t) noexcept { events_.post({.kind = event::type::answered, .t = t}); }

void node::unanswered() noexcept {
  // If the flag is already set, no ring is needed: the thread that set it rings, and then ask_here runs.
  // pairs with: ask_here in asking.cpp
  if (!unanswered_reported_.exchange(true, std::memory_order_seq_cst)) transport_->ring();
}

void node::idle() noexcept {
  // As in unanswered(). pairs with: run; look_for_idle_workers in asking.cpp
  if (active_entry_.load(std::memory_order_seq_cst) != 0 &&
      !idle_reported_.exchange(true, std::memory_order_seq_cst))
    transport_->ring();
}

void node::aborted(std::uint64_t id) noexcept { events_.post({.kind = event::type::aborted, .id = id}); }

void node::ended(detail::received_task& done_task) noexcept {
  event e{.kind = event::type::ended, .t = &done_task};
  try {
    if (done_task.aborted) {
      e.how = outcome::aborted;
    } else if (done_task.error) {
      e.how = outcome::thrown;
      e.content = write_exception(done_task.error, self_);
    } else {
      done_task.form->put_result(done_task, e.content);
      if (e.content.size() > largest_message / 2)
        throw std::length_error("sukima: the result of a task is longer than 128 MiB, and cannot travel");
    }
  } catch (...) {  // thrown by the user's codec, or the result is too long
    e.how = outcome::thrown;
    e.content.clear();
    e.content = write_exception(std::current_exception(), self_);
  }
  events_.post(std::move(e));
}

}  // namespace sukima::cluster
