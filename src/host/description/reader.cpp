// SPDX-License-Identifier: Apache-2.0
// Reads the description of a host.
#include <algorithm>
#include <array>
#include <unordered_set>

#include "description/json_place.hpp"

namespace sukima::host {
namespace {

constexpr double most_seconds = 1e12, most_cap = 65536;
constexpr int most_depth = 64;  // the nesting of arrays and objects; a description needs at most five levels

using id_set = std::unordered_set<std::uint32_t>;

/// Whether arrays and objects are nested more deeply than `most_depth`, if the text is JSON. (The parser
/// could check that with a callback, but then its time would grow with the square of an array's length.)
bool is_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false, after_backslash = false;
  for (const char c : text) {
    if (in_string) {
      if (!after_backslash && c == '"') in_string = false;
      after_backslash = !after_backslash && c == '\\';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > most_depth) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

/// The number in a member; nothing if the member is null or missing.
std::optional<double> number_of(const place& from, const char* name, double most) {
  if (!from.given(name)) return std::nullopt;
  return from.member(name).number(0, most);
}

std::optional<std::uint32_t> id_of(const place& from, const char* name) {
  if (!from.given(name)) return std::nullopt;
  return from.member(name).id();
}

pcpu read_pcpu(const place& from) {
  pcpu result;
  result.id = from.member("id").id();
  result.node = id_of(from, "node");
  result.core = id_of(from, "core");
  if (from.has("capacity")) result.capacity = from.member("capacity").number(0, 1);
  result.unknown = from.others({"id", "node", "core", "capacity"});
  return result;
}

/// The pCPUs that a member lists; empty if the member is null or missing.
std::vector<std::uint32_t> cpus_of(const place& from, const char* name, const id_set& there) {
  if (!from.given(name)) return {};
  const place list = from.member(name);
  std::vector<std::uint32_t> ids = list.cpus();
  for (const std::uint32_t id : ids)
    if (!there.contains(id)) list.fail("CPU " + std::to_string(id) + " does not exist");
  return ids;
}

vcpu read_vcpu(const place& from, const id_set& pcpus) {
  vcpu result;
  result.id = from.member("id").id();
  if (from.has("online")) result.online = from.member("online").flag();
  result.hard = cpus_of(from, "hard", pcpus);
  result.soft = cpus_of(from, "soft", pcpus);
  result.cap = number_of(from, "cap", 1);
  result.demand = number_of(from, "demand", 1);
  result.ran = number_of(from, "ran", most_seconds);
  result.waited = number_of(from, "waited", most_seconds);
  result.unknown = from.others({"id", "online", "hard", "soft", "cap", "demand", "ran", "waited"});
  return result;
}

weight_owner read_weight_owner(const place& from) {
  const std::string text = from.text();
  if (text != "vcpu" && text != "vm") from.fail("must be 'vcpu' or 'vm'");
  return text == "vm" ? weight_owner::vm : weight_owner::vcpu;
}

vm read_vm(const place& from, const id_set& pcpus) {
  vm result;
  result.name = from.member("name").name();
  if (from.given("id")) result.id = from.member("id").name();
  if (from.has("weight")) result.weight = from.member("weight").number(0, most_weight);
  if (from.given("weight_of")) result.weight_of = read_weight_owner(from.member("weight_of"));
  result.cap = number_of(from, "cap", most_cap);
  if (from.given("act")) {
    result.act.emplace();
    from.member("act").each([&](const place& one) {
      result.act->push_back(one.text());
      constexpr std::array kinds{"threads", "vcpus", "cap", "weight", "plug"};
      if (std::ranges::find(kinds, result.act->back()) == kinds.end())
        one.fail("must be 'threads', 'vcpus', 'cap', 'weight' or 'plug'");
    });
  }
  id_set ids;
  from.member("vcpus").each([&](const place& one) {
    result.vcpus.push_back(read_vcpu(one, pcpus));
    const std::uint32_t id = result.vcpus.back().id;
    if (!ids.insert(id).second) one.fail("there are two vCPUs " + std::to_string(id));
  });
  result.unknown = from.others({"name", "id", "weight", "weight_of", "cap", "act", "vcpus"});
  return result;
}

}  // namespace

description parse_description(std::string_view text) {
  if (is_deep(text)) throw description_error("the description: is nested too deeply");
  const json document = parse_json<description_error>(text, "the description");
  const place root(document, "");
  const place version = root.member("sukima-host");
  if (version.number(0, 1e9) != 1) version.fail("only version 1 is known");
  description result;
  result.taken = number_of(root, "taken", most_seconds);
  id_set pcpus;
  root.member("pcpus").each([&](const place& one) {
    if (result.pcpus.size() == most_pcpus) one.fail("there are more than 1024 pCPUs");
    result.pcpus.push_back(read_pcpu(one));
    const std::uint32_t id = result.pcpus.back().id;
    if (!pcpus.insert(id).second) one.fail("there are two pCPUs " + std::to_string(id));
  });
  if (result.pcpus.empty()) root.member("pcpus").fail("there is no pCPU");
  std::unordered_set<std::string> names;
  std::size_t vcpus = 0;
  root.member("vms").each([&](const place& one) {
    result.vms.push_back(read_vm(one, pcpus));
    const std::string& name = result.vms.back().name;
    if (!names.insert(name).second) one.fail("there are two virtual machines '" + name + "'");
    vcpus += result.vms.back().vcpus.size();
    if (vcpus > most_vcpus) one.fail("there are more than 65536 vCPUs");
  });
  result.unknown = root.others({"sukima-host", "taken", "pcpus", "vms"});
  return result;
}

}  // namespace sukima::host
