// SPDX-License-Identifier: Apache-2.0
// From snapshots to a description: demands, the host's own use, and what becomes of machines between two
// readings.
#include <gtest/gtest.h>

#include <host/shared/estimate.hpp>
#include <host/shared/observer.hpp>
#include <map>
#include <set>

#include "../../capacity/recorded_tree.hpp"

namespace sukima::host {
namespace {

/// A host whose counters a test advances.
class made_up_host {
 public:
  explicit made_up_host(std::size_t pcpus) {
    now_.taken = 1000;
    now_.clock = 50;
    for (std::uint32_t p = 0; p < pcpus; ++p) {
      now_.pcpus.emplace_back();
      now_.pcpus.back().id = p;
      now_.busy.push_back(100);
    }
  }

  observed_vm& add(const std::string& name, std::size_t vcpus) {
    observed_vm one;
    one.now.name = name;
    one.now.id = "id of " + name;
    one.now.weight_of = weight_owner::vm;
    one.read_at = now_.clock;
    one.source = "test";
    for (std::uint32_t v = 0; v < vcpus; ++v) {
      one.now.vcpus.emplace_back();
      one.now.vcpus.back().id = v;
      one.now.vcpus.back().ran = one.now.vcpus.back().waited = 0;
    }
    now_.vms.push_back(std::move(one));
    return now_.vms.back();
  }
  observed_vm& vm(std::size_t j) { return now_.vms[j]; }
  snapshot& now() { return now_; }

  /// Time goes on; the machines' counters are fresh.
  void pass(double seconds) {
    now_.taken += seconds;
    now_.clock += seconds;
    for (observed_vm& one : now_.vms) one.read_at = now_.clock;
  }
  /// A vCPU runs and waits; its pCPU is busy while it runs.
  void run(std::size_t j, std::size_t v, double ran, double waited, std::optional<std::size_t> pcpu = 0) {
    *now_.vms[j].now.vcpus[v].ran += ran;
    *now_.vms[j].now.vcpus[v].waited += waited;
    if (pcpu) now_.busy[*pcpu] += ran;
  }

