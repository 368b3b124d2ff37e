// SPDX-License-Identifier: Apache-2.0
// The demands that a session assumes: the same as those of a host that is read with its sources.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "act/session_member.hpp"
#include "shared/observer.hpp"
#include "shared/steering.hpp"

namespace {

using namespace sukima::host;

/// Counters that a test advances.
class advanced_counters final : public vm_counters {
 public:
  explicit advanced_counters(const vm_times& now) : now_(now) {}
  std::optional<vm_times> read() override { return now_; }

 private:
  const vm_times& now_;
};

/// A machine of a session that is not optimised itself.
session_vm counted_by(const vm_times& times) {
  session_vm result;
  result.counters = std::make_unique<advanced_counters>(times);
  return result;
}

vm two_vcpus(const char* name) {
  vm result;
  result.name = name;
  result.weight_of = weight_owner::vm;
  result.vcpus.resize(2);
  result.vcpus[1].id = 1;
  return result;
}

/// A machine as a session sees it, and as an observer does.
class seen_twice {
 public:
  explicit seen_twice(const vm& described) : member_(described, counted_by(times_), 1) {
    times_.vcpus.resize(described.vcpus.size());
    now_.clock = 50;
    now_.pcpus.emplace_back();
    now_.vms.emplace_back();
    now_.vms[0].now = described;
    look();
  }

  /// A second passes, in which each vCPU does this.
  void pass(const std::vector<vcpu_time>& done) {
    for (std::size_t i = 0; i < done.size(); ++i) {
      times_.vcpus[i].ran += done[i].ran;
      times_.vcpus[i].waited += done[i].waited;
    }
    now_.clock += 1;
    look();
  }

  std::optional<double> by_session(std::size_t i) const { return member_.wants()[i].demand; }
  std::optional<double> by_observer(std::size_t i) const { return observer_.host().vms[0].vcpus[i].demand; }

 private:
  void look() {
    observed_vm& one = now_.vms[0];
    for (std::size_t i = 0; i < times_.vcpus.size(); ++i) {
      one.now.vcpus[i].ran = times_.vcpus[i].ran;
      one.now.vcpus[i].waited = times_.vcpus[i].waited;
    }
    one.read_at = now_.clock;
    observer_.update(now_);
    EXPECT_TRUE(member_.measure(now_.clock));
  }

