// SPDX-License-Identifier: Apache-2.0
#include "steal/thief.hpp"

#include "steal/lifelines.hpp"
#include "transport/sparse_graph.hpp"

#include <base/shared/assert.hpp>

#include <algorithm>
#include <bit>
#include <utility>

namespace sukima::cluster {

namespace {

/// Returns the weight of a node in the random draw of its side. At most 15 tasks count, so a node never
/// weighs more than 16 nodes at the same distance without tasks, and a node that runs out of work soon gets
/// fewer requests.
double weight(std::uint64_t tasks, std::optional<clock::duration> round_trip) {
  constexpr std::chrono::microseconds least{100};
  const std::chrono::duration<double> distance = round_trip.value_or(clock::duration{0}) + least;
  return (1.0 + static_cast<double>(std::min<std::uint64_t>(tasks, 15))) / distance.count();
}

}  // namespace

thief::thief(node_id self, unsigned nodes, std::uint64_t seed, bool is_sparse)
    : draws_(seed), self_(self), is_sparse_(is_sparse), others_(nodes) {
  for (node_id n = 0; n < nodes; ++n) others_[n].is_there = n != self;
}

bool thief::is_far(node_id n) const noexcept {
  const auto& trip = others_[n].round_trip;
  return trip && *trip >= far_from;
}

bool thief::is_on(const side& s, node_id n) const noexcept {
  return others_[n].is_there && is_far(n) == (&s == &far_) && (asks(n) || last_giver_ == n);
}

bool thief::asks(node_id n) const noexcept {
  return !is_sparse_ || ask_each_other(self_, n, static_cast<unsigned>(others_.size()));
}

node_id thief::draw(std::vector<node_id>& from) {
  SUKIMA_ASSERT(!from.empty(), "a node is drawn from some nodes");
  const auto weight_of = [&](node_id n) { return weight(others_[n].tasks, others_[n].round_trip); };
  double sum = 0;
  for (const node_id n : from) sum += weight_of(n);
  constexpr double draws = 9007199254740992.0;  // 2^53
  double left = sum * static_cast<double>(draws_() >> 11) / draws;
  std::size_t at = 0;
  while (at + 1 < from.size() && left >= weight_of(from[at])) left -= weight_of(from[at++]);
  const node_id drawn = from[at];
  from.erase(from.begin() + static_cast<std::ptrdiff_t>(at));
  return drawn;
}

void thief::begin_round(side& s) {
  std::vector<node_id> all;
  for (node_id n = 0; n < others_.size(); ++n)
    if (is_on(s, n)) all.push_back(n);
  s.round.clear();
  if (last_giver_ && std::erase(all, *last_giver_) != 0) s.round.push_back(*last_giver_);
  while (!all.empty()) s.round.push_back(draw(all));
  std::reverse(s.round.begin(), s.round.end());
}

bool thief::is_silent(const side& s) const noexcept {
  if (s.asked) return false;
  bool has_members = false;
  for (node_id n = 0; n < others_.size(); ++n) has_members |= is_on(s, n);
  return s.refusals == most_refusals || !has_members;
}

clock::time_point thief::end_of_patience(node_id asked) const noexcept {
  const clock::duration trips = round_trip(asked) * patient_round_trips;
  return others_[asked].asked_at + std::max<clock::duration>(patience, trips);
}

void thief::give_up_late_ones(clock::time_point now) {
  for (side* s : {&near_, &far_})
    if (s->asked && now >= end_of_patience(*s->asked)) {
      s->asked.reset();
      ++s->refusals;
    }
}

std::optional<node_id> thief::next_victim(side& s) {
  if (s.asked || s.refusals == most_refusals) return {};
  for (bool is_new = false;; is_new = true) {
    while (!s.round.empty()) {
      const node_id n = s.round.back();
      s.round.pop_back();
      if (is_on(s, n)) return n;
    }
    if (is_new) return {};
    begin_round(s);
  }
}

std::optional<thief::request> thief::next_request(clock::time_point now) {
  give_up_late_ones(now);
  if (!hungry_) return {};
  for (side* s : {&near_, &far_})
    if (const auto victim = next_victim(*s)) {
      s->asked = victim;
      others_[*victim].asked_at = now;
      others_[*victim].asked_number = ++last_number_;
      return request{*victim, last_number_};
    }
  return {};
}

std::vector<node_id> thief::take_lifelines(clock::time_point now) {
  give_up_late_ones(now);
  if (!hungry_ || !is_silent(near_) || !is_silent(far_)) return {};
  if (!waits_since_) waits_since_ = now;
  std::vector<node_id> taken;
  visit_unregistered([&](node_id n, clock::duration silence) {
    if (now - *waits_since_ >= silence) taken.push_back(n);
  });
  for (const node_id n : taken) others_[n].has_lifeline = true;
  std::ranges::sort(taken);
  return taken;
}

template <class Look> void thief::visit_unregistered(Look look) const {
  const auto nodes = static_cast<unsigned>(others_.size());
  const int at_once = std::bit_width(nodes - 1);
  int not_asked = 0;
  for (unsigned step = 2; step <= nodes; ++step) {
    const unsigned far = step / 2;
    const node_id n = (self_ + (step % 2 == 0 ? far : nodes - far)) % nodes;
    if (!others_[n].is_there) continue;
    clock::duration silence{0};
    if (!asks(n))
      silence = (1 + not_asked++ / at_once) * long_patience;
    else if (!are_partners(self_, n))
      silence = patience;
    if (!others_[n].has_lifeline) look(n, silence);
  }
}

void thief::measure(node_id from, std::uint64_t number, clock::time_point now) {
  other& o = others_[from];
  if (number == 0 || number != o.asked_number) return;
  const clock::duration took = now - o.asked_at;
  if (!o.round_trip || took < *o.round_trip) o.round_trip = took;
}

void thief::on_none(node_id from, std::uint64_t number, clock::time_point now) {
  other& o = others_[from];
  if (number != o.asked_number) return;  // late: another request to that node is under way
  o.tasks /= 2;
  measure(from, number, now);
  if (last_giver_ == from) last_giver_.reset();
  for (side* s : {&near_, &far_})
    if (s->asked == from) {
      s->asked.reset();
      ++s->refusals;
    }
  SUKIMA_ASSERT_VALID(*this);
}

bool thief::keeps_task(node_id from) const noexcept { return hungry_ || far_.asked == from; }

void thief::on_task(node_id from) {
  on_surplus(from);
  ++others_[from].tasks;
  hungry_ = false;
  begin_asking();
}

void thief::on_surplus(node_id from) {
  last_giver_ = from;
  others_[from].has_lifeline = false;
  for (side* s : {&near_, &far_})
    if (s->asked == from) s->asked.reset();
}

void thief::begin_asking() {
  near_.asked.reset();
  near_.round.clear();
  near_.refusals = far_.refusals = 0;
  far_.round.clear();
  waits_since_.reset();
}

void thief::begin_entry() {
  begin_asking();
  far_.asked.reset();
  for (other& o : others_) o.has_lifeline = false;
  SUKIMA_ASSERT_VALID(*this);
}

void thief::forget(node_id node) {
  others_[node].is_there = false;
  for (side* s : {&near_, &far_})
    if (s->asked == node) s->asked.reset();
  if (last_giver_ == node) last_giver_.reset();
  SUKIMA_ASSERT_VALID(*this);
}

const char* thief::violated_invariant() const noexcept {
  if (others_[self_].is_there) return "a node requests nothing from itself";
  for (const side* s : {&near_, &far_}) {
    if (s->refusals > most_refusals) return "after the last refusal a side sends no request";
    if (!s->asked) continue;
    const other& o = others_[*s->asked];
    if (!o.is_there) return "a request is under way only to a node that is there";
    if (o.asked_number == 0 || o.asked_number > last_number_) return "a request under way has a number";
  }
  return nullptr;
}

std::optional<clock::time_point> thief::next_look() const noexcept {
  if (!hungry_) return {};
  std::optional<clock::time_point> look;
  for (const side* s : {&near_, &far_})
    if (!is_silent(*s)) {
      const auto at = s->asked ? end_of_patience(*s->asked) : clock::time_point{};
      look = look ? std::min(*look, at) : at;
    }
  if (look) return look;
  visit_unregistered([&](node_id, clock::duration silence) {
    const auto at = waits_since_ ? *waits_since_ + silence : clock::time_point{};
    look = look ? std::min(*look, at) : at;
  });
  return look;
}

}  // namespace sukima::cluster
