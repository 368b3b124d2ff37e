// SPDX-License-Identifier: Apache-2.0
#include "shared/verdict.hpp"

#include <base/shared/enum_names.hpp>
#include <nlohmann/json.hpp>

#include "shared/optimiser.hpp"

namespace sukima::host {

std::string_view name_of(optimiser_state state) {
  static constexpr enum_names<optimiser_state, optimiser_state::hold> names("idle", "learn", "try", "rest",
                                                                            "sweep", "back", "hold");
  return names.of(state);
}

std::string_view name_of(verdict_kind kind) {
  static constexpr enum_names<verdict_kind, verdict_kind::idled> names("opened", "better", "worse", "same",
                                                                       "swept", "rested", "void", "followed",
                                                                       "would_try", "back", "held", "idled");
  return names.of(kind);
}

std::string_view name_of(vm_event event) {
  static constexpr enum_names<vm_event, vm_event::ended> names(
      "opted in", "opted out", "the VM was paused", "the VM was migrated", "a neighbour's share fell",
      "an action could not be verified", "the guest is silent", "the VM ended");
  return names.of(event);
}

nlohmann::json json_of(const verdict& one) {
  nlohmann::json event{
      {"at", one.at},
      {"part", "host"},
      {"vm", one.vm},
      {"what", one.quantity},
      {"before", one.before},
      {"after", one.after},
      {"reason", one.reason},
      {"verdict", name_of(one.kind)},
      {"state", name_of(one.state)},
  };
  const auto add = [&](const char* name, const auto& figure) {
    if (figure) event[name] = *figure;
  };
  add("tried", one.figures.tried);
  add("windows", one.figures.windows);
  add("mean", one.figures.mean);
  add("error", one.figures.error);
  add("noise", one.figures.noise);
  add("effect", one.figures.effect);
  add("errors", one.figures.errors);
  add("usable", one.figures.usable);
  add("cost", one.figures.cost);
  add("shape", one.figures.shape);
  return event;
}

}  // namespace sukima::host
