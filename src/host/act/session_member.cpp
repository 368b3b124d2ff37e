// SPDX-License-Identifier: Apache-2.0
// The state that a session keeps for one virtual machine.
#include "act/session_member.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "source/demand.hpp"

namespace sukima::host {
namespace {

/// Demands are rounded up to a multiple of 1 / this. Otherwise each cycle would need another estimate.
constexpr double demand_steps = 128;
/// If a program uses this part of its number, the host assumes that it wants more than its number.
constexpr double uses_all = 0.8;
/// Seconds without a message after which a guest counts as silent.
constexpr double silence = 10;
/// A program should follow its number within the first time, in seconds, and may exceed it by the second
/// value, in CPUs.
constexpr double following_seconds = 10, following_slack = 0.3;
constexpr double settle_seconds = 0.5;

/// Whether an estimate for `before` is close enough for `now`. The same vCPUs must be online, and the same
/// ones of these must want all that they can get. The demands of the others may differ in total by
/// `tolerance` of their sum.
bool is_close(const std::vector<vcpu_wish>& now, const std::vector<vcpu_wish>& before, double tolerance) {
  if (now.size() != before.size()) return false;
  double moved = 0, all = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (now[i].online != before[i].online) return false;
    if (!now[i].online) continue;  // the estimate does not use its demand
    if (now[i].demand.has_value() != before[i].demand.has_value()) return false;
    moved += std::abs(now[i].demand.value_or(1) - before[i].demand.value_or(1));
    all += before[i].demand.value_or(1);
  }
  return moved <= tolerance * all;
}

}  // namespace

session_member::session_member(const vm& described, session_vm given, double cycle_seconds)
    : vcpus(described.name),
      described_(described),
      given_(std::move(given)),
      cycle_seconds_(cycle_seconds),
      demand_(described.vcpus.size()),
      there_(static_cast<unsigned>(std::max<std::size_t>(1, described.vcpus.size() - given_.how.places))),
      count_(there_) {
  describe(described);
}

void session_member::describe(const vm& now) {
  described_ = now;
  wanted_.clear();
  // The session measures the demand, so a recorded one is out of date.
  if (given_.counters == nullptr) return;
  for (vcpu& one : described_.vcpus) one.demand.reset();
}

void session_member::receive(double now) {
  if (link() == nullptr) return;
  link()->step(now);
  for (const guest_message& message : link()->take()) {
    reported_at_ = now;
    wants_at_most_ = message.want;
    if (message.progress) latest_ = mark{now, *message.progress};
  }
  // Ignore the wish of a silent service: it may have ended, together with the programs that had the wish.
  if (!reported_lately(now)) wants_at_most_.reset();
  vcpus.set_answers(has_reported() && reported_lately(now));
}

bool session_member::reported_lately(double now) const {
  return reported_at_ && now - *reported_at_ <= silence;
}

/// Computes the demands. A demand rises at once and falls over half a minute. That also holds for a paused
/// machine, which neither runs nor waits.
void session_member::judge_demand(double seconds, const vm_times& before, const vm_times& times) {
  double ran = 0;
  std::vector<ran_and_waited> done;
  for (std::size_t i = 0; i < demand_.size(); ++i) {
    const vcpu_time& earlier = before.vcpus[i];
    const vcpu_time& later = times.vcpus[i];
    // The thread of a vCPU that was unplugged and plugged in again counts from 0.
    ran += later.ran < earlier.ran ? later.ran : later.ran - earlier.ran;
    done.push_back(done_between({earlier.ran, earlier.waited}, {later.ran, later.waited}, seconds));
  }
  use_ = std::max(0.0, ran / seconds);
  const bool uses_its_number = is_set_ && use_ >= uses_all * count_;
  // The caps are those of the description. How much the kernel throttled is not read here.
  const ran_and_waited all = without_explained_waiting(described_, done, seconds, 0);
  done_ = all;
  const bool more = uses_its_number || waits_for_cpu(all, seconds);
  for (std::size_t i = 0; i < demand_.size(); ++i)
    demand_[i] = more ? 1 : next_demand(demand_[i], done[i].ran / seconds, seconds, demand_.size());
}

bool session_member::measure(double now) {
  if (ended_) return false;
  if (given_.counters == nullptr) return true;
  auto times = given_.counters->read();
  if (!times || times->vcpus.size() != demand_.size()) {
    ended_ = true;
    return false;
  }
  seconds_ = now - measured_at_;
  if (times_ && seconds_ > 0) judge_demand(seconds_, *times_, *times);
  if (!times_) seconds_ = 0;
  std::vector<double> ran;
  for (const vcpu_time& one : times->vcpus) ran.push_back(one.ran);
  for (std::uint32_t i = 0; i < times->vcpus.size(); ++i) {
    counted.ran.count(i, times->vcpus[i].ran);
    counted.waited.count(i, times->vcpus[i].waited);
  }
  there_ = static_cast<unsigned>(std::ranges::count(times->vcpus, true, &vcpu_time::there));
  if (ceiling() != nullptr) ceiling()->record_count(there_);
  if (!is_set_) count_ = std::max(1U, there_);
  vcpus.record_times(now, std::move(ran));
  times_ = std::move(times);
  measured_at_ = now;
  return true;
}

