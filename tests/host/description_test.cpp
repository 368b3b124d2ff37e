// SPDX-License-Identifier: Apache-2.0
// The format of hosts: what is read, kept, written and refused.
#include <gtest/gtest.h>

#include <host/shared/description.hpp>

namespace sukima::host {
namespace {

constexpr const char* example = R"({
  "sukima-host": 1, "taken": 1763790000.5, "hypervisor": "xen",
  "pcpus": [{"id": 0, "node": 0, "core": 1, "capacity": 0.5, "model": "x"}, {"id": 7}],
  "vms": [
    {"name": "a", "id": "u-1", "weight": 512, "weight_of": "vcpu", "cap": 1.5, "act": ["threads", "vcpus"],
     "owner": {"team": [1, 2]},
     "vcpus": [{"id": 0, "online": false, "hard": "0,7", "soft": "7", "cap": 0.5, "demand": 0.25, "ran": 12.5,
                "waited": 0.5, "state": "idle"},
               {"id": 1, "cap": null, "demand": null, "hard": null}]},
    {"name": "b", "vcpus": []}
  ]})";

TEST(description, is_read) {
  const description host = parse_description(example);
  EXPECT_EQ(host.taken, 1763790000.5);
  ASSERT_EQ(host.pcpus.size(), 2u);
  EXPECT_EQ(host.pcpus[0].capacity, 0.5);
  EXPECT_EQ(host.pcpus[0].node, 0u);
  EXPECT_EQ(host.pcpus[0].core, 1u);
  EXPECT_EQ(host.pcpus[1].id, 7u);
  EXPECT_EQ(host.pcpus[1].capacity, 1);
  ASSERT_EQ(host.vms.size(), 2u);
  const vm& a = host.vms[0];
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.id, "u-1");
  EXPECT_EQ(a.weight, 512);
  EXPECT_EQ(a.weight_of, weight_owner::vcpu);
  EXPECT_EQ(a.cap, 1.5);
  EXPECT_EQ(a.act->size(), 2u);
  const vcpu& first = a.vcpus[0];
  EXPECT_FALSE(first.online);
  EXPECT_EQ(first.hard, (std::vector<std::uint32_t>{0, 7}));
  EXPECT_EQ(first.soft, std::vector<std::uint32_t>{7});
  EXPECT_EQ(first.cap, 0.5);
  EXPECT_EQ(first.demand, 0.25);
  EXPECT_EQ(first.ran, 12.5);
  EXPECT_EQ(first.waited, 0.5);
  EXPECT_TRUE(a.vcpus[1].online);
  EXPECT_TRUE(a.vcpus[1].hard.empty());
  EXPECT_EQ(a.vcpus[1].cap, std::nullopt);
  EXPECT_EQ(host.vms[1].weight, 256);
  EXPECT_EQ(host.vms[1].weight_of, std::nullopt);
}

TEST(description, keeps_members_that_it_does_not_know) {
  const std::string written = description_text(parse_description(example));
  for (const char* kept : {"\"hypervisor\": \"xen\"", "\"model\": \"x\"", "\"team\"", "\"state\": \"idle\""})
    EXPECT_NE(written.find(kept), std::string::npos) << kept;
}

TEST(description, that_is_written_is_read_as_the_same) {
  const std::string written = description_text(parse_description(example));
  EXPECT_EQ(description_text(parse_description(written)), written);
}

TEST(description, weights_go_from_0_to_65535) {
  const auto with_weight = [](const std::string& weight) {
    return R"({"sukima-host": 1, "pcpus": [{"id": 0}], "vms": [{"name": "a", "vcpus": [], "weight": )" +
           weight + "}]}";
  };
  EXPECT_EQ(parse_description(with_weight("0")).vms[0].weight, 0);
  EXPECT_EQ(parse_description(with_weight("65535")).vms[0].weight, 65535);
  EXPECT_THROW(parse_description(with_weight("65536")), description_error);
  EXPECT_THROW(parse_description(with_weight("-1")), description_error);
}

