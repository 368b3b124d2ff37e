// SPDX-License-Identifier: Apache-2.0
// The cycle of a session: measure, estimate, decide, act.
#include <fmt/format.h>
#include <base/shared/assert.hpp>
#include <base/shared/clock.hpp>

#include <algorithm>
#include <utility>

#include "act/session_member.hpp"
#include "shared/act.hpp"
#include "shared/paced_poll.hpp"
#include "shared/steering.hpp"

namespace sukima::host {
namespace {

/// Seconds from a failed act to the second attempt.
constexpr double second_attempt = 30;
/// Seconds from a second failure to the next attempt.
constexpr double pause_after_two = 600;
/// Seconds for which the session waits for a guest's service to start before it reports the guest as silent.
constexpr double patience_with_service = 10;
constexpr int longest_wait_ms = 250;
/// A demand that changes by more than `large_move` of what its machine wants counts at once. Changes above
/// `small_move` count every few cycles, and smaller ones once a minute, because a new estimate takes much
/// longer than the rest of a cycle.
constexpr double large_move = 0.25, small_move = 0.0625;
constexpr std::size_t cycles_of_small_moves = 5;
constexpr std::size_t cycles_of_all_moves = 60;
/// A cycle begins no other machine's estimate after this many solutions, or after one solution per this many
/// machines if that is more.
constexpr std::size_t most_solutions = 32, machines_per_solution = 8;

/// The size of changes that do not count in this cycle, as a part of what the machine wants.
double ignored_move(std::size_t cycle) {
  if (cycle % cycles_of_all_moves == 0) return 0;
  return cycle % cycles_of_small_moves == 0 ? small_move : large_move;
}

}  // namespace

session::~session() {
  for (const auto& one : members_) {
    try {
      end_acts(*one);
    } catch (const journal_error&) {
      // The act stays in the journal, and `revert` will find that it has ended.
    }
  }
}

void session::end_acts(session_member& one) {
  if (one.waiting) actor_->record_ended(*std::exchange(one.waiting, std::nullopt));
  if (one.in_effect) actor_->record_ended(*std::exchange(one.in_effect, std::nullopt));
}

double session::usable(std::size_t vm) const { return members_.at(vm)->usable(); }

const std::optional<host_message>& session::message_to(std::size_t vm) const {
  static const std::optional<host_message> nothing;
  const guest_link* const link = members_.at(vm)->link();
  return link == nullptr ? nothing : link->message();
}

optimiser_state session::state(std::size_t vm) const { return optimiser_.state(members_.at(vm)->number); }
unsigned session::count(std::size_t vm) const { return members_.at(vm)->count(); }
std::vector<std::string> session::take_events() { return std::exchange(events_, {}); }

bool session::has_ended() const {
  return !options_.waits_for_machines &&
         std::ranges::all_of(members_, [](const auto& one) { return !one->chosen() || one->ended(); });
}

std::vector<int> session::readable() const {
  std::vector<int> all;
  for (const auto& one : members_)
    if (one->link() != nullptr && one->link()->readable() >= 0) all.push_back(one->link()->readable());
  return all;
}

void session::step(double now) {
  for (const auto& one : members_) {
    one->receive(now);
    if (one->link() == nullptr) continue;
    if (const auto complaint = one->link()->complaint(now))
      events_.push_back(fmt::format("{}: {}", one->name(), *complaint));
  }
  if (cycled_at_ && now < *cycled_at_ + options_.cycle_seconds) return;
  cycled_at_ = now;
  ++cycles_;
  cycle(now);
}

void session::cycle(double now) {
  std::vector<vm_report> seen;
  std::vector<vm_wishes> changes;
  const double tolerance = ignored_move(cycles_);
  for (std::size_t j = 0; j < members_.size(); ++j) {
    session_member& one = *members_[j];
    if (!one.ended() && !one.measure(now)) {
      events_.push_back(fmt::format("{}: it has ended", one.name()));
      leave(one, now);
    }
    if (auto wishes = one.new_wishes(tolerance)) changes.push_back({j, *std::move(wishes)});
    const bool silent = one.has_reported() && !one.reported_lately(now);
    if (silent && !one.silent && one.chosen()) {
      optimiser_.event(one.number, now, vm_event::guest_silent);
      events_.push_back(fmt::format("{}: its guest service is silent", one.name()));
      // The lease of its virtual CPUs ends in the guest, whose service may be gone. Until the guest has
      // obeyed again, all its virtual CPUs count as online.
      if (!one.by_threads()) {
        one.vcpus.end();
        one.release(now);
        end_acts(one);
      }
    }
    one.silent = silent;
  }
  estimator_->change(changes);
  estimate_in_turn();
  for (std::size_t j = 0; j < members_.size(); ++j) {
    if (auto sentence = members_[j]->judge_share(now); sentence && members_[j]->chosen())
      events_.push_back(*std::move(sentence));
    seen.push_back(members_[j]->report(now));
    // A dry run sets nothing, so treat the measurements as if the resting count were set.
    if (options_.dry_run && seen.back().window)
      seen.back().window->count = std::max(1U, optimiser_.resting(members_[j]->number));
  }
  optimiser_.cycle(seen);
  if (!options_.dry_run) send_numbers(now);
}

/// Estimates as many machines as a cycle may cost, in turn; the next cycles estimate the others. The number
/// of a machine that waits for CPU is exact in each cycle: it is what the machine gets now.
void session::estimate_in_turn() {
  const std::size_t all = members_.size();
  const std::size_t most = std::max(most_solutions, all / machines_per_solution);
  const std::size_t before = estimator_->solved_again();
  std::optional<std::size_t> first_left;
  for (std::size_t k = 0; k < all; ++k) {
    const std::size_t j = (next_estimate_ + k) % all;
    session_member& one = *members_[j];
    if (!one.chosen() || one.fitting == 0 || estimator_->solved_again() - before < most) {
      estimate(j);
      continue;
    }
    if (one.wants_all) one.entitled = estimator_->usable(j);
    if (!first_left) first_left = j;
  }
  if (first_left) next_estimate_ = *first_left;
}

/// Estimates the usable CPUs of a machine, given what the others want now, and the count that fits them.
void session::estimate(std::size_t j) {
  session_member& one = *members_[j];
  if (!one.chosen()) {
    one.entitled = estimator_->usable(j);
    one.fitting = 1;
    return;
  }
  const vm_potential potential = estimator_->potential(j);
  // If a machine has reduced its virtual CPUs, its number must not keep it small.
  one.entitled = one.by_threads() ? potential.usable : potential.usable_by_all;
  one.fitting = static_cast<unsigned>(potential.counts.fit);
}

/// Sets the counts that the optimiser wants, and sends the guests their numbers.
void session::send_numbers(double now) {
  for (std::size_t j = 0; j < members_.size(); ++j) {
    session_member& one = *members_[j];
    if (!one.chosen() || one.ended()) continue;
    const auto wanted = optimiser_.wanted(one.number);
    std::optional<unsigned> trial;
    if (wanted) {
      const unsigned count = std::clamp(*wanted, one.how().least, one.how().most);
      // While nothing is optimised, the number of threads is the estimate itself, with its fraction.
      if (!one.by_threads())
        steer_vcpus(one, count, now);
      else if (optimiser_.state(one.number) == optimiser_state::idle)
        one.release(now);
      else
        one.set_count(count, now);
      if (optimiser_.trial_runs(one.number) && *wanted != optimiser_.resting(one.number)) trial = count;
    }
    one.link()->set_message(one.message(trial), now);
    if (one.ignores_number(now) && !std::exchange(one.said_ignoring, true))
      events_.push_back(
          fmt::format("{}: it does not follow its number: the number is {} and it uses {:.2f} CPUs",
                      one.name(), one.count(), one.use()));
  }
}

/// Looks for the proof of an act that waits for it, or begins an act.
void session::steer_vcpus(session_member& one, unsigned wanted, double now) {
  SUKIMA_ASSERT(!options_.dry_run && wanted >= 1, "a dry run sets nothing, and no guest loses its last CPU");
  const unsigned count = raise_ceiling(one, wanted, now);
  if (one.waiting) {
    const proof found = actor_->verify(one.vcpus, *one.waiting, now);
    if (found == proof::waiting && one.vcpus.sent() == count) return;
    const receipt done = *std::exchange(one.waiting, std::nullopt);
    if (found == proof::proved) {
      if (one.in_effect) actor_->record_ended(*one.in_effect);
      one.in_effect = done;
      one.switching = {};
      one.set_count(*one.vcpus.sent(), now);
    } else {
      actor_->record_ended(done);
      if (found == proof::failed) act_failed(one, "the host's counters do not confirm it", now);
    }
    if (one.vcpus.sent() == count) return;
  }
  if (one.vcpus.sent() == count || !one.switching.open(now)) return;
  if (!one.reported_lately(now)) {
    // Nothing was tried yet, and the guest's service may still start.
    if (!one.silent_since) one.silent_since = now;
    if (now - *one.silent_since >= patience_with_service && !std::exchange(one.said_silent, true))
      events_.push_back(fmt::format("{}: its virtual CPUs could not be set: {}", one.name(),
                                    one.vcpus.can(std::to_string(count)).why));
    return;
  }
  one.silent_since.reset();
  one.said_silent = false;
  try {
    one.waiting = actor_->apply(one.vcpus, one.name(), act_kind::vcpus, std::to_string(count), now);
  } catch (const act_error& error) {
    act_failed(one, error.what(), now);
  }
}

/// Returns the number of virtual CPUs that the guest can use now: `count`, or the present number while more
/// are plugged in. The session plugs in only under a lease: a guest that has obeyed one number has a service,
/// which will switch off the CPUs that were added since.
unsigned session::raise_ceiling(session_member& one, unsigned count, double now) {
  SUKIMA_ASSERT(one.ceiling() != nullptr || (!one.plugged && !one.asked_at),
                "only a machine that can be given virtual CPUs waits for some");
  if (one.plugged) {
    const proof found = actor_->verify(*one.ceiling(), *one.plugged, now);
    if (found == proof::waiting) return std::min(count, one.there());
    one.plugged.reset();
    if (found == proof::proved) {
      one.plugging = {};
      events_.push_back(
          fmt::format("{}: it has {} virtual CPUs now, until it ends", one.name(), one.there()));
    } else {
      const std::string why = one.ceiling()->trouble();
      plug_failed(one, why.empty() ? "the host's counters do not show them" : why, now);
    }
  }
  if (one.asked_at && one.ceiling()->busy() && now - *one.asked_at >= act_deadline) {
    one.asked_at.reset();
    plug_failed(one, one.ceiling()->target() + " does not answer", now);
  }
  if (count <= one.there()) {
    if (one.ceiling() != nullptr) one.ceiling()->forget();
    return count;
  }
  const bool leased = one.in_effect && !one.waiting && one.reported_lately(now);
  if (one.ceiling() != nullptr && leased && !one.ceiling()->busy() && one.plugging.open(now))
    begin_to_plug(one, std::to_string(count), now);
  return one.there();
}

/// Queries whether `count` virtual CPUs are possible. Once the answer is there, writes the act to the journal
/// and begins it.
void session::begin_to_plug(session_member& one, const std::string& count, double now) {
  if (one.ceiling()->looked() != count) {
    one.asked_at = now;
    return one.ceiling()->look(count);
  }
  one.asked_at.reset();
  try {
    one.plugged = actor_->apply(*one.ceiling(), one.name(), act_kind::plug, count, now);
    one.ceiling()->forget();
  } catch (const act_error& error) {
    plug_failed(one, error.what(), now);
  }
}

void session::plug_failed(session_member& one, const std::string& why, double now) {
  one.ceiling()->forget();
  try_later(one, one.plugging, "no virtual CPU could be plugged in: " + why, now);
}

void session::act_failed(session_member& one, const std::string& why, double now) {
  one.vcpus.end();
  one.release(now);
  if (one.in_effect) actor_->record_ended(*std::exchange(one.in_effect, std::nullopt));
  try_later(one, one.switching, "its virtual CPUs could not be set: " + why, now);
}

/// Schedules another attempt after 30 s. If that attempt fails, too, the optimiser gives this machine a rest.
void session::try_later(session_member& one, attempts& of, const std::string& trouble, double now) {
  const bool again = !std::exchange(of.failed_once, !of.failed_once);
  of.retry_at = now + (again ? second_attempt : pause_after_two);
  events_.push_back(fmt::format("{}: {}; the next attempt is in {:g} s", one.name(), trouble,
                                again ? second_attempt : pause_after_two));
  if (!again) optimiser_.event(one.number, now, vm_event::not_verified);
}

void run_session(session& running, const std::atomic<bool>& stopped, const session_watch& watch) {
  // Partner: stop in cli/host/stop.cpp, a signal handler. The signal ends the poll below, or this load sees
  // the value after the poll's timeout. Relaxed: no other data is published with it.
  while (!stopped.load(std::memory_order_relaxed) && !running.has_ended()) {
    const std::size_t cycles = running.cycles();
    if (watch.begins) watch.begins(steady_seconds());
    const double begin = steady_seconds();
    running.step(begin);
    if (watch.cycled && running.cycles() != cycles) watch.cycled(steady_seconds() - begin);
    for (const verdict& one : running.take_verdicts()) watch.decided(one);
    for (const std::string& sentence : running.take_events()) watch.said(sentence);
    std::vector<pollfd> all;
    for (const int number : running.readable()) all.push_back({.fd = number, .events = POLLIN, .revents = 0});
    paced_poll(all, longest_wait_ms, stopped);
  }
}

}  // namespace sukima::host
