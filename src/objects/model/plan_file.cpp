// SPDX-License-Identifier: Apache-2.0
// Writes plan files: the chosen plan, with its program and machine.
#include <map>
#include <nlohmann/json.hpp>

#include "shared/plan_reader.hpp"
#include "shared/planner.hpp"

namespace sukima::objects::model {

using nlohmann::json;

std::string plan_text(const description& program, const candidate& chosen, double cpus,
                      std::uint64_t machine_hash) {
  std::map<std::size_t, json> groups;
  for (std::size_t i = 0; i < program.objects.size(); i++)
    groups[chosen.how.groups[i]].push_back(program.objects[i].name);
  json document = {{"sukima-objects-plan", 1},
                   {"program", program.program},
                   {"machine", hexadecimal(machine_hash)},
                   {"cpus", cpus},
                   {"model", name_of(chosen.how.model)},
                   {"predicted_ns", chosen.simulated.time_ns},
                   {"groups", json::array()},
                   {"capacities", json::object()}};
  for (const auto& [unused, members] : groups) document["groups"].push_back(members);
  for (std::size_t i = 0; i < program.streams.size(); i++)
    document["capacities"][program.streams[i].name] = chosen.how.capacities[i];
  return document.dump(2) + "\n";
}

}  // namespace sukima::objects::model