 private:
  snapshot now_;
};

std::vector<std::string> sentences(const observer& from) {
  std::vector<std::string> result;
  for (const change& one : from.changes()) result.push_back(text_of(one));
  return result;
}

using list = std::vector<std::string>;

TEST(demand, is_unknown_before_there_is_an_interval) {
  made_up_host host(1);
  host.add("a", 1);
  observer seen;
  EXPECT_EQ(seen.update(host.now()).vms[0].vcpus[0].demand, std::nullopt);
  EXPECT_EQ(seen.measured()[0].used, std::nullopt);
}

TEST(demand, of_a_machine_that_does_not_wait_is_a_little_more_than_its_use) {
  made_up_host host(1);
  host.add("a", 2);
  observer seen;
  seen.update(host.now());
  host.run(0, 0, 0.4, 0.004);
  host.run(0, 1, 0.1, 0.0059);  // 1.98 % of what it ran
  host.pass(1);
  const description& now = seen.update(host.now());
  EXPECT_NEAR(now.vms[0].vcpus[0].demand.value(), 0.4 * 1.1 + 0.025, 1e-9);
  EXPECT_NEAR(now.vms[0].vcpus[1].demand.value(), 0.1 * 1.1 + 0.025, 1e-9);
  EXPECT_NEAR(seen.measured()[0].used.value(), 0.5, 1e-9);
}

TEST(demand, of_a_machine_that_waits_is_all) {
  made_up_host host(1);
  host.add("a", 2);
  observer seen;
  seen.update(host.now());
  host.run(0, 0, 0.4, 0.0101);  // 2.02 % of what the machine ran
  host.run(0, 1, 0.1, 0);
  host.pass(1);
  for (const vcpu& one : seen.update(host.now()).vms[0].vcpus) EXPECT_EQ(one.demand, std::nullopt);
  EXPECT_NEAR(seen.measured()[0].waited_by_ran.value(), 0.0202, 1e-9);
}

TEST(demand, of_an_idle_machine_that_wakes_up_late_now_and_then_is_small) {
  made_up_host host(1);
  host.add("a", 1);
  observer seen;
  seen.update(host.now());
  host.run(0, 0, 0.002, 0.0009);
  host.pass(1);
  EXPECT_LT(seen.update(host.now()).vms[0].vcpus[0].demand.value(), 0.06);
}

TEST(demand, of_an_idle_machine_is_the_same_however_many_vcpus_it_has) {
  for (const std::size_t vcpus : {1U, 3U, 64U}) {
    made_up_host host(1);
    host.add("a", vcpus);
    observer seen;
    seen.update(host.now());
    host.pass(1);
    double sum = 0;
    for (const vcpu& one : seen.update(host.now()).vms[0].vcpus) sum += one.demand.value_or(1);
    EXPECT_NEAR(sum, 0.05, 1e-9) << vcpus;
  }
}

TEST(demand, rises_at_once_and_falls_over_30_seconds) {
  made_up_host host(1);
  host.add("a", 1);
  observer seen;
  seen.update(host.now());
  const auto after = [&](double used) {
    host.run(0, 0, used, 0);
    host.pass(1);
    return seen.update(host.now()).vms[0].vcpus[0].demand.value();
  };
  EXPECT_NEAR(after(0), 0.05, 1e-9);
  EXPECT_NEAR(after(0.8), 0.93, 1e-9);
  const double top = 0.93, bottom = 0.05;
  double last = top;
  for (int second = 1; second <= 30; ++second) {
    const double now = after(0);
    EXPECT_LT(now, last) << second;
    if (second == 5) {
      EXPECT_GT(now, bottom + 0.5 * (top - bottom));
    }
    last = now;
  }
  EXPECT_NEAR(last, bottom + 0.05 * (top - bottom), 0.001);
}

TEST(demand, falls_from_all_once_a_machine_stops_waiting) {
  made_up_host host(1);
  host.add("a", 1);
  observer seen;
  seen.update(host.now());
  host.run(0, 0, 0.5, 0.5);
  host.pass(1);
  seen.update(host.now());
  host.run(0, 0, 0.1, 0);
  host.pass(1);
  const double now = seen.update(host.now()).vms[0].vcpus[0].demand.value();
  EXPECT_GT(now, 0.9);
  EXPECT_LT(now, 1);
}

TEST(demand, throttling_does_not_count_as_waiting) {
  made_up_host host(1);
  observed_vm& one = host.add("a", 1);
  one.throttled = 5;
  observer seen;
  seen.update(host.now());
  host.run(0, 0, 0.3, 0.6);
  host.vm(0).throttled = 5.6;
  host.pass(1);
  EXPECT_NEAR(seen.update(host.now()).vms[0].vcpus[0].demand.value(), 0.38, 1e-9);
  // Half of it was another machine's doing.
  host.run(0, 0, 0.3, 0.6);
  host.vm(0).throttled = 5.9;
  host.pass(1);
  EXPECT_EQ(seen.update(host.now()).vms[0].vcpus[0].demand, std::nullopt);
}

TEST(demand, is_unknown_for_a_vm_that_used_its_whole_cap) {
  for (const bool whole : {true, false}) {
    made_up_host host(1);
    observed_vm& one = host.add("a", 1);
    (whole ? one.now.cap : one.now.vcpus[0].cap) = 0.5;
    observer seen;
    seen.update(host.now());
    host.run(0, 0, 0.49, 0.5);
    host.pass(1);
    EXPECT_TRUE(seen.update(host.now()).vms[0].vcpus[0].demand.has_value());
    host.run(0, 0, 0.3, 0.5);
    host.pass(1);
    EXPECT_EQ(seen.update(host.now()).vms[0].vcpus[0].demand, std::nullopt);
  }
}

TEST(demand, needs_a_source_that_knows_the_waiting) {
  made_up_host host(1);
  host.add("a", 1).now.vcpus[0].waited.reset();
  observer seen;
  seen.update(host.now());
  *host.vm(0).now.vcpus[0].ran += 0.5;
  host.pass(1);
  EXPECT_EQ(seen.update(host.now()).vms[0].vcpus[0].demand, std::nullopt);
  EXPECT_EQ(seen.measured()[0].waited_by_ran, std::nullopt);
}

TEST(capacity, is_what_the_host_left_in_the_last_10_seconds) {
  made_up_host host(2);
  host.add("a", 1).last_pcpu = {0};
  observer seen;
  EXPECT_EQ(seen.update(host.now()).pcpus[0].capacity, 1);
  for (int second = 0; second < 10; ++second) {
    host.run(0, 0, 0.5, 0);
    host.now().busy[0] += 0.2;
    host.now().busy[1] += 0.6;
    host.pass(1);
    seen.update(host.now());
  }
  EXPECT_NEAR(seen.host().pcpus[0].capacity, 0.8, 1e-9);
  EXPECT_NEAR(seen.host().pcpus[1].capacity, 0.4, 1e-9);
  for (int second = 0; second < 5; ++second) {
    host.pass(1);
    seen.update(host.now());
  }
  EXPECT_NEAR(seen.host().pcpus[1].capacity, 0.7, 1e-9);
  for (int second = 0; second < 5; ++second) {
    host.pass(1);
    seen.update(host.now());
  }
  EXPECT_EQ(seen.host().pcpus[1].capacity, 1);
}

TEST(capacity, does_not_take_what_an_ended_machine_ran_for_the_hosts) {
  made_up_host host(1);
  host.add("a", 1);
  host.add("b", 1);
  observer seen;
  seen.update(host.now());
  host.run(0, 0, 0.5, 0);
  host.run(1, 0, 0.5, 0);
  host.pass(1);
  host.now().vms.pop_back();
  EXPECT_EQ(seen.update(host.now()).pcpus[0].capacity, 1);
  host.now().busy[0] += 0.25;
  host.pass(1);
  EXPECT_NEAR(seen.update(host.now()).pcpus[0].capacity, 0.75, 1e-9);
}

TEST(changes, a_paused_machine_wants_nothing_until_it_is_resumed) {
  made_up_host host(1);
  host.add("a", 1);
  host.add("b", 1);
  observer seen;
  seen.update(host.now());
  EXPECT_TRUE(seen.changes().empty());
  host.run(1, 0, 0.9, 0.2);
  host.vm(0).state = vm_state::paused;
  host.pass(1);
  const description& now = seen.update(host.now());
  EXPECT_EQ(sentences(seen), list{"a was paused."});
  EXPECT_EQ(now.vms[0].vcpus[0].demand, 0);
  EXPECT_NE(now.vms[0].unknown.find("paused"), std::string::npos);
  EXPECT_NEAR(estimate_shares(now)[1].usable, 1, 1e-9);
  host.vm(0).state = vm_state::running;
  host.pass(1);
  seen.update(host.now());
  EXPECT_EQ(sentences(seen), list{"a was resumed."});
}

TEST(changes, a_renamed_machine_keeps_its_past) {
  made_up_host host(1);
  host.add("a", 1);
  observer seen;
  seen.update(host.now());
  host.run(0, 0, 0.5, 0);
  host.vm(0).now.name = "b";
  host.pass(1);
  EXPECT_EQ(seen.update(host.now()).vms[0].name, "b");
  EXPECT_EQ(sentences(seen), list{"a was renamed to b."});
  EXPECT_NEAR(seen.measured()[0].used.value(), 0.5, 1e-9);
}

TEST(changes, a_machine_that_came_back_from_another_host_begins_anew) {
  for (const bool knows_runs : {true, false}) {
    made_up_host host(1);
    host.add("a", 1).run = knows_runs ? "1" : "";
    *host.vm(0).now.vcpus[0].ran = 100;
    observer seen;
    seen.update(host.now());
    host.run(0, 0, 0.5, 0);
    host.pass(1);
    seen.update(host.now());
    // In between it was elsewhere, and its counters are those of a new process.
    if (knows_runs) host.vm(0).run = "2";
    *host.vm(0).now.vcpus[0].ran = knows_runs ? 300 : 0.2;
    host.pass(1);
    seen.update(host.now());
    EXPECT_EQ(sentences(seen), list{"a was restarted, or came back from another host."});
    EXPECT_EQ(seen.measured()[0].used, std::nullopt);
    EXPECT_EQ(seen.host().vms[0].vcpus[0].demand, std::nullopt);
    host.run(0, 0, 0.25, 0);
    host.pass(1);
    seen.update(host.now());
    EXPECT_NEAR(seen.measured()[0].used.value(), 0.25, 1e-9);
  }
}

TEST(changes, a_machine_that_ended_is_gone) {
  made_up_host host(1);
  host.add("a", 1);
  host.add("b", 1);
  observer seen;
  seen.update(host.now());
  host.now().vms.erase(host.now().vms.begin());
  host.pass(1);
  EXPECT_EQ(seen.update(host.now()).vms.size(), 1U);
  EXPECT_EQ(sentences(seen), list{"a ended, or moved to another host."});
  host.add("c", 1);
  host.pass(1);
  seen.update(host.now());
  EXPECT_EQ(sentences(seen), list{"c appeared."});
}

TEST(changes, are_reported_once_though_nothing_can_be_read_then) {
  made_up_host host(1);
  observer seen;
  seen.update(host.now());
  host.add("a", 1);
  host.pass(1);
  seen.update(host.now());
  EXPECT_EQ(sentences(seen), list{"a appeared."});
  seen.record_failed_reading();
  EXPECT_EQ(sentences(seen), list{});
  EXPECT_EQ(seen.host().vms.size(), 1U);
}

TEST(changes, a_machine_that_does_not_answer_is_shown_as_it_was) {
  made_up_host host(1);
  host.add("a", 1);
  observer seen;
  seen.update(host.now());
  host.run(0, 0, 0.5, 0);
  host.pass(1);
  seen.update(host.now());
  const double then = host.vm(0).read_at;
  host.pass(1);
  host.vm(0).stale = true;
  host.vm(0).read_at = then;
  const description& now = seen.update(host.now());
  EXPECT_EQ(sentences(seen), list{"a does not answer."});
  EXPECT_NEAR(seen.measured()[0].used.value(), 0.5, 1e-9);
  EXPECT_NEAR(now.vms[0].vcpus[0].demand.value(), 0.6, 1e-9);
  EXPECT_TRUE(seen.measured()[0].stale);
  // Its time since then belongs to all three seconds.
  host.run(0, 0, 0.9, 0);
  host.pass(2);
  host.vm(0).stale = false;
  seen.update(host.now());
  EXPECT_EQ(sentences(seen), list{"a answers again."});
  EXPECT_NEAR(seen.measured()[0].used.value(), 0.3, 1e-9);
  EXPECT_EQ(seen.host().pcpus[0].capacity, 1);
}

TEST(changes, a_vcpu_that_was_plugged_in_counts_from_then_on) {
  made_up_host host(2);
  host.add("a", 1);
  *host.vm(0).now.vcpus[0].ran = 100;
  observer seen;
  seen.update(host.now());
  host.vm(0).now.vcpus.push_back(host.vm(0).now.vcpus[0]);
  host.vm(0).now.vcpus[1].id = 1;
  *host.vm(0).now.vcpus[1].ran = 0;
  host.run(0, 0, 0.5, 0);
  host.run(0, 1, 0.25, 0);
  host.pass(1);
  seen.update(host.now());
  EXPECT_TRUE(seen.changes().empty());
  EXPECT_NEAR(seen.measured()[0].used.value(), 0.75, 1e-9);
}

TEST(changes, a_vcpu_that_was_unplugged_is_not_a_new_start) {
  made_up_host host(2);
  host.add("a", 2);
  *host.vm(0).now.vcpus[0].ran = 100;
  *host.vm(0).now.vcpus[1].ran = 100;
  observer seen;
  seen.update(host.now());
  vcpu& unplugged = host.vm(0).now.vcpus[1];
  unplugged.online = false;
  unplugged.ran.reset();
  unplugged.waited.reset();
  host.run(0, 0, 0.5, 0);
  host.pass(1);
  seen.update(host.now());
  EXPECT_EQ(sentences(seen), list{});
  EXPECT_NEAR(seen.measured()[0].used.value(), 0.5, 1e-9);
  // Plugged in again, it has a new thread.
  unplugged.online = true;
  unplugged.ran = 0.25;
  unplugged.waited = 0;
  host.pass(1);
  seen.update(host.now());
  EXPECT_EQ(sentences(seen), list{});
  EXPECT_NEAR(seen.measured()[0].used.value(), 0.25, 1e-9);
}

TEST(counters, of_a_machine_keep_what_an_unplugged_vcpu_ran) {
  made_up_host host(2);
  host.add("a", 2).run = "one";
  observer seen;
  const auto counted = [&] {
    seen.update(host.now());
    const measured_vm& one = seen.measured().at(0);
    return std::pair(one.ran.sum(), one.waited.sum());
  };
  host.run(0, 0, 5, 1);
  host.run(0, 1, 3, 2);
  EXPECT_EQ(counted(), std::pair(8.0, 3.0)) << "all that it ran since it started";
  host.pass(1);
  vcpu& second = host.vm(0).now.vcpus[1];
  second.online = false;
  second.ran = second.waited = std::nullopt;
  EXPECT_EQ(counted(), std::pair(8.0, 3.0));
  host.pass(1);
  second.online = true;
  second.ran = second.waited = 0.5;
  EXPECT_EQ(counted(), std::pair(8.5, 3.5)) << "it counts from 0 again";
  host.vm(0).run = "another";
  host.pass(1);
  EXPECT_EQ(counted(), std::pair(5.5, 1.5)) << "a restarted machine begins anew";
}

TEST(counters, are_unknown_if_the_source_has_none) {
  made_up_host host(1);
  host.add("a", 1).now.vcpus[0].waited = std::nullopt;
  observer seen;
  seen.update(host.now());
  EXPECT_TRUE(seen.measured().at(0).ran.has_counted());
  EXPECT_FALSE(seen.measured().at(0).waited.has_counted());
}

TEST(descriptions, of_any_names_can_be_read_again) {
  made_up_host host(1);
  host.add("same", 1);
  host.add("same", 1).now.id = "0123456789";
  host.add("same", 1).now.id.reset();
  host.add("same", 1).now.id.reset();
  host.add("", 1);
  host.add("bell\a and \xff and \xc3\xbc and \xc2\x9bz", 1);
  host.add(std::string(300, 'x'), 1);
  for (std::size_t j = 0; j < 7; ++j) host.vm(j).now.weight = 70000;
  host.vm(0).now.vcpus[0].hard = {0, 7};
  host.vm(1).now.vcpus[0].hard = {7};
  observer seen;
  const description again = parse_description(description_text(seen.update(host.now())));
  std::vector<std::string> names;
  for (const vm& one : again.vms) names.push_back(one.name);
  EXPECT_EQ(names, (list{"same", "same (01234567)", "same-2", "same-3", "unnamed",
                         "bell? and ? and \xc3\xbc and ?z", std::string(200, 'x')}));
  EXPECT_TRUE(again.vms[0].vcpus[0].hard.empty());
  EXPECT_EQ(again.vms[0].weight, most_weight);
  host.pass(1);
  seen.update(host.now());
  EXPECT_TRUE(seen.changes().empty());
}

TEST(machine, has_each_cpu_once_in_any_order) {
  sukima_test::recorded_tree tree;
  tree.file("/proc/stat",
            "cpu  9 9 9 9 9\ncpu2 100 0 0 0 0\ncpu0 300 0 0 0 0\ncpu2 700 0 0 0 0\ncpux 1 1 1 1\ncpu5\n");
  const snapshot read = read_machine(tree.root());
  ASSERT_EQ(read.pcpus.size(), 2U);
  EXPECT_EQ(read.pcpus[0].id, 2U);
  EXPECT_EQ(read.pcpus[1].id, 0U);
  EXPECT_EQ(read.busy, (std::vector<double>{1, 3}));
  tree.file("/proc/stat", "cpu  9 9 9 9 9\nintr 0\n");
  EXPECT_THROW(read_machine(tree.root()), source_error);
}

TEST(descriptions, of_long_names_that_occur_twice_end_between_two_characters) {
  made_up_host host(1);
  for (int j = 0; j < 2; ++j)
    host.add(std::string(179, 'x') + "\xc3\xbc" + std::string(15, 'y'), 1).now.id.reset();
  observer seen;
  EXPECT_EQ(parse_description(description_text(seen.update(host.now()))).vms[1].name,
            std::string(179, 'x') + "?-2");
}

TEST(descriptions, of_thousands_of_machines_with_one_name_and_one_id) {
  constexpr std::size_t machines = 10000;
  made_up_host host(1);
  for (std::size_t j = 0; j < machines; ++j) host.add("same", 1);
  observer seen;
  std::set<std::string> names;
  for (const vm& one : seen.update(host.now()).vms) names.insert(one.name);
  EXPECT_EQ(names.size(), machines);
  EXPECT_TRUE(names.contains("same-9999"));
  host.pass(1);
  seen.update(host.now());
  EXPECT_TRUE(seen.changes().empty());
}

}  // namespace
}  // namespace sukima::host