  vm_times times_;
  snapshot now_;
  observer observer_;
  session_member member_;
};

/// Lets the machine go through phases of 20 s, and compares what it wants.
/// \param wants_all  whether it wants all it can get at the end of each of them
void compare_demands(const vm& described, const std::vector<bool>& wants_all) {
  const std::vector<std::vector<vcpu_time>> phases = {
      {{.ran = 0.1}, {.ran = 0.05}},
      {{.ran = 0.2, .waited = 0.3}, {.ran = 0.1}},  // others hold it back
      {{.ran = 0.1}, {.ran = 0}},
      {{.ran = 0.5, .waited = 0.5}, {.ran = 0.1}},  // all that a vCPU may have
      {{.ran = 0}, {.ran = 0}},
      {{.ran = 0.5, .waited = 0.2}, {.ran = 0.3, .waited = 0.2}},  // all that the machine may have
      {{.ran = 0.3, .waited = 0.005}, {.ran = 0}},  // 1.7 %
  };
  ASSERT_EQ(wants_all.size(), phases.size());
  seen_twice machine(described);
  EXPECT_FALSE(machine.by_session(0).has_value()) << "there is no interval yet";
  EXPECT_FALSE(machine.by_observer(0).has_value());
  for (std::size_t k = 0; k < phases.size(); ++k) {
    SCOPED_TRACE(k);
    for (int second = 0; second < 20; ++second) {
      machine.pass(phases[k]);
      for (std::size_t i = 0; i < 2; ++i) {
        const double expected = machine.by_observer(i).value_or(1), found = machine.by_session(i).value_or(1);
        // A session rounds up to a part of 128, so that not each cycle is another estimate.
        ASSERT_GE(found, expected - 1e-9) << second;
        ASSERT_LE(found, expected + 1.0 / 128 + 1e-9) << second;
      }
    }
    EXPECT_EQ(!machine.by_session(1).has_value(), wants_all[k]);
  }
}

TEST(session_demand, equals_the_demand_that_an_observer_finds) {
  compare_demands(two_vcpus("a"), {false, true, false, true, false, true, false});
}

TEST(session_demand, is_not_hidden_by_a_vcpu_that_is_plugged_in_again) {
  vm_times times;
  times.vcpus = {{.ran = 50}, {.ran = 1000}};
  session_member member(two_vcpus("a"), counted_by(times), 1);
  EXPECT_TRUE(member.measure(1));
  times.vcpus = {{.ran = 50.5}, {.ran = 0.25}};  // the second one has a new thread
  EXPECT_TRUE(member.measure(2));
  EXPECT_DOUBLE_EQ(member.use(), 0.75);
}

TEST(session_demand, that_moves_a_little_needs_no_other_estimate) {
  const vm described = two_vcpus("a");
  vm_times times;
  times.vcpus.resize(2);
  session_member member(described, counted_by(times), 1);
  std::vector<vcpu_wish> wanted;
  const auto pass = [&](double now, double ran) {
    for (vcpu_time& one : times.vcpus) one.ran += ran;
    EXPECT_TRUE(member.measure(now));
    auto wishes = member.new_wishes(0.0625);
    if (wishes) wanted = *std::move(wishes);
    return wishes.has_value();
  };
  EXPECT_TRUE(pass(1, 0)) << "the first wishes are new";
  int second = 2;
  for (; second < 100; ++second) pass(second, 0.5 - second % 7 * 0.004);
  std::size_t changes = 0;
  for (; second < 1000; ++second) {
    changes += pass(second, 0.5 - second % 7 * 0.004) ? 1 : 0;
    double moved = 0, all = 0;
    for (std::size_t i = 0; i < 2; ++i) {
      moved += std::abs(*member.wants()[i].demand - *wanted[i].demand);
      all += *wanted[i].demand;
    }
    ASSERT_LE(moved, 0.0625 * all);
  }
  EXPECT_EQ(changes, 0U);
  EXPECT_TRUE(pass(second, 0.7)) << "a burst";
  times.vcpus[0].waited += 0.5;
  EXPECT_TRUE(pass(second + 1, 0.5)) << "it wants all it can get";
}

TEST(session_demand, that_moves_counts_at_once_or_within_five_cycles) {
  description two;
  for (std::uint32_t p = 0; p < 2; ++p) {
    two.pcpus.emplace_back();
    two.pcpus.back().id = p;
  }
  two.vms = {two_vcpus("a"), two_vcpus("b")};
  vm_times times;
  times.vcpus.resize(2);
  std::vector<session_vm> vms;
  vms.push_back(counted_by(times));
  vms.emplace_back();  // always busy
  session running(two, std::move(vms), {.dry_run = true}, nullptr);
  int now = 1;
  const auto pass = [&](double ran) {
    for (vcpu_time& one : times.vcpus) one.ran += ran;
    running.step(now++);
    return running.usable(1);
  };
  pass(0);
  double settled = 0;
  for (int k = 0; k < 60; ++k) settled = pass(0.2);
  const double rest = 2 - 2 * (0.2 * 1.1 + 0.025);
  EXPECT_NEAR(settled, rest, 0.0625 * 2 + 2.0 / 128);
  // 15 % more.
  int cycles = 0;
  while (pass(0.23) == settled) ++cycles;
  EXPECT_LT(cycles, 5);
  EXPECT_LT(running.usable(1), settled);
  // Twice as much, at all places of the cycles.
  for (int k = 0; k < 5; ++k) {
    const double before = running.usable(1);
    EXPECT_LT(pass(0.4), before - 0.1) << k;
    for (int second = 0; second < 61; ++second) pass(0.2);
  }
}

/// A guest that never says anything.
class silent_link final : public guest_link {
 public:
  void step(double) override {}
  std::optional<std::string> complaint(double) override { return std::nullopt; }
};

/// 100 optimised machines of 4 vCPUs with a weight each, on 16 neighbours of 64 pCPUs.
class crowded_host {
 public:
  crowded_host() : times_(100) {
    for (std::uint32_t p = 0; p < 64; ++p) {
      now.pcpus.emplace_back();
      now.pcpus.back().id = p;
    }
    std::vector<session_vm> vms;
    for (std::uint32_t j = 0; j < times_.size(); ++j) {
      vm& one = now.vms.emplace_back(two_vcpus(("v" + std::to_string(j)).c_str()));
      one.weight_of = weight_owner::vcpu;
      one.vcpus.resize(4);
      for (std::uint32_t i = 0; i < 4; ++i) {
        one.vcpus[i].id = i;
        for (std::uint32_t p = 0; p < 16; ++p) one.vcpus[i].hard.push_back(j * 7 % 48 + p);
      }
      times_[j].vcpus.resize(4);
      vms.push_back(counted_by(times_[j]));
      vms.back().how.threads = true;
      vms.back().how.most = 4;
      vms.back().chosen = true;
      vms.back().link = std::make_unique<silent_link>();
    }
    running = std::make_unique<session>(now, std::move(vms), session_options{.dry_run = true}, nullptr);
  }

