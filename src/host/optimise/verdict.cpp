// SPDX-License-Identifier: Apache-2.0
#include "shared/verdict.hpp"

#include <nlohmann/json.hpp>

#include "shared/optimiser.hpp"

namespace sukima::host {

std::string_view name_of(optimiser_state state) {
  switch (state) {
    case optimiser_state::idle:
      return "idle";
    case optimiser_state::learn:
      return "learn";
    case optimiser_state::trial:
      return "try";
    case optimiser_state::rest:
      return "rest";
    case optimiser_state::sweep:
      return "sweep";
    case optimiser_state::back:
      return "back";
    case optimiser_state::hold:
      break;
  }
  return "hold";
}

std::string_view name_of(verdict_kind kind) {
  switch (kind) {
    case verdict_kind::opened:
      return "opened";
    case verdict_kind::better:
      return "better";
    case verdict_kind::worse:
      return "worse";
    case verdict_kind::same:
      return "same";
    case verdict_kind::swept:
      return "swept";
    case verdict_kind::rested:
      return "rested";
    case verdict_kind::voided:
      return "void";
    case verdict_kind::followed:
      return "followed";
    case verdict_kind::would_try:
      return "would_try";
    case verdict_kind::back:
      return "back";
    case verdict_kind::held:
      return "held";
    case verdict_kind::idled:
      break;
  }
  return "idled";
}

std::string_view name_of(vm_event event) {
  switch (event) {
    case vm_event::opted_in:
      return "opted in";
    case vm_event::opted_out:
      return "opted out";
    case vm_event::paused:
      return "the VM was paused";
    case vm_event::migrated:
      return "the VM was migrated";
    case vm_event::guard_fired:
      return "a neighbour's share fell";
    case vm_event::not_verified:
      return "an action could not be verified";
    case vm_event::guest_silent:
      return "the guest is silent";
    case vm_event::ended:
      break;
  }
  return "the VM ended";
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