std::vector<vcpu_wish> session_member::wants() const {
  std::vector<vcpu_wish> now;
  for (std::size_t i = 0; i < described_.vcpus.size(); ++i) {
    // A guest's message that a vCPU is offline does not count: these vCPUs were proved to be offline.
    vcpu_wish one{.online = is_online(i), .demand = described_.vcpus[i].demand};
    const double demand = demand_[i].value_or(1);
    if (ended_)
      one.demand = 0;
    else if (demand < 0.999)
      one.demand = std::min(1.0, std::ceil(demand * demand_steps) / demand_steps);
    now.push_back(one);
  }
  return now;
}

/// Whether this virtual CPU can run now, as far as is known. It may have been plugged in later.
bool session_member::is_online(std::size_t i) const {
  if (is_set_ && !by_threads()) return i < count_;
  if (!times_) return described_.vcpus[i].online;
  return times_->vcpus[i].there && (given_.how.places > 0 || described_.vcpus[i].online);
}

std::optional<std::vector<vcpu_wish>> session_member::new_wishes(double tolerance) {
  auto now = wants();
  if (is_close(now, wanted_, tolerance)) return std::nullopt;
  wanted_ = now;
  wants_all =
      std::ranges::all_of(now, [](const vcpu_wish& one) { return one.online && !one.demand.has_value(); });
  return now;
}

std::optional<std::string> session_member::judge_share(double now) {
  if (!times_ || ended_) return std::nullopt;
  const bool was_limited = received_.limit().has_value();
  received_.update(now, seconds_, entitled, done_);
  if (received_.limit().has_value() == was_limited) return std::nullopt;
  if (was_limited) return fmt::format("{}: its number follows its share again", name());
  return fmt::format(
      "{}: it receives {:.2f} of the {:.2f} CPUs of its share, because of load that is missing from the "
      "description; its number follows what it receives",
      name(), *received_.limit(), entitled);
}

vm_report session_member::report(double now) {
  vm_report result;
  result.vm = number;
  if (!times_ || ended_) return result;
  double demand = 0;
  for (const std::optional<double>& one : demand_) demand += one.value_or(1);
  unsigned fits = fitting;
  if (received_.limit()) fits = std::min(fits, std::max(1U, static_cast<unsigned>(*received_.limit() + 0.5)));
  result.status = vm_status{.at = now,
                            .usable = usable(),
                            .count = std::clamp(fits, given_.how.least, given_.how.most),
                            .demand = demand,
                            .up = times_->up};
  if (seconds_ <= 0) return result;
  measured_window window{.at = now, .count = count_, .use = use_};
  window.settled = measured_at_ - seconds_ >= changed_at_ + settle_seconds;
  window.valid = seconds_ < 1.5 * cycle_seconds_;
  const double most = is_set_ ? std::min<double>(entitled, count_) : entitled;
  if (most > 0) window.share = use_ / most;
  if (latest_ && window_began_ && latest_->at > window_began_->at) {
    const double seconds = latest_->at - window_began_->at;
    window.progress = std::max(0.0, latest_->progress - window_began_->progress) / seconds;
    window.settled = window.settled && window_began_->at >= changed_at_ + settle_seconds;
    // If the progress is lower than before, the program began again. A late message does not belong to the
    // interval of the counters.
    window.valid = window.valid && latest_->progress >= window_began_->progress &&
                   seconds > 0.4 * cycle_seconds_ && seconds < 2 * cycle_seconds_;
  }
  window_began_ = latest_;
  result.window = window;
  return result;
}

std::optional<host_message> session_member::message(std::optional<unsigned> trial) const {
  if (!chosen() || ended_) return std::nullopt;
  host_message result;
  result.usable = is_set_ && by_threads() ? count_ : usable();
  if (!by_threads()) {
    result.vcpus = vcpus.sent();
    if (result.vcpus) result.usable = std::min<double>(result.usable, *result.vcpus);
  }
  // A guest's message can only reduce its number.
  if (wants_at_most_) result.usable = std::min<double>(result.usable, *wants_at_most_);
  result.trial = trial;
  return result;
}

void session_member::set_count(unsigned count, double now) {
  if (is_set_ && count == count_) return;
  changed_at_ = now;
  said_ignoring = false;
  is_set_ = true;
  count_ = count;
}

void session_member::release(double now) {
  if (!is_set_) return;
  is_set_ = false;
  count_ = std::max(1U, there_);
  changed_at_ = now;
}

bool session_member::ignores_number(double now) const {
  return is_set_ && by_threads() && now - changed_at_ >= following_seconds && use_ > count_ + following_slack;
}

}  // namespace sukima::host
