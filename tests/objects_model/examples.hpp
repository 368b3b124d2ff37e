// SPDX-License-Identifier: Apache-2.0
// Programs and a machine for the tests of predictions.
#pragma once

#include <objects/shared/prediction.hpp>

#include <string>

namespace examples {

namespace model = sukima::objects::model;

/// Measurements of a machine with 2 virtual CPUs. They are only for tests: the product uses the numbers of
/// its own machine.
inline model::cost_table measured_costs() {
  return model::parse_costs(R"(sukima-profile 1
message simulated 8 1 1.35 1.35
message simulated 64 1 3.85 3.85
message simulated 1024 1 12.5 12.5
message simulated 65536 1 685 685
message thread 8 1 7 7
message thread 8 2 46 46
message thread 1024 1 50 51
message thread 65536 1 2350 2350
message process 8 1 8.5 8.5
message process 8 2 26 26
message process 1024 1 45 46
message process 65536 1 2050 2050
message pipe 8 1 350 350
objects-switch 8
objects-sleep same 600 2000
objects-sleep other 2000 17000
end
)");
}

inline model::machine machine_of(double cpus) { return {cpus, measured_costs()}; }

/// A machine on which messages, switches and sleeps cost nothing.
inline model::machine free_machine(double cpus) {
  return {cpus,
          model::parse_costs("message thread 8 1 0 0\nmessage simulated 8 1 0 0\nmessage process 8 1 0 0\n"
                             "objects-switch 0\nobjects-sleep same 0 0\nend\n")};
}

/// A configuration in which each object is a group.
inline model::configuration configuration_of(const model::description& program, model::execution_model how) {
  model::configuration result{how, {}, {}};
  for (std::size_t i = 0; i < program.objects.size(); i++) result.groups.push_back(i);
  for (const model::stream& one : program.streams) result.capacities.push_back(one.capacity);
  return result;
}

/// Objects in a row with the same computation. \param starts  how often the first object starts
inline model::description pipeline_of(std::size_t objects, double starts, double compute_ns,
                                      std::size_t capacity = 64, double spread_ns = 0) {
  std::string streams, text;
  for (std::size_t i = 0; i < objects; i++) {
    const std::string here = std::to_string(i), before = std::to_string(i - 1);
    if (i > 0) {
      streams += (i > 1 ? "," : "") + ("{\"name\":\"s" + before) +
                 "\",\"capacity\":" + std::to_string(capacity) + "}";
    }
    text += (i > 0 ? ",{" : "{") + ("\"name\":\"o" + here) +
            "\",\"compute_ns\":" + std::to_string(compute_ns) + ",\"spread_ns\":" + std::to_string(spread_ns);
    text += i == 0 ? ",\"starts\":" + std::to_string(starts) : ",\"receives\":[\"s" + before + "\"]";
    if (i + 1 < objects) text += ",\"sends\":[{\"stream\":\"s" + here + "\"}]";
    text += "}";
  }
  return model::parse_description("{\"sukima-objects\":1,\"streams\":[" + streams + "],\"objects\":[" + text +
                                  "]}");
}

}  // namespace examples
