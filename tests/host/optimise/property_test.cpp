// SPDX-License-Identifier: Apache-2.0
// Random windows, estimates and events: the bounds hold, no group has two trials, and every trial ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include <host/shared/optimiser.hpp>
#include "programs.hpp"

namespace {

using namespace sukima::host;
using synthetic::draws;

/// No trial may last longer: twelve rounds of nine windows, times the slack.
constexpr double longest_trial = 12 * 9 * 1.5 * 3;

struct guest {
  optimiser_settings settings;
  std::string name;
  std::uint64_t group = 0;
  unsigned estimate = 1;
  double spoke = 0;  ///< when its last verdict came, or when no trial ran
};

/// A host under random treatment.
class storm {
 public:
  explicit storm(std::uint64_t seed) : from_(seed), all_(seed) {
    const unsigned count = from_.number(1, 6);
    for (unsigned i = 0; i < count; i++) {
      guest one;
      one.settings.most = from_.number(1, 16);
      one.settings.by = chance(0.3) ? optimise_by::use : optimise_by::progress;
      one.settings.dry_run = chance(0.1);
      one.settings.above_estimate = !chance(0.3);
      one.name = "vm" + std::to_string(i);
      one.group = from_.number(0, 2);
      all_.add(one.name, one.settings, one.group);
      guests_.push_back(one);
      if (!chance(0.1)) all_.event(i, 0, vm_event::opted_in);
    }
  }

  void step() {
    at_ += chance(0.01) ? from_.uniform(0, 100) : from_.uniform(0.5, 2);
    for (std::size_t vm = 0; vm < guests_.size(); vm++) disturb(vm);
    std::vector<vm_report> seen;
    for (std::size_t vm = 0; vm < guests_.size(); vm++) seen.push_back(report(vm));
    all_.cycle(seen);
    check();
  }
  unsigned trials() const { return trials_; }

 private:
  bool chance(double part) { return from_.uniform(0, 1) < part; }

  void disturb(std::size_t vm) {
    guest& one = guests_[vm];
    if (chance(0.004)) {
      static constexpr vm_event some[] = {
          vm_event::opted_in,    vm_event::opted_out,    vm_event::paused,       vm_event::migrated,
          vm_event::guard_fired, vm_event::not_verified, vm_event::guest_silent, vm_event::opted_in};
      all_.event(vm, at_, some[from_.number(0, 7)]);
    }
    if (chance(0.0002)) all_.event(vm, at_, vm_event::ended);
    if (chance(0.002)) all_.rename(vm, at_, one.name += "x");
    if (chance(0.005)) all_.regroup(vm, at_, one.group = from_.number(0, 2));
    if (chance(0.01)) one.estimate = from_.number(0, 20);
  }

  double odd_number(double usual) {
    static constexpr double odd[] = {0,
                                     -1,
                                     1e300,
                                     1e-300,
                                     std::numeric_limits<double>::infinity(),
                                     std::numeric_limits<double>::quiet_NaN()};
    return chance(0.02) ? odd[from_.number(0, 5)] : usual * (1 + from_.normal(0.1));
  }

  vm_report report(std::size_t vm) {
    guest& one = guests_[vm];
    vm_report made;
    made.vm = vm;
    if (chance(0.8))
      made.status = vm_status{at_, odd_number(one.estimate), one.estimate, odd_number(3), odd_number(1000)};
    if (chance(0.9)) {
      unsigned count = all_.wanted(vm).value_or(from_.number(1, one.settings.most));
      if (chance(0.1)) count = from_.number(0, 20);
      measured_window window{.at = at_, .count = count, .use = odd_number(3)};
      if (chance(0.9)) window.progress = odd_number(10.0 * count / (count + 3.0));
      window.valid = !chance(0.05);
      window.settled = !chance(0.05);
      if (chance(0.7)) window.share = odd_number(1);
      made.window = window;
    }
    return made;
  }

  void check() {
    std::map<std::uint64_t, int> running;
    const std::vector<verdict> said = all_.take_verdicts();
    for (std::size_t vm = 0; vm < guests_.size(); vm++) {
      guest& one = guests_[vm];
      const unsigned most = one.settings.most;
      ASSERT_GE(all_.resting(vm), 1U);
      ASSERT_LE(all_.resting(vm), most);
      const auto wanted = all_.wanted(vm);
      if (wanted) {
        ASSERT_GE(*wanted, 1U);
        ASSERT_LE(*wanted, most);
      }
      const bool runs = all_.trial_runs(vm);
      const auto state = all_.state(vm);
      if (one.settings.dry_run) {
        ASSERT_FALSE(wanted || runs);
      }
      if (runs) {
        ASSERT_TRUE(state == optimiser_state::trial || state == optimiser_state::sweep);
        ASSERT_LE(++running[one.group], 1) << "two trials in a group";
        trials_++;
      }
      const bool spoke =
          std::any_of(said.begin(), said.end(), [&](const verdict& v) { return v.vm == one.name; });
      if (!runs || spoke) one.spoke = at_;
      ASSERT_LE(at_ - one.spoke, longest_trial + 102) << "a trial does not end";
    }
    for (const verdict& v : said) {
      ASSERT_FALSE(v.reason.empty());
      ASSERT_GE(v.after, 1U);
      ASSERT_LE(v.after, 16U);
    }
  }

  draws from_;
  optimiser all_;
  std::vector<guest> guests_;
  double at_ = 0;
  unsigned trials_ = 0;
};

TEST(property, nothing_random_breaks_the_bounds_or_starts_two_trials_or_keeps_one_for_ever) {
  unsigned trials = 0;
  for (std::uint64_t seed = 1; seed <= 60; seed++) {
    SCOPED_TRACE(seed);
    storm one(seed);
    for (int i = 0; i < 3000; i++) {
      one.step();
      if (testing::Test::HasFatalFailure()) return;
    }
    trials += one.trials();
  }
  EXPECT_GE(trials, 10'000U) << "cycles with a trial: else this tested little";
}

/// Where counts above the estimate are not allowed, none is ever asked for.
TEST(property, a_limit_at_the_estimate_is_kept) {
  for (std::uint64_t seed = 1; seed <= 20; seed++) {
    draws from(seed);
    optimiser all(seed);
    optimiser_settings settings{.most = 16, .above_estimate = false};
    if (seed % 4 == 0) settings.by = optimise_by::use;
    all.add("vm", settings);
    all.event(0, 0, vm_event::opted_in);
    unsigned estimate = 8;
    for (unsigned second = 1; second < 2000; second++) {
      const double at = second;
      if (from.uniform(0, 1) < 0.02) estimate = from.number(1, 16);
      const unsigned count = all.wanted(0).value_or(estimate);
      vm_report seen{.vm = 0, .status = vm_status{at, double(estimate), estimate, 4, 1000}, .window = {}};
      seen.window = measured_window{
          .at = at, .count = count, .use = 3, .progress = 10.0 * count * (1 + from.normal(0.03))};
      all.cycle({seen});
      ASSERT_LE(all.wanted(0).value_or(1), estimate) << seed << " at " << at;
    }
  }
}

}  // namespace