std::string refusal_of(const std::string& text) {
  try {
    parse_description(text);
  } catch (const description_error& error) {
    return error.what();
  }
  return "";
}

/// A host of the pCPUs 0 and 1 with one VM "a" of this vCPU.
std::string with_vcpu(const std::string& vcpu) {
  return R"({"sukima-host": 1, "pcpus": [{"id": 0}, {"id": 1}], "vms": [{"name": "a", "vcpus": [)" + vcpu +
         "]}]}";
}
std::string with_vm(const std::string& members) {
  return R"({"sukima-host": 1, "pcpus": [{"id": 0}], "vms": [{"name": "a", )" + members + "}]}";
}
std::string with_pcpus(const std::string& pcpus) {
  return R"({"sukima-host": 1, "vms": [], "pcpus": )" + pcpus + "}";
}

TEST(description, says_what_is_wrong_with_a_vcpu) {
  EXPECT_EQ(refusal_of(with_vcpu(R"({"id": 0}, {"id": 1, "hard": "0-64"})")),
            "vms[0].vcpus[1].hard: CPU 2 does not exist");
  EXPECT_EQ(refusal_of(with_vcpu(R"({"id": 0, "soft": "64"})")),
            "vms[0].vcpus[0].soft: CPU 64 does not exist");
  EXPECT_EQ(refusal_of(with_vcpu(R"({"id": 0, "hard": "1-0"})")),
            "vms[0].vcpus[0].hard: '1-0' is not a list of CPUs such as '0-3,8'");
  EXPECT_EQ(refusal_of(with_vcpu(R"({"id": 0, "hard": [0]})")), "vms[0].vcpus[0].hard: must be a string");
  EXPECT_EQ(refusal_of(with_vcpu(R"({"id": 0, "cap": 1.5})")),
            "vms[0].vcpus[0].cap: must be a number from 0 to 1");
  EXPECT_EQ(refusal_of(with_vcpu(R"({"id": 0, "demand": "much"})")),
            "vms[0].vcpus[0].demand: must be a number from 0 to 1");
  EXPECT_EQ(refusal_of(with_vcpu(R"({"id": 0.5})")),
            "vms[0].vcpus[0].id: must be a whole number from 0 to 65535");
  EXPECT_EQ(refusal_of(with_vcpu(R"({"online": true})")), "vms[0].vcpus[0]: the member 'id' is missing");
  EXPECT_EQ(refusal_of(with_vcpu(R"({"id": 0, "online": 1})")),
            "vms[0].vcpus[0].online: must be true or false");
  EXPECT_EQ(refusal_of(with_vcpu(R"({"id": 3}, {"id": 3})")), "vms[0].vcpus[1]: there are two vCPUs 3");
  EXPECT_EQ(refusal_of(with_vcpu("7")), "vms[0].vcpus[0]: must be a JSON object");
}

TEST(description, says_what_is_wrong_with_a_vm) {
  EXPECT_EQ(refusal_of(with_vm(R"("vcpus": {})")), "vms[0].vcpus: must be an array");
  EXPECT_EQ(refusal_of(with_vm(R"("vcpus": [], "weight_of": "host")")),
            "vms[0].weight_of: must be 'vcpu' or 'vm'");
  EXPECT_EQ(refusal_of(with_vm(R"("vcpus": [], "weight": null)")),
            "vms[0].weight: must be a number from 0 to 65535");
  EXPECT_EQ(refusal_of(with_vm(R"("vcpus": [], "act": ["fly"])")),
            "vms[0].act[0]: must be 'threads', 'vcpus', 'cap', 'weight' or 'plug'");
  EXPECT_EQ(refusal_of(R"({"sukima-host": 1, "pcpus": [{"id": 0}], "vms": [{"name": "", "vcpus": []}]})"),
            "vms[0].name: must be a name of 1 to 200 characters without control characters");
  EXPECT_EQ(refusal_of(R"({"sukima-host": 1, "pcpus": [{"id": 0}],
                           "vms": [{"name": "a", "vcpus": []}, {"name": "a", "vcpus": []}]})"),
            "vms[1]: there are two virtual machines 'a'");
  EXPECT_EQ(refusal_of(with_vm(R"("vcpus": [{"id": 0}, {"id": 1, "cap": 1, "cap": 0.5}])")),
            "vms[0].vcpus[1].cap: is given twice; leave one of them out");
  EXPECT_EQ(refusal_of(with_vm(R"("vcpus": [], "my": [[], [1, {"own": 1, "own": 1}]])")),
            "vms[0].my[1][1].own: is given twice; leave one of them out");
}

