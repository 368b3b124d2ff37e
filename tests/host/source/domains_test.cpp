// SPDX-License-Identifier: Apache-2.0
// The output of virsh is read, and means what it should. The recordings are of libvirt 9.0 with QEMU 7.2.
#include "source/domains.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace sukima::host {
namespace {

std::vector<domain_record> recorded(const std::string& name) {
  std::ifstream in(std::string(SUKIMA_RECORDED) + "/" + name);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  return parse_domains(text);
}

observed_vm observed(const std::string& text, double default_shares = 1024) {
  const auto records = parse_domains(text);
  if (records.size() != 1) throw std::runtime_error("there must be one domain");
  const auto one = observe_domain(records[0], default_shares);
  if (!one) throw std::runtime_error("it must be active");
  return *one;
}

TEST(domains, a_recording_of_virsh_is_read) {
  const auto records = recorded("domains.txt");
  ASSERT_EQ(records.size(), 2U);
  const auto first = observe_domain(records[0], 1024);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->now.name, "sk1");
  EXPECT_EQ(first->now.id, "b2ef887e-8c4f-42bb-aab3-5f2aeaa68110");
  EXPECT_EQ(first->run, "1");
  EXPECT_EQ(first->now.weight, 512);
  EXPECT_EQ(first->now.weight_of, weight_owner::vm);
  EXPECT_EQ(first->now.cap, std::nullopt);
  ASSERT_EQ(first->now.vcpus.size(), 4U);
  EXPECT_TRUE(first->now.vcpus[1].online);
  EXPECT_FALSE(first->now.vcpus[2].online);
  EXPECT_NEAR(first->now.vcpus[0].ran.value(), 10.23, 1e-9);
  EXPECT_NEAR(first->now.vcpus[0].waited.value(), 1.142994251, 1e-9);
  EXPECT_EQ(first->now.vcpus[0].hard, std::vector<std::uint32_t>{0});
  EXPECT_EQ(first->now.vcpus[1].hard, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(first->last_pcpu[0], 0U);
  const auto second = observe_domain(records[1], 1024);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->state, vm_state::paused);
  EXPECT_EQ(second->now.vcpus[0].cap, 0.5);
}

TEST(domains, shares_are_relative_to_the_version_of_control_groups) {
  const std::string text = "Domain: 'a'\n  vcpu.current=1\nScheduler : posix\ncpu_shares : 200\n";
  EXPECT_EQ(observed(text, 100).now.weight, 512);
  EXPECT_EQ(observed(text, 1024).now.weight, 50);
}

TEST(domains, xen_weighs_each_vcpu) {
  const observed_vm one = observed(
      "Domain: 'a'\n  vcpu.current=2\n  vcpu.0.time=1\nScheduler : credit2\nweight : 512\ncap : 150\n");
  EXPECT_EQ(one.now.weight_of, weight_owner::vcpu);
  EXPECT_EQ(one.now.weight, 512);
  EXPECT_EQ(one.now.cap, 1.5);
}

TEST(domains, quotas_are_caps_of_the_domain_or_of_each_vcpu) {
  const std::string before = "Domain: 'a'\n  vcpu.current=2\nScheduler : posix\n";
  EXPECT_EQ(observed(before + "global_quota : 150000\nglobal_period : 100000\n").now.cap, 1.5);
  EXPECT_EQ(observed(before + "global_quota : -1\nglobal_period : 100000\n").now.cap, std::nullopt);
  EXPECT_EQ(observed(before + "global_quota : 17592186044415\nglobal_period : 100000\n").now.cap,
            std::nullopt);
  EXPECT_EQ(observed(before + "vcpu_quota : 25000\nvcpu_period : 100000\n").now.vcpus[1].cap, 0.25);
  EXPECT_EQ(observed(before + "vcpu_quota : 200000\nvcpu_period : 100000\n").now.vcpus[1].cap, std::nullopt);
}

TEST(domains, vcpus_may_be_plugged_in_in_any_order) {
  const observed_vm one = observed(
      "Domain: 'a'\n  vcpu.current=2\n  vcpu.maximum=3\n  vcpu.0.state=1\n  vcpu.0.time=1\n  vcpu.2.state=2\n"
      "  vcpu.2.time=5\n");
  ASSERT_EQ(one.now.vcpus.size(), 3U);
  EXPECT_TRUE(one.now.vcpus[0].online);
  EXPECT_FALSE(one.now.vcpus[1].online);
  EXPECT_TRUE(one.now.vcpus[2].online);
}

