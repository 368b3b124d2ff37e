// SPDX-License-Identifier: Apache-2.0
// The functions of a node that the program and the workers call, the loop of its thread, and the course of an
// entry.
#include "hope/node.hpp"

#include "protocol/entry_name.hpp"

#include <sukima/detail/fixed_order.hpp>

#include <algorithm>

namespace sukima::cluster::hope {

namespace {

/// Number of results of past entries that are kept for nodes that are late, and for nodes that may join.
constexpr std::uint64_t kept_entries = 16;
constexpr std::uint64_t kept_for_newcomers = std::uint64_t{1} << 20;

}  // namespace

node::node(runtime& workers, std::unique_ptr<transport> by, node_options chosen)
    : node_base(workers, std::move(by), chosen.solutions),
      chosen_(chosen),
      entry_results_(transport_->can().takes_joins ? kept_for_newcomers : kept_entries, chosen.memory),
      is_newcomer_(chosen.joins),
      others_(*transport_, solutions_, counters_, chosen.most_direct, [this] { return subscription(); }),
      questions_(others_.gone(),
                 [this](node_id to, const result_name& name) {
                   return others_.announce_to(
                       to, {.kind = note_kind::missing, .entry = name.entry, .task = name.task});
                 }),
      store_(chosen.memory),
      draws_(chosen.seed),
      requests_(transport_->nodes(), chosen.before_helping) {
  detail::combines_in_fixed_order = true;  // partner: uses_fixed_order
  begin([this] { meet(); }, [this] { serve(); });
}

node::~node() { end(); }

void node::meet() {
  self_ = transport_->start(*this, clock::now() + chosen_.meeting_time);
  requests_.lose(self_);
  others_.begin(self_);
  questions_.begin(self_);
  follow_number();
  detail::attach_node(workers_, *this);
}

void node::serve() {
  while (!is_ending()) {
    transport_->wait(next_turn());
    turn();
    others_.send_if_due();
  }
  others_.stop();
  detail::detach_node(workers_);
  transport_->stop(leaving_time);
}

void node::turn() {
  for (event& e : events_.take()) take_event(e);
  withdraw_question_of_plan();
  for (const auto& [to, name] : questions_.try_again(clock::now())) answer_question(to, name);
  if (active_ == nullptr) return;
  if (!is_over_) {
    others_.announce_solutions_if_new(entry_, clock::now());
    announce_due_claims();
    run_next();
    give_to_others();
    ask_here();
  }
  SUKIMA_ASSERT_VALID_PACED(*this, walks_, units_.size() + given_.size());
  conclude_if_over();
}

clock::time_point node::next_turn() const {
  clock::time_point until = clock::now() + std::chrono::hours(1);
  until = std::min({until, others_.next_bundle(), questions_.next_try()});
  if (active_ == nullptr || is_over_) return until;
  until = std::min(until, others_.next_solutions());
  if (!asked_for_) {
    if (!others_.is_alone()) until = std::min(until, next_tick_);
    // Must agree with next_purpose: if a time has come and there is nothing to do, the thread would never
    // sleep.
    if (plan_.is_under_way() ? plan_.has_begun() : helping_.has_value()) until = std::min(until, not_before_);
    if (has_room_for_units() && is_worth_a_look()) until = std::min(until, looks_.next());
    if (!asking_.empty() && !plan_.is_under_way()) until = std::min(until, give_again_);
    until = std::max(until, may_take_back());
  }
  if (is_idle() && (!held_.empty() || !units_left_to_others().empty())) {
    const clock::time_point may_go_on = requests_.idle_since() + chosen_.before_going_on;
    until = std::min(until, clock::now() < may_go_on ? may_go_on : requests_.end_of_patience());
  }
  if (is_idle() && !others_.is_alone()) until = std::min(until, requests_.next_request());
  for (const auto& [key, u] : units_) {
    if (u->running != nullptr && u->is_mine && !u->is_claimed && !others_.is_alone())
      until = std::min(until, u->since + chosen_.before_claiming);
  }
  return until;
}

void node::take_event(event& e) {
  switch (e.kind) {
    case event::type::begins:
      begin_entry(*e.entry);
      return;
    case event::type::answered:
      answer_came(e);
      return;
    case event::type::began:
      if (e.of != nullptr)
        e.of->began = true;
      else
        root_->began = true;
      goes_on(e.of != nullptr ? e.of->key : name_of_entry);
      --unbegun_;
      place_began(e.of);
      if (e.giver) ask_and_resume(e.giver);
      return;
    case event::type::unanswered:
      if (asked_for_ == purpose::plan && detail::withdraw_request(workers_)) {
        asked_for_.reset();
        nothing_came(purpose::plan);
      }
      return;
    case event::type::aborted:
      forget_task(e.id);
      return;
    case event::type::ended:
      if (e.of == nullptr)
        root_ended(e);
      else
        unit_ended(e);
      return;
  }
}

void node::begin_entry(active_entry& e) {
  ++entry_;
  active_ = &e;
  entry_name_.clear();
  put_name(entry_name_, name_of(*e.called));
  is_over_ = false;
  solutions_.begin_entry(entry_);
  requests_.begin();
  entry_results_.begin_entry(entry_);
  questions_.begin_entry(entry_);
  if (const entry_value* const known = entry_results_.find(entry_)) {
    compare_entries(entry_, {entry_name_, self_}, {known->content, known->from});
    if (take_value(*known)) {
      end_entry();
      return;
    }
    entry_results_.remove(entry_);
  }
  root_ = new root_task;
  root_->owner = this;
  root_->called = e.called;
  root_->run = run_root;
  root_->destroy = detail::delete_task<root_task>;
  begin_plan();
  if (is_newcomer_) begin_as_newcomer();
  root_->waits = plan_.is_under_way();
  ++unbegun_;
  delivered_ = clock::now();
  detail::deliver(workers_, *root_);
  early_size_ = 0;
  for (const auto& [from, note] : std::exchange(early_, {})) on_message(from, note);
}

void node::run_root(detail::task* t, context c) {
  auto* const root = static_cast<root_task*>(t);
  root->owner->report_begun(nullptr, root->waits, c);
  root->called->run(*root->called, c);
}

void node::report_begun(unit* u, bool waits, context c) {
  if (!waits) {
    events_.post({.kind = event::type::began, .of = u});
    return;
  }
  suspend(c, [&](resumer r) { events_.post({.kind = event::type::began, .of = u, .giver = r}); });
}

void node::root_ended(event& e) {
  if (!root_->began) --unbegun_;
  root_ = nullptr;
  e.t->destroy(e.t);
  if (!is_over_ && !is_behind()) is_newcomer_ = false;
  if (e.how == outcome::ok) active_->received.reset();  // the call has already stored its result
  if (e.how == outcome::ok && !e.is_unencodable) {
    const entry_value value{self_, std::move(e.content), solutions_.all()};
    entry_results_.put(entry_, value);
    if (!is_over_) {
      const std::vector<bool> reached = others_.announce_entry_result(entry_, value);
      for (const node_id to : questions_.entry_known(entry_, self_))
        if (!reached[to]) send_entry_result(to, entry_, value);
    }
  } else if (e.how == outcome::thrown && !active_->received) {
    active_->error = std::move(e.error);  // every node throws its own exception
  }
  end_entry();
}

void node::end_entry() {
  if (is_over_) return;
  is_over_ = true;
  questions_.end_entry();
  if (root_ != nullptr) detail::cancel(workers_, *root_);
  std::vector<unit*> all;
  for (const auto& [key, u] : units_) all.push_back(u.get());
  // Tasks that are taken back, and tasks that continue, must find that they were aborted.
  for (unit* const u : all)
    if (u->running != nullptr) stop(*u);
  for (unit* const u : all) drop(*u);
  for (const held_giver& h : std::exchange(held_, {})) h.giver.resume();
}

void node::conclude_if_over() {
  if (!is_over_ || root_ != nullptr || !units_.empty() || asked_for_) return;
  claims_.clear();
  store_.clear();
  helping_.reset();
  plan_.end();
  asking_.clear();
  others_.end_entry(entry_);
  const resumer waiting = std::exchange(active_, nullptr)->waiting;
  waiting.resume();  // from here on the entry no longer exists
}

void node::run(detail::cluster_entry& called) {
  active_entry e{.called = &called};
  // During this call the runtime is inside an entry, so its workers search for work. This thread is one of
  // them.
  workers_.run([&](context c) {
    suspend(c, [&](resumer r) {
      e.waiting = r;
      events_.post({.kind = event::type::begins, .entry = &e});
    });
  });
  if (e.error) std::rethrow_exception(e.error);
  if (!e.received) return;
  byte_view content = e.received->content;
  take_name(content);  // already compared
  try {
    called.get(called, content);
  } catch (...) {
    end_by_codec("decode the result of entry " + std::to_string(entry_) + " from node " +
                     std::to_string(e.received->from),
                 std::current_exception());
    throw;
  }
}

void node::answered(detail::task* t) noexcept { events_.post({.kind = event::type::answered, .t = t}); }

void node::answered_by_waiting(detail::task& t, resumer of_giver) noexcept {
  events_.post({.kind = event::type::answered, .t = &t, .giver = of_giver});
}

void node::unanswered() noexcept { events_.post({.kind = event::type::unanswered}); }

void node::idle() noexcept { transport_->ring(); }

void node::aborted(std::uint64_t id) noexcept { events_.post({.kind = event::type::aborted, .id = id}); }

void node::ended(detail::received_task& done_task) noexcept {
  event e{.kind = event::type::ended, .t = &done_task};
  e.of = done_task.form != nullptr ? &unit_of(done_task) : nullptr;
  try {
    if (done_task.aborted) {
      e.how = outcome::aborted;
    } else if (done_task.error) {
      e.how = outcome::thrown;
      e.error = std::move(done_task.error);  // the task must not keep a reference
    } else if (e.of != nullptr) {
      done_task.form->put_result(done_task, e.content);
    } else {
      detail::cluster_entry& called = *static_cast<root_task&>(done_task).called;
      put_name(e.content, name_of(called));
      called.put(called, e.content);
    }
  } catch (...) {  // thrown by the user's codec
    // The entry's own call has stored its result, which this node returns but cannot send.
    e.how = e.of != nullptr ? outcome::thrown : outcome::ok;
    e.error = std::current_exception();
    e.is_unencodable = true;
  }
  events_.post(std::move(e));
}

}  // namespace sukima::cluster::hope
