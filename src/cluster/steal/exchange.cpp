// SPDX-License-Identifier: Apache-2.0
// The messages of the cluster thread: which messages the events of this node send, and how it handles the
// messages of other nodes. Requests for work and tasks given away: asking.cpp.
#include "steal/node.hpp"

#include "protocol/exceptions.hpp"
#include "protocol/reader.hpp"
#include "transport/sparse_graph.hpp"

#include <algorithm>
#include <utility>

namespace sukima::cluster {

namespace {

/// Shortest time between two messages with improved solutions.
constexpr std::chrono::microseconds between_solutions{500};

/// Returns the counter of messages of this kind, besides the counter of all messages. Null: there is none.
std::uint64_t traffic::* count_of(message_kind kind) noexcept {
  switch (kind) {
    case message_kind::request:
      return &traffic::requests;
    case message_kind::none:
      return &traffic::refusals;
    case message_kind::lifeline:
      return &traffic::lifelines;
    case message_kind::abort:
      return &traffic::aborts;
    case message_kind::result:
      return &traffic::answers;
    case message_kind::missing:
      return &traffic::questions;
    default:
      return nullptr;
  }
}

}  // namespace

void node::send(node_id to, const message& m) {
  has_talked_to_[to] = true;
  const std::size_t size = outbox_.send(to, m);
  if (size == 0) return;
  const std::lock_guard hold(lock_);
  ++statistics_.notes;
  statistics_.sent_bytes += size;
  if (const auto count = count_of(m.kind); count != nullptr) ++(statistics_.*count);
}

void node::send_solutions_if_new() {
  const auto now = clock::now();
  const std::uint32_t entry = active_entry_.load(std::memory_order_seq_cst);
  if (entry == 0 || now < next_solutions_ || !solutions_.take_news()) return;
  next_solutions_ = now + between_solutions;
  const sukima::detail::solution_snapshot known = solutions_.snapshot();
  for (node_id n = 0; n < nodes_; ++n)
    if (n != self_ && !gone_[n] && (!is_sparse_ || ask_each_other(self_, n, nodes_)))
      send_solutions(n, known);
}

void node::send_solutions(node_id to, const sukima::detail::solution_snapshot& known) {
  if (known.content.empty()) return;
  send(to, {.kind = message_kind::best,
            .entry = static_cast<std::uint32_t>(known.entry),
            .solutions = known.content});
}

void node::end_all(const run_failure& why) {
  if (chosen_.on_failure) chosen_.on_failure(why);
}

void node::take_event(event& e) {
  switch (e.kind) {
    case event::type::answered:
      asking_here_ = asking::nothing;
      if (e.t != nullptr)
        give(*e.t);
      else
        refuse_all();
      return;
    case event::type::aborted:
      if (const auto where = given_.find(e.id); where != given_.end())
        send(where->second.where, {.kind = message_kind::abort, .id = e.id});
      return;
    case event::type::ended: {
      auto* const t = static_cast<detail::received_task*>(e.t);
      const auto here = received_.find({t->from, t->id});
      if (here == received_.end()) {
        end_all({"a task of node " + std::to_string(t->from) + " ended on node " + std::to_string(self_) +
                 ", which does not have it"});
        return;
      }
      const bytes solutions = solutions_.all();
      send(t->from, {.kind = message_kind::result,
                     .how = e.how,
                     .id = t->id,
                     .solutions = solutions,
                     .content = e.content});
      if (e.how != outcome::aborted) small_tasks_.on_ended(clock::now() - here->second.since);
      received_.erase(here);
      t->destroy(t);
      return;
    }
    case event::type::entry_over:
      for (node_id n = 0; n < nodes_; ++n)
        if (n != self_ && !gone_[n])
          send(n, {.kind = message_kind::entry,
                   .how = e.how,
                   .entry = static_cast<std::uint32_t>(e.id),
                   .solutions = e.solutions,
                   .content = e.content});
      refuse_all();
      lifelines_.begin_entry(static_cast<std::uint32_t>(e.id) + 1);
      if (transport_->can().takes_joins) past_.add({e.how, std::move(e.content), std::move(e.solutions)});
      return;
    case event::type::differs:
      for (node_id n = 0; n < nodes_; ++n)  // the other nodes do not depend on a node that joined
        if (n != self_ && !gone_[n] && !chosen_.joins)
          send(n, {.kind = message_kind::differs, .content = e.content});
      wait_for_leaving();
      end_all({.sentence = text_of(e.content), .status = status_usage, .differs = true});
      return;
  }
}

void node::on_message(node_id from, byte_view bytes_of_message) {
  if (has_left_) return;
  const auto m = read_message(bytes_of_message);
  if (!m) {
    end_all({"node " + std::to_string(from) + " sent a malformed message"});
    return;
  }
  if (leaving_[self_] && !has_talked_to_[from]) send(from, {.kind = message_kind::leaves});
  has_talked_to_[from] = true;
  switch (m->kind) {
    case message_kind::request:
      small_tasks_.set_round_trip(from, std::chrono::microseconds(m->round_trip));
      if (!leaving_[self_]) requests_[from] = {m->entry, m->request};  // else `leaves` is the answer
      return;
    case message_kind::none:
      thief_.on_none(from, m->request, clock::now());
      return;
    case message_kind::lifeline:
      small_tasks_.set_round_trip(from, std::chrono::microseconds(m->round_trip));
      if (!leaving_[self_]) lifelines_.add(from, m->entry);
      return;
    case message_kind::task:
      take_task(from, *m);
      return;
    case message_kind::result:
    case message_kind::declined:
      take_result(from, *m);
      return;
    case message_kind::abort:
      if (const auto found = received_.find({from, m->id}); found != received_.end())
        detail::cancel(workers_, *found->second.t);
      return;
    case message_kind::entry:
      take_entry(*m);
      return;
    case message_kind::differs:
      end_all({.sentence = text_of(m->content), .status = status_usage, .differs = true});
      return;
    case message_kind::best:
      take_best(from, *m);
      return;
    case message_kind::leaves:
      leaving_[from] = true;
      leave_out(from);
      return;
    case message_kind::welcome:
      take_welcome(from, *m);
      return;
    case message_kind::missing:
      answer_missing(from, *m);
      return;
  }
}

void node::take_task(node_id from, const message& m) {
  const detail::travel_form* const form = forms_[m.function];
  if (form == nullptr || m.entry != active_entry_.load(std::memory_order_seq_cst)) {
    end_all({"node " + std::to_string(from) + " sent a task of " +
             (form == nullptr ? "an unknown function" : "another entry")});
    return;
  }
  if (received_.contains({from, m.id})) {
    end_all({"node " + std::to_string(from) + " sent a task twice"});
    return;
  }
  const auto now = clock::now();
  thief_.measure(from, m.request, now);
  look_for_idle_workers();
  if (leaving_[self_] || !thief_.keeps_task(from)) {  // late or for a lifeline; others may need it
    thief_.on_surplus(from);
    send(from, {.kind = message_kind::declined, .id = m.id});
    return;
  }
  thief_.on_task(from);
  detail::received_task* t = nullptr;
  try {
    t = form->make(*form, m.content);
  } catch (...) {
    const bytes why = write_exception(std::current_exception(), self_);
    send(from, {.kind = message_kind::result, .how = outcome::thrown, .id = m.id, .content = why});
    return;
  }
  t->form = form;
  t->from = from;
  t->id = m.id;
  received_.emplace(std::pair(from, m.id), stolen_task{t, now});
  {
    const std::lock_guard hold(lock_);
    ++statistics_.received;
  }
  detail::deliver(workers_, *t);
  lifelines_.on_work(clock::now());
}

void node::take_result(node_id from, const message& m) {
  const auto found = given_.find(m.id);
  detail::given_outcome how;
  how.result = m.content;
  how.aborted = m.how == outcome::aborted;
  if (m.how == outcome::thrown) how.error = read_exception(m.content);
  const bool expected = found != given_.end() && found->second.where == from;
  const bool declined = m.kind == message_kind::declined;
  // First, because the task may have pruned by these solutions, and its owner then continues.
  take_solutions(from, active_entry_.load(std::memory_order_seq_cst), m.solutions);
  if (!expected || !(declined ? take_back(m.id) : detail::finish(workers_, m.id, std::move(how)))) {
    end_all({"node " + std::to_string(from) + (declined ? " declined" : " sent the result of") +
             " a task that it did not have"});
    return;
  }
  if (declined) return;
  if (m.how != outcome::aborted) small_tasks_.on_result(from, clock::now() - found->second.since);
  given_.erase(found);
}

bool node::take_back(std::uint64_t id) {
  if (!detail::take_back(workers_, id)) return false;
  given_.erase(id);
  lifelines_.on_work(clock::now());
  const std::lock_guard hold(lock_);
  --statistics_.given;
  return true;
}

void node::take_solutions(node_id from, std::uint32_t entry, byte_view solutions) {
  const bool passes_on = is_sparse_ && !solutions.empty();
  const bytes before = passes_on ? solutions_.all() : bytes{};
  if (!solutions_.merge(entry, solutions))
    end_all({"node " + std::to_string(from) + " sent a malformed solution"});
  // Sends them to the partners, which forward them in turn.
  if (passes_on && solutions_.all() != before) solutions_.announce();
}

void node::take_best(node_id from, const message& m) {
  // The board drops solutions of a later entry, and the sender sends them only once.
  if (m.entry > last_begun_)
    early_solutions_[from] = {m.entry, {m.solutions.begin(), m.solutions.end()}};
  else
    take_solutions(from, m.entry, m.solutions);
}

void node::take_early_solutions(std::uint32_t entry) {
  for (const auto& [from, early] : early_solutions_) take_solutions(from, early.entry, early.content);
  std::erase_if(early_solutions_, [&](const auto& early) { return early.second.entry <= entry; });
}

void node::take_entry(const message& m) {
  lifelines_.begin_entry(m.entry + 1);
  promised_until_ = std::max(promised_until_, static_cast<std::uint32_t>(m.id));
  resumer waits;
  {
    const std::lock_guard hold(lock_);
    results_[m.entry] = {
        m.how, {m.content.begin(), m.content.end()}, {m.solutions.begin(), m.solutions.end()}};
    // The program stores the number before help() takes the lock. pairs with: run in node.cpp
    if (m.entry == active_entry_.load(std::memory_order_seq_cst)) waits = std::exchange(helper_, {});
  }
  if (waits) waits.resume();
}

void node::on_lost(node_id gone, const std::string& why) {
  gone_[gone] = true;
  outbox_.close(gone);
  if (goes_on_without(gone)) {
    leave_out(gone);
    return;
  }
  const auto tasks =
      std::count_if(given_.begin(), given_.end(), [&](const auto& g) { return g.second.where == gone; });
  const std::uint32_t entry = active_entry_.load(std::memory_order_seq_cst);
  std::string sentence = "node " + std::to_string(gone) + " was lost (" + why + ")";
  if (entry != 0)
    sentence += " while it ran " + std::to_string(tasks) + " tasks of node " + std::to_string(self_) +
                " in entry " + std::to_string(entry);
  end_all({sentence + "; run the program again", status_lost, static_cast<int>(gone)});
}

}  // namespace sukima::cluster
