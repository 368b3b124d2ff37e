// SPDX-License-Identifier: Apache-2.0
#include "launch/run_end.hpp"

#include <algorithm>
#include <array>
#include <csignal>

namespace sukima::cluster {

namespace {

constexpr std::chrono::milliseconds ending_time{2000};
constexpr std::chrono::milliseconds failing_time{1000};
/// After a node has lost another one: the lost node may not end by itself, and all nodes must end within a
/// second.
constexpr std::chrono::milliseconds losing_time{300};
/// How long the launcher waits for nodes before it reports that it waits.
constexpr std::chrono::seconds quiet_time{2};
constexpr std::chrono::seconds grace_of_survivors{5};
/// The signals by which users and systems end programs. Other signals may have another meaning for a program.
constexpr std::array ending_signals{SIGINT, SIGQUIT, SIGTERM, SIGHUP};
constexpr int status_usage = 2;
constexpr int status_lost = 75;

bool is_well(const node_end& e) noexcept { return e.exit_code == 0 && e.signal == 0; }

std::string name_of(std::size_t n) { return "node " + std::to_string(n); }

}  // namespace

run_end::run_end(unsigned nodes, bool hope, std::optional<std::chrono::seconds> grace)
    : hope_(hope), grace_(hope && !grace ? grace_of_survivors : grace), nodes_(nodes), pause_(ending_time) {}

std::size_t run_end::running() const {
  return static_cast<std::size_t>(
      std::count_if(nodes_.begin(), nodes_.end(), [](const node& n) { return n.runs; }));
}

bool run_end::on_report(unsigned n, const node_report& report, time_point now) {
  node& from = nodes_[n];
  switch (report.kind) {
    case node_report::type::meets:
      from.reached = std::max(from.reached, progress::meets);
      look_at_meeting(now);
      return false;
    case node_report::type::met:
      from.reached = progress::met;
      return false;
    case node_report::type::counts:
      return false;
    case node_report::type::differs:
      status_of_difference_ = report.status;
      end_now(now);
      [[fallthrough]];
    case node_report::type::fails:
      if (!from.failure) from.failure = report;
      // A loss may have its cause elsewhere, and that report may still arrive; conclude() chooses.
      if (!hope_ && (report.lost >= 0 || !said_.empty())) return false;
      return said_.insert(report.sentence).second;
  }
  return false;
}

void run_end::on_end(unsigned n, const node_end& how, time_point now) {
  nodes_[n].runs = false;
  nodes_[n].end = how;
  nodes_[n].was_asked_to_end = asked_to_end_;
  const auto was_passed_on = [this](int signal) { return passed_on_.contains(signal); };
  nodes_[n].was_interrupted = asked_to_end_ || std::ranges::any_of(ending_signals, was_passed_on);
  const bool failed = !is_well(how);
  if (hope_) {
    if (!deadline_ && (!failed || running() == 0)) wait_for_others(n, now);
    return;
  }
  if (how.exit_code == status_lost) pause_ = losing_time;
  const bool is_first_failure = failed && n != 0 && nodes_[0].runs && first_failure_ < 0;
  if (is_first_failure) first_failure_ = static_cast<int>(n);
  const bool ends_all = how.signal != 0 || how.exit_code == status_lost ||
                        (failed && nodes_[n].reached != progress::met) || (n == 0 && is_output_unprintable_);
  if (running() == 0) {
    deadline_ = std::min(deadline_.value_or(time_point::max()), now + pause_);
  } else if (ends_all && (n == 0 || is_first_failure)) {
    deadline_ = now + (n == 0 ? pause_ : failing_time);
    is_grace_ = false;
  } else if (!deadline_ && (n == 0 || is_first_failure)) {
    wait_for_others(n, now);
  }
  look_at_meeting(now);
}

void run_end::on_unprintable_output(time_point now) {
  is_output_unprintable_ = true;
  if (hope_ || nodes_[0].runs || asked_to_end_) return;
  deadline_ = std::min(deadline_.value_or(time_point::max()), now + pause_);
  is_grace_ = false;
}

void run_end::wait_for_others(unsigned ended, time_point now) {
  if (waits_since_) return;
  waits_since_ = ended;
  if (!hope_) notice_ = now + quiet_time;
  if (!grace_) return;
  deadline_ = now + *grace_;
  is_grace_ = true;
}

void run_end::look_at_meeting(time_point now) {
  if (hope_ || missing_ >= 0) return;
  const auto waits = std::find_if(nodes_.begin(), nodes_.end(),
                                  [](const node& n) { return n.runs && n.reached == progress::meets; });
  const auto missing = std::find_if(nodes_.begin(), nodes_.end(),
                                    [](const node& n) { return !n.runs && n.reached != progress::met; });
  if (waits == nodes_.end() || missing == nodes_.end()) return;
  missing_ = static_cast<int>(missing - nodes_.begin());
  waiting_ = static_cast<int>(waits - nodes_.begin());
  end_now(now);
}

std::optional<run_end::time_point> run_end::next() const {
  if (!notice_ || !deadline_) return notice_ ? notice_ : deadline_;
  return std::min(*notice_, *deadline_);
}

run_end::step run_end::take(time_point now) {
  step s;
  if (ends_nodes(now)) {
    s.signal = asked_to_end_ ? SIGKILL : SIGTERM;
    has_given_up_ = asked_to_end_ || running() == 0;
    if (is_grace_ && !asked_to_end_ && running() != 0)
      s.notice = std::to_string(grace_->count()) + " s after the end of " + name_of(*waits_since_) + ", " +
                 still_running() + ": ending " + (running() == 1 ? "it" : "them") +
                 " now (--grace SECONDS gives more time)";
    asked_to_end_ = true;
    notice_.reset();
    deadline_ = now + pause_;
  } else if (notice_ && *notice_ <= now) {
    notice_.reset();
    if (running() != 0)
      s.notice = end_of(*waits_since_) + ", and " + still_running() + ": waiting for " +
                 (running() == 1 ? "its end" : "their ends") + " (--grace SECONDS limits that)";
  }
  return s;
}

std::string run_end::still_running() const {
  std::string names;
  const std::size_t count = running();
  for (std::size_t n = 0, found = 0; n < nodes_.size(); ++n) {
    if (!nodes_[n].runs) continue;
    ++found;
    names += found == 1 ? "" : found == count ? " and " : ", ";
    names += std::to_string(n);
  }
  return count == 1 ? "node " + names + " still runs" : "nodes " + names + " still run";
}

std::string run_end::end_of(unsigned n) const {
  const node_end& e = nodes_[n].end;
  return name_of(n) + (e.signal != 0 ? " was ended by signal " + std::to_string(e.signal)
                                     : " ended with status " + std::to_string(e.exit_code));
}

/// Whether a signal from outside has ended a node.
bool run_end::is_from_outside(unsigned n) const { return passed_on_.contains(nodes_[n].end.signal); }

/// Returns the cause of the failures, as far as the reports show it: a failure that is not a loss; otherwise
/// the loss of a node that has reported nothing itself.
const run_end::node* run_end::chosen_failure() const {
  const auto is_reason = [](const node& n) { return n.failure && n.failure->lost < 0; };
  const auto is_first_loss = [this](const node& n) {
    return n.failure && (static_cast<std::size_t>(n.failure->lost) >= nodes_.size() ||
                         !nodes_[static_cast<std::size_t>(n.failure->lost)].failure);
  };
  auto found = std::find_if(nodes_.begin(), nodes_.end(), is_reason);
  if (found == nodes_.end()) found = std::find_if(nodes_.begin(), nodes_.end(), is_first_loss);
  if (found == nodes_.end())
    found = std::find_if(nodes_.begin(), nodes_.end(), [](const node& n) { return n.failure.has_value(); });
  return found == nodes_.end() ? nullptr : &*found;
}

/// Returns a node that failed by itself without any report about it: node 0 if a signal ended it; otherwise,
/// if node 0 has ended well, another node that a signal ended, or that failed before it met the others. -1:
/// none
int run_end::silent_failure() const {
  const auto is_sudden = [this](const node& n) {
    return n.end.signal != 0 && n.end.signal != SIGPIPE && !n.was_asked_to_end &&
           !passed_on_.contains(n.end.signal);
  };
  if (nodes_.size() == 1) return -1;
  if (is_sudden(nodes_[0])) return 0;
  if (!is_well(nodes_[0].end)) return -1;
  const auto found = std::find_if(nodes_.begin(), nodes_.end(), [&](const node& n) {
    return is_sudden(n) || (n.end.exit_code != 0 && n.reached != progress::met && !n.was_asked_to_end);
  });
  return found == nodes_.end() ? -1 : static_cast<int>(found - nodes_.begin());
}

run_end::conclusion run_end::conclude() const {
  conclusion c;
  c.status = status_of_difference_;
  if (hope_) return c;
  const node* const failure = chosen_failure();
  // Node 0 may get no CPU for so long that the launcher has to kill it.
  const bool was_killed = nodes_[0].end.signal == SIGKILL && nodes_[0].was_asked_to_end;
  const bool was_ended = first_failure_ >= 0 && !is_grace_ && (nodes_[0].end.signal == SIGTERM || was_killed);
  const int blamed = missing_ >= 0 ? missing_ : was_ended ? first_failure_ : -1;
  // One signal ends all nodes, and those that it ends first are no reason.
  if (is_from_outside(0) && (blamed < 0 || is_from_outside(static_cast<unsigned>(blamed)))) return c;
  // As for any program, the signal ends the run, although node 0 has handled it.
  const int cause = blamed >= 0 ? blamed : failure != nullptr ? failure->failure->lost : -1;
  if (cause > 0 && static_cast<std::size_t>(cause) < nodes_.size() &&
      is_from_outside(static_cast<unsigned>(cause)) && said_.empty() && !c.status) {
    c.signal = nodes_[static_cast<std::size_t>(cause)].end.signal;
    return c;
  }
  if (blamed >= 0 && !c.status) {
    const node_end& e = nodes_[static_cast<std::size_t>(blamed)].end;
    if (is_well(e))
      c.status = status_usage;
    else if (blamed != 0)
      c.status = e.signal != 0 ? status_lost : e.exit_code;
  } else if (failure != nullptr && is_well(nodes_[0].end) && !c.status) {
    c.status = failure->failure->status;
  }
  if (!said_.empty()) return c;
  // A node that ends because it lost another one is not the cause: node 0 may have stood still until the
  // launcher killed it. Otherwise the way in which a node ended says more than the report that it was lost.
  const bool lost_another = blamed >= 0 && failure != nullptr && failure->failure->lost != blamed &&
                            nodes_[static_cast<std::size_t>(blamed)].end.exit_code == status_lost;
  if (failure != nullptr && (blamed < 0 || failure->failure->lost < 0 || lost_another)) {
    c.reporter = static_cast<unsigned>(failure - nodes_.data());
    c.sentence = failure->failure->sentence;
  } else if (blamed >= 0 && is_well(nodes_[static_cast<std::size_t>(blamed)].end)) {
    c.sentence = name_of(static_cast<std::size_t>(blamed)) + " ended its program without an entry, and " +
                 name_of(static_cast<std::size_t>(waiting_)) +
                 " waits for it in its first one: each node must make the same calls of sukima::cluster::run";
  } else if (blamed >= 0) {
    c.sentence = end_of(static_cast<unsigned>(blamed)) + ", so the others were ended, too";
  } else if (const int silent = silent_failure(); silent >= 0 && !c.status) {
    const node& failed = nodes_[static_cast<std::size_t>(silent)];
    c.sentence = end_of(static_cast<unsigned>(silent));
    if (silent != 0) c.status = failed.end.signal != 0 ? status_lost : failed.end.exit_code;
  }
  return c;
}

}  // namespace sukima::cluster