  /// A second passes. \returns how many solutions its estimates needed
  std::size_t pass(const std::function<vcpu_time(std::size_t)>& done) {
    for (std::size_t j = 0; j < times_.size(); ++j)
      for (vcpu_time& one : times_[j].vcpus) {
        one.ran += done(j).ran;
        one.waited += done(j).waited;
      }
    const std::size_t before = running->solutions();
    running->step(++seconds_);
    return running->solutions() - before;
  }

  description now;
  std::unique_ptr<session> running;

 private:
  std::vector<vm_times> times_;
  double seconds_ = 0;
};

TEST(session_demand, of_many_machines_costs_few_solutions_in_each_cycle) {
  crowded_host host;
  std::mt19937_64 random(17);
  const auto noise = [&](std::size_t j) {
    return j % 2 == 0 ? vcpu_time{.ran = 0.5, .waited = 0.2}
                      : vcpu_time{.ran = 0.001 * static_cast<double>(random() % 400)};
  };
  for (int second = 0; second < 3; ++second) host.pass(noise);  // all have an estimate now
  std::size_t all = 0;
  for (int second = 0; second < 60; ++second) {
    const std::size_t solutions = host.pass(noise);
    EXPECT_LE(solutions, 40U);
    all += solutions;
  }
  EXPECT_GT(all, 1000U) << "this use needs no bound";
  // In the end all numbers are right, those of the machines that wait at once.
  const auto calm = [](std::size_t j) {
    return j % 2 == 0 ? vcpu_time{.ran = 0.5, .waited = 0.2} : vcpu_time{};
  };
  for (int second = 0; second < 100; ++second) host.pass(calm);
  const auto all_wait = [](std::size_t) { return vcpu_time{.ran = 0.5, .waited = 0.2}; };
  for (std::size_t j = 1; j < 100; j += 2)
    for (vcpu& one : host.now.vms[j].vcpus) one.demand = 2.0 / 128;
  const estimator idle(host.now);
  for (std::size_t j = 0; j < 100; ++j)
    EXPECT_NEAR(host.running->usable(j), idle.potential(j).usable, 1e-6) << j;
  host.pass(all_wait);
  for (std::size_t j = 1; j < 100; j += 2)
    for (vcpu& one : host.now.vms[j].vcpus) one.demand.reset();
  const estimator busy(host.now);
  for (std::size_t j = 0; j < 100; ++j) EXPECT_NEAR(host.running->usable(j), busy.usable(j), 1e-6) << j;
}

TEST(session_demand, of_a_recording_ends_where_there_are_counters) {
  vm described = two_vcpus("a");
  for (vcpu& one : described.vcpus) one.demand = 0.03;  // it was idle then
  vm_times times;
  times.vcpus.resize(2);
  session_member counted(described, counted_by(times), 1);
  EXPECT_TRUE(counted.measure(1));
  times.vcpus[0] = {.ran = 0.5, .waited = 0.5};
  EXPECT_TRUE(counted.measure(2));
  for (const vcpu_wish& one : counted.wants()) EXPECT_EQ(one.demand, std::nullopt);
  const session_member uncounted(described, {}, 1);
  for (const vcpu_wish& one : uncounted.wants()) EXPECT_EQ(one.demand, 0.03);
}

TEST(session_demand, counts_no_waiting_for_the_cap_of_a_vcpu) {
  vm described = two_vcpus("a");
  described.vcpus[0].cap = 0.5;
  compare_demands(described, {false, true, false, false, false, true, false});
}

TEST(session_demand, counts_no_waiting_for_the_cap_of_a_machine) {
  vm described = two_vcpus("a");
  described.cap = 0.8;
  compare_demands(described, {false, true, false, true, false, false, false});
}

TEST(session_demand, of_a_capped_machine_leaves_its_neighbour_the_rest) {
  for (const bool capped : {true, false}) {
    description two;
    for (std::uint32_t p = 0; p < 2; ++p) {
      two.pcpus.emplace_back();
      two.pcpus.back().id = p;
    }
    two.vms = {two_vcpus("a"), two_vcpus("b")};
    if (capped) two.vms[0].vcpus[0].cap = 0.5;
    vm_times times;
    times.vcpus.resize(2);
    std::vector<session_vm> vms;
    vms.push_back(counted_by(times));
    vms.emplace_back();  // always busy
    session running(two, std::move(vms), {.dry_run = true}, nullptr);
    running.step(1);
    times.vcpus[0].ran += 0.5;
    times.vcpus[0].waited += 0.5;
    running.step(2);
    // The other vCPU is idle: it wants 0.025 CPUs, which becomes 4/128.
    EXPECT_NEAR(running.usable(1), capped ? 2 - 0.5 - 4.0 / 128 : 1, 1e-6);
    // Below its cap it waits for others.
    times.vcpus[0].ran += 0.3;
    times.vcpus[0].waited += 0.5;
    running.step(3);
    EXPECT_NEAR(running.usable(1), 1, 1e-6);
  }
}

}  // namespace
