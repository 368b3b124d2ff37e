// SPDX-License-Identifier: Apache-2.0
// The order of a node's work: which tasks it requests from the workers here, and which unit runs next.
#include "hope/node.hpp"

#include <algorithm>

namespace sukima::cluster::hope {

namespace {

/// The plan, or the help with a unit, ends after this number of consecutive requests without a task.
constexpr unsigned most_failures = 3;
constexpr std::chrono::microseconds after_failure{200};
/// How long a worker is expected to need until it continues a fiber that was resumed. After that the node
/// requests work from others, because the fiber may have suspended again.
constexpr std::chrono::milliseconds before_idle_again{100};
/// With this number of units or more, the node makes no looks.
constexpr std::size_t most_units = 1024;

}  // namespace

void node::begin_plan() {
  const clock::time_point now = clock::now();
  plan_.begin(self_, others_.gone());
  failures_ = 0;
  not_before_ = now;
  looks_.begin(now);
  next_tick_ = now + chosen_.tick * others_.living_others();
}

void node::place_began(unit* u) {
  if (u == nullptr || u->key == plan_.place()) plan_.begun();
  if (is_over_ || u == nullptr) return;
  if (plan_.is_under_way()) return;
  if (!u->is_mine && u->key != plan_.place()) help(u->key);
  if (looks_.is_within(u->key)) looks_.begin_soon();  // its claimant has announced its tasks
}

void node::goes_on(const task_key& key) {
  others_.needs_other_notes(false);
  if (key == name_of_entry)
    root_goes_on_ = clock::now();
  else if (unit* const u = find(key))
    u->goes_on = clock::now();
}

void node::inherit() {
  const auto claim = [this](const task_key& key, node_group began) {
    unit* const u = plan_.is_first_of(began, others_.gone()) ? find(key) : nullptr;
    if (u == nullptr || u->running == nullptr || u->is_stopped || std::exchange(u->is_mine, true)) return;
    announce_claim(*u);
  };
  for (const auto& [id, given] : given_)
    if (given.helping) claim(*given.helping, given.began);
  for (const held_giver& h : held_) claim(h.within, h.began);
}

void node::help(const task_key& key) {
  helping_ = key;
  failures_ = 0;
  not_before_ = clock::now();
  others_.needs_other_notes(true);  // also older notes, about parts that the claimant has ended
}

void node::add_announced(const note& n) {
  if (!looks_.add_announced(n.task, n.within)) return;
  const std::vector<task_key> places = worked_on();
  if (std::ranges::find(places, n.within) != places.end()) looks_.begin_soon();
}

std::vector<task_key> node::worked_on() const {
  std::vector<begun_task> begun;
  if (root_ != nullptr) begun.push_back({name_of_entry, root_goes_on_});
  for (const auto& [key, u] : units_)
    if (u->running != nullptr && u->began && !u->is_stopped) begun.push_back({key, u->goes_on});
  return latest_of(std::move(begun), workers_.workers());
}

interest node::subscription() const {
  interest needed{.entry = entry_, .is_all = entry_ == 0};
  if (active_ == nullptr || is_over_) return needed;
  for (const auto& [key, u] : units_) needed.tasks.push_back(key);
  needed.places = worked_on();
  return needed;
}

bool node::has_room_for_units() const noexcept { return units_.size() < most_units; }

bool node::is_worth_a_look() const {
  return std::ranges::any_of(worked_on(), [this](const task_key& key) { return looks_.is_within(key); });
}

std::optional<node::purpose> node::next_purpose(clock::time_point now) const {
  if (plan_.is_under_way() && plan_.has_begun() && now >= not_before_) return purpose::plan;
  if (helping_ && !plan_.is_under_way() && now >= not_before_) return purpose::help;
  if (now >= looks_.next() && has_room_for_units() && is_worth_a_look()) return purpose::look;
  if (!asking_.empty() && !plan_.is_under_way() && now >= give_again_) return purpose::give;
  if (now >= next_tick_ && !others_.is_alone()) return purpose::tick;
  return {};
}

clock::time_point node::may_take_back() const {
  return unbegun_ == 0 ? clock::time_point::min() : delivered_ + chosen_.before_taking_back;
}

void node::ask_here() {
  if (asked_for_) return;
  const clock::time_point now = clock::now();
  if (now < may_take_back()) return;
  const auto wanted = next_purpose(now);
  if (!wanted) return;
  next_tick_ = now + chosen_.tick * others_.living_others();
  const bool is_plan = wanted == purpose::plan;
  asked_for_ = wanted;
  holds_giver_ = wanted == purpose::help || (is_plan && plan_.takes_second());
  // In the plan, all fibers that answer wait, because otherwise each would compute the same as other nodes
  // until the next request. The request is a standing one, because the worker has nothing to run before the
  // fiber is resumed.
  detail::request_task(workers_, is_plan || holds_giver_ ? detail::giver::waits : detail::giver::goes_on,
                       is_plan ? detail::request_kind::standing : detail::request_kind::single);
}

void node::ask_and_resume(resumer waiting) {
  if (!is_over_) ask_here();
  resumed_ = clock::now();
  waiting.resume();
}

void node::withdraw_question_of_plan() {
  if (asked_for_ != purpose::plan || (plan_.is_under_way() && !is_over_)) return;
  if (detail::withdraw_request(workers_)) asked_for_.reset();
}

void node::answer_came(event& e) {
  SUKIMA_ASSERT(asked_for_, "an answer follows a question");
  const purpose asked = *std::exchange(asked_for_, {});
  if (e.t != nullptr && detail::came_from_node(workers_, *e.t)) {
    auto& unbegun = static_cast<detail::received_task&>(*e.t);
    if (take_back(unbegun)) return;  // the next request follows at once
    detail::deliver(workers_, unbegun);  // it waits for a worker, as before
    e.t = nullptr;
  }
  if (e.t == nullptr) {
    nothing_came(asked);
  } else if (is_over_) {
    detail::give_back(workers_, *e.t);
    if (e.giver) e.giver.resume();
  } else {
    name(*e.t, holds_giver_ ? e.giver : resumer{}, asked);
    if (!holds_giver_ && e.giver) ask_and_resume(e.giver);
  }
}

void node::nothing_came(purpose asked) {
  const clock::time_point now = clock::now();
  if (asked == purpose::look) looks_.end(now);
  if (asked == purpose::give) nothing_to_give(now);
  if (asked != purpose::plan && asked != purpose::help) return;
  not_before_ = now + after_failure;
  if (++failures_ < most_failures) return;
  failures_ = 0;
  if (asked == purpose::plan)
    plan_.end();
  else
    helping_.reset();
}

void node::place(unit* u, standing found, std::uint64_t id, purpose asked) {
  switch (asked) {
    case purpose::plan:
      failures_ = 0;
      place_in_plan(u, id);
      return;
    case purpose::help:
      failures_ = 0;
      if (found != standing::of_no_interest) {
        let_giver_go(id);
        return;
      }
      given_.at(id).helping = std::exchange(helping_, {});
      start(*u, claim_as::mine_announced);
      return;
    case purpose::look:
      if (found != standing::of_no_interest) {
        looks_.found();
      } else {
        looks_.missed(clock::now());
      }
      return;
    case purpose::give:  // the task is given away, or the next one is requested
    case purpose::tick:
      return;
  }
}

void node::place_in_plan(unit* u, std::uint64_t id) {
  if (!plan_.is_under_way()) {  // the place of the plan has ended since the request; partner: erase
    if (u != nullptr) let_giver_go(id);
    return;
  }
  if (u == nullptr) {  // the nodes that began there are done, perhaps including this one
    if (plan_.takes_second())
      plan_.end();
    else
      plan_.follow(0);
    return;
  }
  const node_id leader = plan_.leader_of_second();
  if (!plan_.takes_second()) {
    if (u->running == nullptr) claims_.claim(u->key, leader, clock::now());
    plan_.follow(0);
    return;
  }
  if (u->running != nullptr) {
    plan_.end();
    let_giver_go(id);
    return;
  }
  if (leader == self_) u->given_by = plan_.leader_of_first();
  plan_.follow(1);
  plan_.enter(u->key);
  if (leader != self_) claims_.claim(u->key, leader, clock::now());
  start(*u, leader == self_ ? claim_as::mine_announced : claim_as::of_another);
}

void node::let_giver_go(std::uint64_t id) {
  const auto found = given_.find(id);
  if (found == given_.end()) return;  // its fiber was resumed when the task ended
  if (const resumer giver = std::exchange(found->second.giver, {})) giver.resume();
}

bool node::is_idle() const noexcept {
  const bool is_resuming = asked_for_ == purpose::plan && clock::now() < resumed_ + before_idle_again;
  return unbegun_ == 0 && !is_resuming && detail::has_idle_workers(workers_);
}

void node::run_next() {
  if (!is_idle()) {
    requests_.has_work();
    return;
  }
  unit* const free = youngest_free();
  if (free == nullptr) {
    find_work();
    return;
  }
  if (claims_.of(free->key) == claims::state::orphan) counters_.add(&counts::taken_over);
  requests_.has_work();
  start(*free, claim_as::mine);
}

node::unit* node::youngest_free() const {
  unit* found = nullptr;
  for (const auto& [key, u] : units_)
    if (is_free(*u) && (found == nullptr || u->number > found->number)) found = u.get();
  return found;
}

bool node::is_free(const unit& u) const {
  return u.running == nullptr && claims_.of(u.key) != claims::state::claimed;
}

std::vector<node::unit*> node::units_left_to_others() const {
  std::vector<unit*> found;
  for (const auto& [key, u] : units_)
    if (u->running == nullptr && !is_free(*u)) found.push_back(u.get());
  std::ranges::sort(found, {}, &unit::number);
  return found;
}

void node::find_work() {
  const clock::time_point now = clock::now();
  if (const auto asked = requests_.next(now, draws_()))
    others_.announce_to(*asked, {.kind = note_kind::request, .entry = entry_});
  if (now < requests_.idle_since() + chosen_.before_going_on) return;
  if (let_inherited_go()) {
    requests_.has_work();
    return;
  }
  if (!others_.is_alone() && !requests_.is_over(now)) return;
  const std::vector<unit*> claimed = units_left_to_others();
  const std::size_t choices = claimed.size() + held_.size();
  if (choices == 0) return;
  requests_.does_without();
  counters_.add(&counts::helped);
  const std::size_t choice = draws_() % choices;
  if (choice < claimed.size())
    start(*claimed[choice], claim_as::of_another);
  else
    let_held_go(choice - claimed.size());
}

}  // namespace sukima::cluster::hope
