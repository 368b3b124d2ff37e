// SPDX-License-Identifier: Apache-2.0
// The life of a unit: it is named, it runs or is omitted, and it ends.
#include "hope/node.hpp"

#include <base/shared/exception_text.hpp>

#include <stdexcept>
#include <string>

namespace sukima::cluster::hope {

node::unit* node::find(const task_key& key) const {
  const auto found = units_.find(key);
  return found == units_.end() ? nullptr : found->second.get();
}

void node::name(detail::task& named, resumer giver, purpose asked) {
  const detail::travel_point& travel = *named.kind->travel;
  const auto number = forms_.number_of(*travel.form);
  bytes arguments;
  bool has_name = number.has_value();
  try {
    if (has_name) travel.put(named, arguments);
    if (arguments.size() > largest_message / 2) has_name = false;
  } catch (...) {  // the task runs here, which needs no encoding
    has_name = false;
  }
  if (!has_name) {
    detail::keep_here(workers_, named);
    if (giver) giver.resume();
    nothing_came(asked);
    return;
  }
  const task_key key = key_of(entry_, *number, arguments);
  const task_key origin = within(named);
  const std::uint64_t id = detail::give_away(workers_, named);
  counters_.add(&counts::named);
  looks_.has_name_here(key);
  given_task& given = given_[id];
  given.giver = giver;
  const bool is_of_plan = origin == plan_.place();
  if (asked == purpose::plan && is_of_plan) {
    given.helping = plan_.place();
    given.began = plan_.group();
  }
  const bool is_off_plan = asked == purpose::plan && plan_.is_under_way() && !is_of_plan;
  if (const bytes* const known = store_.find(key)) {
    counters_.add(&counts::omitted);
    finish(id, {.result = *known, .error = nullptr, .aborted = false});
    if (is_off_plan)
      nothing_came(asked);
    else
      place(nullptr, standing::known, id, asked);
    return;
  }
  unit* u = find(key);
  if (u == nullptr) u = &new_unit(key, origin, *travel.form, std::move(arguments));
  given.of = u;
  u->waiting.push_back(id);
  if (is_off_plan || (asked == purpose::help && helping_ != origin)) {
    // All workers received the request, and one in another unit has answered. No other node continues that
    // unit.
    let_giver_go(id);
    nothing_came(asked);
    return;
  }
  const bool is_under_way = u->running != nullptr || claims_.of(key) == claims::state::claimed;
  place(u, is_under_way ? standing::under_way : standing::of_no_interest, id, asked);
}

node::unit& node::new_unit(const task_key& key, const task_key& within, const detail::travel_form& form,
                           bytes arguments) {
  std::unique_ptr<unit>& u = units_[key];
  u = std::make_unique<unit>();
  u->owner = this;
  u->key = key;
  u->within = within;
  u->number = ++last_number_;
  u->form = &form;
  u->arguments = std::move(arguments);
  others_.needs_other_notes(false);
  return *u;
}

task_key node::within(const detail::task& t) const {
  const detail::task* above = t.parent;
  while (above != nullptr && !detail::came_from_node(workers_, *above)) above = above->parent;
  if (above == nullptr) return name_of_entry;
  const auto& received = static_cast<const detail::received_task&>(*above);
  return received.form != nullptr ? unit_of(received).key : name_of_entry;
}

node::unit& node::unit_of(const detail::received_task& t) noexcept {
  return *reinterpret_cast<unit*>(static_cast<std::uintptr_t>(t.id));
}

void node::run_unit(detail::task* t, context c) {
  unit& u = unit_of(*static_cast<detail::received_task*>(t));
  u.owner->report_begun(&u, u.waits, c);
  u.run(t, c);
}

void node::start(unit& u, claim_as how) {
  detail::received_task* t = nullptr;
  try {
    t = u.form->make(*u.form, u.arguments);
  } catch (...) {
    end_by_codec("decode the arguments of a task", std::current_exception());
    fail(u, std::current_exception());
    return;
  }
  u.run = std::exchange(t->run, run_unit);
  t->form = u.form;
  t->id = reinterpret_cast<std::uintptr_t>(&u);
  u.running = t;
  u.since = delivered_ = clock::now();
  u.began = false;
  u.waits = plan_.is_under_way() && plan_.place() == u.key;
  ++unbegun_;
  next_tick_ =
      u.since + chosen_.tick * others_.living_others();  // a unit that ends sooner is announced as a whole
  u.is_mine = how != claim_as::of_another;
  if (how == claim_as::mine_announced) announce_claim(u);
  detail::deliver(workers_, *t);
}

bool node::take_back(detail::received_task& t) {
  if (t.form == nullptr) return false;  // the entry's own call
  unit& u = unit_of(t);
  --unbegun_;
  t.destroy(&t);
  u.running = nullptr;
  if (std::exchange(u.is_stopped, false)) {  // if it stayed in the queue, it would answer each request
    if (u.waiting.empty() || is_over_) drop(u);
    return true;
  }
  unclaim(u);
  if (u.waiting.empty()) erase(u);
  return true;
}

void node::announce_claim(unit& u) {
  u.is_claimed = true;
  others_.announce(claim_of(u));
}

note node::claim_of(const unit& u) const {
  const auto age = std::chrono::duration_cast<std::chrono::microseconds>(clock::now() - u.since);
  return {.kind = note_kind::claim, .entry = entry_, .task = u.key, .within = u.within, .time = age};
}

void node::announce_due_claims() {
  if (others_.is_alone()) return;
  const clock::time_point now = clock::now();
  for (const auto& [key, u] : units_)
    if (u->running != nullptr && u->is_mine && !u->is_claimed && !u->is_stopped &&
        now - u->since >= chosen_.before_claiming)
      announce_claim(*u);
}

void node::unit_ended(event& e) {
  unit& u = *e.of;
  if (!u.began) --unbegun_;
  u.running->destroy(u.running);
  u.running = nullptr;
  u.is_stopped = false;
  switch (e.how) {
    case outcome::ok:
      if (store_.find(u.key) == nullptr && !is_over_) {
        counters_.add(&counts::computed);
        const auto cost = std::chrono::duration_cast<std::chrono::microseconds>(clock::now() - u.since);
        const bool is_announced = u.is_claimed || claims_.of(u.key) != claims::state::free;
        claims_.settle(u.key);
        const note result{.kind = note_kind::result,
                          .entry = entry_,
                          .task = u.key,
                          .within = u.within,
                          .time = cost,
                          .content = e.content};
        const bool is_for_all = is_announced || cost >= chosen_.before_announcing;
        std::vector<bool> reached(nodes_);
        if (is_for_all) reached = others_.announce(result);
        // That node waits for the result, which may take long through mediators.
        if (u.given_by && !reached[*u.given_by]) {
          send_result(*u.given_by, result);
          reached[*u.given_by] = true;
        }
        if ((is_for_all && !others_.is_alone()) || u.given_by) counters_.add(&counts::published);
        store_.put(u.key, e.content, cost);
        for (const node_id to : questions_.known({.entry = entry_, .task = u.key}, self_))
          if (!reached[to]) send_result(to, result);
      }
      settle(u, e.content);
      erase(u);
      return;
    case outcome::thrown:
      if (e.is_unencodable && !is_over_) end_by_codec("encode the result of a task", e.error);
      fail(u, std::move(e.error));
      return;
    case outcome::aborted:
      // The unit yielded. Either the other node's result arrives, or the unit runs here again.
      if (u.waiting.empty() || is_over_) drop(u);
      return;
  }
}

void node::settle(unit& u, byte_view result) {
  for (const std::uint64_t id : std::exchange(u.waiting, {}))
    finish(id, {.result = result, .error = nullptr, .aborted = false});
}

void node::fail(unit& u, std::exception_ptr error) {
  unclaim(u);
  if (is_over_ || u.waiting.empty()) {
    drop(u);
    return;
  }
  // One task receives the exception. Other tasks of that name run again and throw their own exceptions.
  const std::uint64_t id = u.waiting.front();
  u.waiting.erase(u.waiting.begin());
  if (u.waiting.empty()) erase(u);
  finish(id, {.result = {}, .error = std::move(error), .aborted = false});
}

// Which node reads which value in bytes depends on the timing. So an exception of a codec is not one of the
// program, which all nodes would throw. With it the program of this node would continue in another way than
// the others.
void node::end_by_codec(const std::string& failed, const std::exception_ptr& error) const {
  if (!chosen_.on_failure) return;
  try {
    std::rethrow_exception(error);
  } catch (...) {
    chosen_.on_failure({.sentence = "node " + std::to_string(self_) + " cannot " + failed + ": " +
                                    handled_exception_text() + "; the other nodes continue without it",
                        .status = status_failed});
  }
}

void node::drop(unit& u) {
  for (const std::uint64_t id : std::exchange(u.waiting, {})) run_here(id);
  if (u.running != nullptr) return;
  unclaim(u);
  erase(u);
}

void node::run_here(std::uint64_t id) {
  const auto found = given_.find(id);
  SUKIMA_ASSERT(found != given_.end(), "a task that waits for a unit was given away");
  const resumer giver = found->second.giver;
  given_.erase(found);
  detail::take_back(workers_, id);
  if (giver) giver.resume();
}

void node::finish(std::uint64_t id, detail::given_outcome how) {
  const auto found = given_.find(id);
  SUKIMA_ASSERT(found != given_.end(), "a task is ended once");
  const given_task given = found->second;
  given_.erase(found);
  const bool has_result = !how.aborted && how.error == nullptr;
  how.on_undecodable = [this] { end_by_codec("decode the result of a task", std::current_exception()); };
  detail::finish(workers_, id, std::move(how));
  if (!given.giver) return;
  if (has_result && given.helping && !is_over_ && is_running(*given.helping))
    held_.push_back({given.giver, *given.helping, given.began});
  else
    given.giver.resume();
}

void node::forget_task(std::uint64_t id) {
  const auto found = given_.find(id);
  if (found == given_.end()) return;  // the task has ended since
  unit& u = *found->second.of;
  std::erase(u.waiting, id);
  finish(id, {.result = {}, .error = nullptr, .aborted = true});
  if (!u.waiting.empty()) return;
  unclaim(u);
  if (u.running != nullptr)
    stop(u);
  else
    erase(u);
}

void node::stop(unit& u) {
  if (std::exchange(u.is_stopped, true)) return;
  detail::cancel(workers_, *u.running);
  let_all_held_go(u.key);  // they find that they were aborted
}

void node::unclaim(unit& u) {
  u.is_mine = false;
  const std::optional<node_id> giver = std::exchange(u.given_by, {});
  const bool is_announced = std::exchange(u.is_claimed, false);
  if (is_over_) return;
  const note message{.kind = note_kind::unclaim, .entry = entry_, .task = u.key};
  if (is_announced)
    others_.announce(message);
  else if (giver)
    others_.announce_to(*giver, message);
}

void node::erase(unit& u) {
  if (helping_ == u.key) helping_.reset();
  if (plan_.is_under_way() && plan_.place() == u.key)
    plan_.end();  // the unit may never begin, so the plan leads no further
  units_.erase(u.key);
}

bool node::is_running(const task_key& key) const {
  if (key == name_of_entry) return root_ != nullptr;
  const unit* const u = find(key);
  return u != nullptr && u->running != nullptr && !u->is_stopped;
}

}  // namespace sukima::cluster::hope
