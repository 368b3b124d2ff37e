// SPDX-License-Identifier: Apache-2.0
// Feeds the state machine of one VM by hand.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "optimise/state_machine.hpp"

namespace driving {

using namespace sukima::host;

/// The speed, or the use, at a count.
using curve = std::function<double(unsigned)>;

/// A VM with an estimate of 4 of at most 8; each window is 1 s later than the one before and without noise.
class driver {
 public:
  explicit driver(const optimiser_settings& settings = {.most = 8})
      : machine("vm", settings, verdicts),
        by_use_(settings.by == optimise_by::use),
        dry_run_(settings.dry_run) {}

  std::vector<verdict> verdicts;
  state_machine machine;
  double at = 100;
  bool gives_turns = true;
  double change_cost = 0;  ///< seconds that each change of the count stops the program; at most 0.5
  curve rate = [](unsigned) { return 10.0; };

  void event(vm_event event) { machine.feed(event, at); }
  void status(double usable, double demand = 4, double up = 1000) {
    machine.feed(vm_status{at, usable, static_cast<unsigned>(std::lround(usable)), demand, up});
  }
  /// A window at the count that is wanted; the machine gets its turn if it waits.
  void window() { window(rate(machine.in_effect())); }
  void window(double value) {
    settle(value);
    at += 1;
    measured_window seen{.at = at, .count = dry_run_ ? 4 : machine.in_effect(), .use = by_use_ ? value : 3};
    seen.progress = value;
    machine.feed(seen);
    if (gives_turns && machine.waits_for_turn()) machine.begin_trial(at);
  }
  /// After a change of the count, a window of the half second until it has settled, if changes cost anything.
  void settle(double value) {
    static constexpr double seconds = 0.5;
    const unsigned count = machine.in_effect();
    if (std::exchange(settled_, count) == count || change_cost == 0) return;
    measured_window seen{.at = at += seconds, .count = count, .use = 3, .settled = false};
    seen.progress = value * (1 - change_cost / seconds);
    machine.feed(seen);
  }
  void windows(unsigned count) {
    for (unsigned i = 0; i < count; i++) window();
  }
  /// Opted in and ready: the first window with progress opens.
  void open() {
    event(vm_event::opted_in);
    status(4);
    window();
  }
  /// \returns how many windows it took; fails after `most`
  unsigned windows_until(optimiser_state wished, unsigned most = 400) {
    unsigned count = 0;
    while (machine.state() != wished && count < most) {
      window();
      count++;
    }
    EXPECT_EQ(name_of(machine.state()), name_of(wished));
    return count;
  }
  /// Brings a new machine to this state. Sweeps need `by` use.
  void reach(optimiser_state wished) {
    if (wished == optimiser_state::idle) return status(4);
    open();
    if (wished == optimiser_state::back || wished == optimiser_state::hold) event(vm_event::paused);
    windows_until(wished);
  }
  /// The verdicts of this kind.
  std::vector<verdict> all(verdict_kind kind) const {
    std::vector<verdict> found;
    for (const verdict& one : verdicts)
      if (one.kind == kind) found.push_back(one);
    return found;
  }

 private:
  unsigned settled_ = 0;
  bool by_use_, dry_run_;  ///< in a dry run the count is 4 whatever the machine thinks
};

}  // namespace driving