TEST(domains, time_of_a_whole_domain_is_divided) {
  const observed_vm one =
      observed("Domain: 'a'\n  cpu.time=6000000000\n  vcpu.current=2\n  vcpu.maximum=4\n");
  EXPECT_EQ(one.now.vcpus[0].ran, 3);
  EXPECT_EQ(one.now.vcpus[1].ran, 3);
  EXPECT_EQ(one.now.vcpus[2].ran, std::nullopt);
  EXPECT_EQ(one.now.vcpus[0].waited, std::nullopt);
}

TEST(domains, wait_takes_the_place_of_delay) {
  EXPECT_EQ(observed("Domain: 'a'\n  vcpu.current=1\n  vcpu.0.time=1\n  vcpu.0.wait=2000000000\n")
                .now.vcpus[0]
                .waited,
            2);
}

TEST(domains, that_are_off_or_have_no_vcpu_are_ignored) {
  for (const char* text : {"Domain: 'a'\n  state.state=5\n  vcpu.current=1\n",
                           "Domain: 'a'\n  state.state=6\n", "Domain: 'a'\n  state.state=1\n"})
    EXPECT_FALSE(observe_domain(parse_domains(text).at(0), 1024)) << text;
}

std::string refusal(const std::string& text) {
  try {
    parse_domains(text);
  } catch (const source_error& error) {
    return error.what();
  }
  return "";
}

TEST(domains, malformed_entries_are_named_with_their_lines) {
  EXPECT_NE(refusal("Domain: a\n").find("line 1"), std::string::npos);
  EXPECT_NE(refusal("\nDomain: 'a'\n  nothing\n").find("line 3"), std::string::npos);
  EXPECT_NE(refusal("Domain: 'a'\nVCPU: many\n").find("line 2"), std::string::npos);
  EXPECT_TRUE(parse_domains("").empty());
  EXPECT_TRUE(parse_domains("something else\n  a=b\n").empty());
}

TEST(domains, ports_need_not_be_utf8) {
  auto records = parse_domains("Domain: 'a'\n  vcpu.current=1\n");
  records[0].port = "/\xff";
  EXPECT_EQ(observe_domain(records[0], 1024)->now.unknown, "{\"port\":\"/\xef\xbf\xbd\"}");
}

TEST(domains, thousands_are_read_however_many_statistics_they_have) {
  constexpr int domains = 4000;
  std::string text;
  for (int n = 0; n < domains; ++n) {
    text += "Domain: 'vm" + std::to_string(n) + "'\n  state.state=1\n  vcpu.current=1\n  vcpu.maximum=1\n";
    text += "  vcpu.0.time=" + std::to_string(n) + "000000000\n  vcpu.0.halt_exits.sum=7\n";
    for (int i = 0; i < 300; ++i) text += "  net.0.x=1\n";
  }
  const auto records = parse_domains(text);
  ASSERT_EQ(records.size(), std::size_t{domains});
  EXPECT_NEAR(observe_domain(records.back(), 1024)->now.vcpus[0].ran.value(), domains - 1, 1e-6);
  EXPECT_EQ(records.back().statistics.size(), 4u) << "what has no use takes no memory";
}

TEST(domains, absurd_numbers_are_ignored) {
  const observed_vm one = observed(
      "Domain: 'a'\n  vcpu.current=1\n  vcpu.maximum=99999999999\n  vcpu.0.time=-5\n  vcpu.0.delay=x\n"
      "Scheduler : posix\ncpu_shares : 99999999999999\n");
  EXPECT_EQ(one.now.vcpus.size(), 1U);
  EXPECT_EQ(one.now.vcpus[0].ran, std::nullopt);
  EXPECT_EQ(one.now.vcpus[0].waited, std::nullopt);
  EXPECT_EQ(one.now.weight, most_weight);
}

TEST(domains, a_note_names_those_whose_weights_and_caps_are_hidden) {
  std::vector<domain_record> all(3);
  all[0].name = "a";
  all[1].name = "b";
  all[2].name = "c";
  EXPECT_EQ(note_on_limits({}, "x:///"), std::nullopt);
  EXPECT_EQ(note_on_limits(all, "x:///"), std::nullopt);
  all[1].hides_limits = true;  // not the last one
  EXPECT_EQ(note_on_limits(all, "x:///"), "libvirt at x:/// does not report the weight and the cap of b");
  all[0].hides_limits = true;
  EXPECT_EQ(note_on_limits(all, "x:///"),
            "libvirt at x:/// does not report the weight and the cap of a and of 1 other");
  all[2].hides_limits = true;
  EXPECT_EQ(note_on_limits(all, "x:///"),
            "libvirt at x:/// does not report weights and caps; as root, qemu:///system does");
}

}  // namespace
}  // namespace sukima::host
