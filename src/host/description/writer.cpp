// SPDX-License-Identifier: Apache-2.0
// Writes the description of a host.
#include <nlohmann/json.hpp>

#include "shared/description.hpp"

namespace sukima::host {
namespace {

using nlohmann::json;

/// An object with the members that the reader did not know.
json object_with(const std::string& unknown) {
  return unknown.empty() ? json::object() : json::parse(unknown);
}

template <class Value>
void put(json& into, const char* name, const std::optional<Value>& value) {
  if (value) into[name] = *value;
}

json text_of(const pcpu& one) {
  json result = object_with(one.unknown);
  result["id"] = one.id;
  put(result, "node", one.node);
  put(result, "core", one.core);
  result["capacity"] = one.capacity;
  return result;
}

json text_of(const vcpu& one) {
  json result = object_with(one.unknown);
  result["id"] = one.id;
  result["online"] = one.online;
  if (!one.hard.empty()) result["hard"] = cpu_list_text(one.hard);
  if (!one.soft.empty()) result["soft"] = cpu_list_text(one.soft);
  put(result, "cap", one.cap);
  put(result, "demand", one.demand);
  put(result, "ran", one.ran);
  put(result, "waited", one.waited);
  return result;
}

json text_of(const vm& one) {
  json result = object_with(one.unknown);
  result["name"] = one.name;
  put(result, "id", one.id);
  result["weight"] = one.weight;
  if (one.weight_of) result["weight_of"] = *one.weight_of == weight_owner::vm ? "vm" : "vcpu";
  put(result, "cap", one.cap);
  put(result, "act", one.act);
  result["vcpus"] = json::array();
  for (const vcpu& each : one.vcpus) result["vcpus"].push_back(text_of(each));
  return result;
}

}  // namespace

std::string description_text(const description& host) {
  json result = object_with(host.unknown);
  result["sukima-host"] = 1;
  put(result, "taken", host.taken);
  result["pcpus"] = json::array();
  for (const pcpu& one : host.pcpus) result["pcpus"].push_back(text_of(one));
  result["vms"] = json::array();
  for (const vm& one : host.vms) result["vms"].push_back(text_of(one));
  return result.dump(2) + "\n";
}

}  // namespace sukima::host
