// SPDX-License-Identifier: Apache-2.0
// The order of a node: for which tasks it asks the workers here, and which unit runs next.
#include "hope/node.hpp"

#include <algorithm>

namespace sukima::cluster::hope {

namespace {

/// Tasks in a row that are of no interest to anybody: then a look ends.
constexpr unsigned most_in_vain = 3;
/// Times in a row that nothing was there to split: then the plan, or the help inside of a unit, ends.
constexpr unsigned most_failures = 3;
constexpr std::chrono::microseconds after_failure{200};
/// Between looks, as long as they find nothing: doubled up to the longest.
constexpr std::chrono::microseconds shortest_pause{100};
constexpr std::chrono::microseconds longest_pause{20000};
/// Units that wait here; no more are looked for then.
constexpr std::size_t most_units = 1024;

constexpr node_id size_of(node_group g) noexcept { return g.last - g.first; }

}  // namespace

void node::begin_plan() {
  const clock::time_point now = clock::now();
  members_.clear();
  for (node_id n = 0; n < nodes_; ++n) {
    if (n == self_) rank_ = static_cast<node_id>(members_.size());
    if (!gone_[n]) members_.push_back(n);
  }
  group_ = {0, static_cast<node_id>(members_.size())};
  place_ = name_of_entry;
  place_began_ = false;
  failures_ = 0;
  not_before_ = now;
  look_pause_ = shortest_pause;
  look_ended_ = now;
  next_look_ = now;
  next_tick_ = now + chosen_.tick;
}

void node::place_began(unit* u) {
  if (u == nullptr || u->key == place_) place_began_ = true;
  if (is_over_ || u == nullptr) return;
  if (is_planning()) return;
  if (!u->is_mine && u->key != place_) help(u->key);
  if (unmatched_within_.contains(u->key)) look_soon();  // its claimant has told of its tasks
}

bool node::is_planning() const noexcept { return size_of(group_) > 1; }

bool node::is_alone() const noexcept {
  return static_cast<unsigned>(std::ranges::count(gone_, true)) + 1 >= nodes_;
}

void node::help(const task_key& key) {
  helping_ = key;
  failures_ = 0;
  not_before_ = clock::now();
}

void node::heard_of(const note& n) {
  if (!unmatched_.emplace(n.task, n.within).second) return;
  ++unmatched_within_[n.within];
  if (is_running(n.within)) look_soon();
}

void node::has_name_here(const task_key& task) {
  const auto found = unmatched_.find(task);
  if (found == unmatched_.end()) return;
  const auto place = unmatched_within_.find(found->second);
  if (--place->second == 0) unmatched_within_.erase(place);
  unmatched_.erase(found);
}

bool node::is_worth_a_look() const {
  return std::ranges::any_of(unmatched_within_, [&](const auto& w) { return is_running(w.first); });
}

void node::look_soon() {
  look_pause_ = shortest_pause;
  next_look_ = std::min(next_look_, look_ended_ + shortest_pause);
}

std::optional<node::purpose> node::next_purpose(clock::time_point now) const {
  if (is_planning() && place_began_ && now >= not_before_) return purpose::plan;
  if (helping_ && !is_planning() && now >= not_before_) return purpose::help;
  if (now >= next_look_ && units_.size() < most_units && is_worth_a_look()) return purpose::look;
  if (now >= next_tick_ && !is_alone()) return purpose::tick;
  return {};
}

void node::ask_here() {
  if (asked_for_) return;
  const clock::time_point now = clock::now();
  const auto what = next_purpose(now);
  if (!what) return;
  next_tick_ = now + chosen_.tick;
  const bool second_first =
      what == purpose::help || (what == purpose::plan && first_part(group_, rank_, 2) == 1);
  asked_for_ = what;
  detail::request_task(workers_, second_first ? detail::giver::waits : detail::giver::goes_on);
}

void node::answer_came(event& e) {
  const purpose asked = *std::exchange(asked_for_, {});
  if (e.t != nullptr && detail::came_from_node(workers_, *e.t)) {
    detail::deliver(workers_, static_cast<detail::received_task&>(*e.t));  // it waits for a worker, as before
    e.t = nullptr;
  }
  if (e.t == nullptr) {
    nothing_came(asked);
  } else if (is_over_) {
    detail::give_back(workers_, *e.t);
    if (e.giver) e.giver.resume();
  } else {
    name(*e.t, e.giver, asked);
  }
}

void node::nothing_came(purpose asked) {
  const clock::time_point now = clock::now();
  if (asked == purpose::look) end_look(now);
  if (asked != purpose::plan && asked != purpose::help) return;
  not_before_ = now + after_failure;
  if (++failures_ < most_failures) return;
  failures_ = 0;
  if (asked == purpose::plan)
    group_ = {};
  else
    helping_.reset();
}

void node::end_look(clock::time_point now) {
  in_vain_ = 0;
  look_ended_ = now;
  next_look_ = now + look_pause_;
  look_pause_ = std::min(look_pause_ * 2, longest_pause);
}

void node::place(unit* u, standing s, std::uint64_t id, purpose asked) {
  switch (asked) {
    case purpose::plan:
      failures_ = 0;
      place_in_plan(u, id);
      return;
    case purpose::help:
      failures_ = 0;
      if (s != standing::of_no_interest) {
        let_giver_go(id);
        return;
      }
      given_.at(id).helping = std::exchange(helping_, {});
      start(*u, claim_as::mine_told);
      return;
    case purpose::look:
      if (s != standing::of_no_interest) {
        in_vain_ = 0;
        look_pause_ = shortest_pause;
      } else if (++in_vain_ == most_in_vain) {
        end_look(clock::now());
      }
      return;
    case purpose::tick:
      return;
  }
}

void node::place_in_plan(unit* u, std::uint64_t id) {
  if (u == nullptr) return;  // its result is known: the next construct below is split among the group
  const node_group second = group_of_part(group_, 1, 2);
  const node_id leader = members_[second.first];
  if (first_part(group_, rank_, 2) == 0) {
    if (u->running == nullptr) claims_.claim(u->key, leader, clock::now());
    group_ = group_of_part(group_, 0, 2);
    return;
  }
  group_ = second;
  given_.at(id).helping = place_;
  if (u->running != nullptr) {
    group_ = {};
    let_giver_go(id);
    return;
  }
  place_ = u->key;
  place_began_ = false;
  if (leader != self_) claims_.claim(u->key, leader, clock::now());
  start(*u, leader == self_ ? claim_as::mine_told : claim_as::of_another);
}

void node::let_giver_go(std::uint64_t id) {
  const auto found = given_.find(id);
  if (found == given_.end()) return;  // it went when the task ended
  if (const resumer giver = std::exchange(found->second.giver, {})) giver.resume();
}

void node::run_next() {
  if (unbegun_ != 0 || !detail::has_idle_workers(workers_)) return;
  const clock::time_point now = clock::now();
  unit* free = nullptr;
  std::vector<unit*> claimed;
  for (const auto& [key, u] : units_) {
    if (u->running != nullptr) continue;
    if (claims_.of(key) != claims::state::claimed) {
      if (free == nullptr || u->number > free->number) free = u.get();
    } else if (*claims_.since(key) + chosen_.before_helping <= now) {
      claimed.push_back(u.get());
    }
  }
  if (free != nullptr) {
    if (claims_.of(free->key) == claims::state::orphan) count(&counts::taken_over);
    start(*free, claim_as::mine);
  } else if (!claimed.empty()) {
    std::ranges::sort(claimed, {}, &unit::number);
    count(&counts::helped);
    start(*claimed[draws_() % claimed.size()], claim_as::of_another);
  }
}

}  // namespace sukima::cluster::hope