TEST(description, says_what_is_wrong_with_the_whole) {
  EXPECT_EQ(refusal_of("nothing"),
            "the description is not JSON: line 1, column 2: invalid literal; last read: 'no'");
  EXPECT_EQ(refusal_of("{\"x\": 1e999}"), "the description is not JSON: number overflow parsing '1e999'");
  EXPECT_EQ(refusal_of("[]"), "the description: must be a JSON object");
  EXPECT_EQ(refusal_of("{}"), "the description: the member 'sukima-host' is missing");
  EXPECT_EQ(refusal_of(R"({"vms": [], "pcpus": [], "vms": []})"),
            "vms: is given twice; leave one of them out");
  EXPECT_EQ(refusal_of(R"({"sukima-host": 2})"), "sukima-host: only version 1 is known");
  EXPECT_EQ(refusal_of(with_pcpus("[]")), "pcpus: there is no pCPU");
  EXPECT_EQ(refusal_of(with_pcpus(R"([{"id": 1}, {"id": 1}])")), "pcpus[1]: there are two pCPUs 1");
  EXPECT_EQ(refusal_of(with_pcpus(R"([{"id": 1, "capacity": 1.1}])")),
            "pcpus[0].capacity: must be a number from 0 to 1");
  EXPECT_EQ(refusal_of(with_pcpus(R"([{"id": 70000}])")),
            "pcpus[0].id: must be a whole number from 0 to 65535");
  EXPECT_EQ(refusal_of(with_pcpus("[]").substr(0, 10) + std::string(100, '[')).substr(0, 28),
            "the description is not JSON:");
  EXPECT_EQ(refusal_of(R"({"x": )" + std::string(100, '[') + std::string(100, ']') + "}"),
            "the description: is nested too deeply");
  std::string many = "[{\"id\": 0}";
  for (std::size_t p = 1; p <= most_pcpus; ++p) many += ", {\"id\": " + std::to_string(p) + "}";
  EXPECT_EQ(refusal_of(with_pcpus(many + "]")), "pcpus[1024]: there are more than 1024 pCPUs");
}

TEST(cpu_list, is_that_of_linux) {
  using ids = std::vector<std::uint32_t>;
  EXPECT_EQ(parse_cpu_list("0"), ids{0});
  EXPECT_EQ(parse_cpu_list("8,0-2,1"), (ids{0, 1, 2, 8}));
  EXPECT_EQ(cpu_list_text({0, 1, 2, 8, 10, 11}), "0-2,8,10-11");
  EXPECT_EQ(cpu_list_text({}), "");
  for (const char* wrong :
       {"", ",", "1,", "-1", "1-", "a", "1 2", "0x1", "1--2", "65536", "99999999999", "2-1"})
    EXPECT_THROW(parse_cpu_list(wrong), description_error) << wrong;
  std::string repeated = "0-65535";
  for (int k = 0; k < 10; ++k) repeated += ",0-65535";
  EXPECT_THROW(parse_cpu_list(repeated), description_error);
}

}  // namespace
}  // namespace sukima::host
