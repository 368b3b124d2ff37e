// SPDX-License-Identifier: Apache-2.0
// Each event in each state.
#include <gtest/gtest.h>

#include <array>

#include "driver.hpp"

namespace {

using namespace driving;
using enum optimiser_state;

constexpr std::array states{idle, learn, trial, rest, optimiser_state::sweep, optimiser_state::back, hold};

driver make(optimiser_state from) {
  return driver({.most = 8, .by = from == optimiser_state::sweep ? optimise_by::use : optimise_by::progress});
}

struct row {
  vm_event event;
  std::array<optimiser_state, 7> leads_to;  ///< from each of `states`
};

// In idle the operator has not opted in yet.
constexpr row table[] = {
    {vm_event::opted_in, {idle, learn, trial, rest, optimiser_state::sweep, optimiser_state::back, hold}},
    {vm_event::opted_out, {idle, idle, idle, idle, idle, idle, idle}},
    {vm_event::paused,
     {idle, optimiser_state::back, optimiser_state::back, optimiser_state::back, optimiser_state::back,
      optimiser_state::back, hold}},
    {vm_event::migrated,
     {idle, optimiser_state::back, optimiser_state::back, optimiser_state::back, optimiser_state::back,
      optimiser_state::back, hold}},
    {vm_event::guard_fired,
     {idle, optimiser_state::back, optimiser_state::back, optimiser_state::back, optimiser_state::back,
      optimiser_state::back, hold}},
    {vm_event::not_verified,
     {idle, optimiser_state::back, optimiser_state::back, optimiser_state::back, optimiser_state::back, hold,
      hold}},
    {vm_event::guest_silent,
     {idle, optimiser_state::back, optimiser_state::back, optimiser_state::back, optimiser_state::back,
      optimiser_state::back, hold}},
    {vm_event::ended, {idle, idle, idle, idle, idle, idle, idle}},
};

TEST(events, lead_from_each_state_where_they_should) {
  for (const row& one : table) {
    for (std::size_t i = 0; i < states.size(); i++) {
      SCOPED_TRACE(std::string(name_of(one.event)) + ", in " + std::string(name_of(states[i])));
      auto d = make(states[i]);
      d.rate = [](unsigned n) { return n >= 6 ? 12.0 : 10.0; };
      d.reach(states[i]);
      const bool ran = d.machine.trial_runs();
      d.verdicts.clear();
      d.event(one.event);
      EXPECT_EQ(name_of(d.machine.state()), name_of(one.leads_to[i]));
      if (one.event == vm_event::opted_in) continue;
      EXPECT_FALSE(d.machine.trial_runs());
      EXPECT_FALSE(d.machine.waits_for_turn());
      EXPECT_EQ(d.machine.in_effect(), 4U) << "the estimate";
      EXPECT_EQ(d.all(verdict_kind::voided).size(), ran ? 1U : 0U);
      EXPECT_EQ(d.all(verdict_kind::better).size(), 0U) << "a trial that was cut short gives no result";
    }
  }
}

TEST(events, the_number_found_is_given_up_when_something_goes_wrong) {
  driver d;
  d.rate = [](unsigned n) { return 10.0 * n; };
  d.reach(rest);
  ASSERT_EQ(d.machine.wanted(), 8U);
  d.event(vm_event::not_verified);
  EXPECT_EQ(d.machine.wanted(), 4U);
  EXPECT_EQ(d.verdicts.back().before, 8U);
  EXPECT_EQ(d.verdicts.back().after, 4U);
  EXPECT_EQ(d.verdicts.back().reason, "an action could not be verified");
}

TEST(events, an_event_during_hold_begins_it_anew) {
  driver d;
  d.reach(hold);
  d.windows(500);
  d.event(vm_event::paused);
  d.windows(599);
  EXPECT_EQ(d.machine.state(), hold);
  d.window();
  EXPECT_EQ(d.machine.state(), learn);
}

TEST(events, an_estimate_that_cannot_be_set_is_held) {
  driver d;
  d.event(vm_event::opted_in);
  d.status(4, 0.1);
  d.event(vm_event::not_verified);
  EXPECT_EQ(d.machine.state(), hold);
}

TEST(events, a_silent_guest_is_not_optimised_before_it_speaks_again) {
  driver d;
  d.reach(rest);
  d.event(vm_event::guest_silent);
  for (int i = 0; i < 700; i++) d.machine.feed(measured_window{.at = d.at += 1, .count = 4, .use = 3});
  EXPECT_EQ(d.machine.state(), idle);
  d.window();
  EXPECT_EQ(d.machine.state(), learn);
}

TEST(events, an_ended_vm_takes_no_more_input) {
  driver d;
  d.reach(trial);
  d.event(vm_event::ended);
  d.verdicts.clear();
  d.event(vm_event::opted_in);
  d.status(7);
  d.windows(1000);
  d.machine.rename("other", d.at);
  EXPECT_EQ(d.machine.state(), idle);
  EXPECT_FALSE(d.machine.wanted());
  EXPECT_TRUE(d.verdicts.empty());
}

TEST(events, a_vm_that_opted_out_is_not_acted_on) {
  driver d;
  EXPECT_FALSE(d.machine.wanted());
  d.reach(rest);
  d.event(vm_event::opted_out);
  EXPECT_FALSE(d.machine.wanted());
  d.windows(1000);
  EXPECT_EQ(d.machine.state(), idle);
}

TEST(events, a_renamed_vm_learns_again_and_keeps_its_count) {
  for (const optimiser_state from : states) {
    SCOPED_TRACE(name_of(from));
    auto d = make(from);
    d.reach(from);
    const bool ran = d.machine.trial_runs();
    const unsigned count = d.machine.resting();
    d.verdicts.clear();
    d.machine.rename("new", d.at);
    const bool searches = from == learn || from == trial || from == optimiser_state::sweep;
    EXPECT_EQ(name_of(d.machine.state()), name_of(searches ? learn : from));
    EXPECT_EQ(d.machine.resting(), count);
    EXPECT_FALSE(d.machine.trial_runs());
    EXPECT_EQ(d.all(verdict_kind::voided).size(), ran ? 1U : 0U);
    d.event(vm_event::opted_in);
    if (from == rest) d.windows_until(learn, 1000);
    d.windows_until(rest, 1000);
    EXPECT_EQ(d.verdicts.back().vm, "new");
  }
}

}  // namespace
