// SPDX-License-Identifier: Apache-2.0
// Undoes the acts that a journal lists as in effect: the action `revert` of sukima host.
#include <algorithm>

#include "shared/act.hpp"

namespace sukima::host {

std::vector<reverted> revert(journal& written, const std::function<void(const char*)>& at_step,
                             const std::vector<std::string>& vms) {
  actor undoing(written, at_step);
  std::vector<reverted> all;
  const auto in_effect = written.in_effect();
  for (auto one = in_effect.rbegin(); one != in_effect.rend(); ++one) {
    const auto& [number, entry] = *one;
    if (!vms.empty() && std::ranges::find(vms, entry.change.vm) == vms.end()) continue;
    reverted result{.change = entry.change, .outcome = "ended", .detail = {}};
    if (entry.change.kind == act_kind::vcpus) {
      // The guest ends the lease itself: 30 s after the last message, or when the port closed.
      result.detail = "the guest switches its virtual CPUs on again by itself";
    } else if (entry.change.kind == act_kind::plug) {
      result.outcome = "left";
      result.detail =
          "a virtual CPU that was plugged in stays until the machine ends; the guest service switches off "
          "again what it switched on";
    } else {
      const auto by = make_control_file(entry.change.target);
      result.outcome = undoing.set_back(*by, number, result.detail);
    }
    if (result.outcome != "in effect") {
      try {
        undoing.close(number, result.outcome);
      } catch (const journal_error& error) {
        // Setting back all values matters more than writing all lines of the journal, so go on.
        result.unwritten = error.what();
      }
    }
    all.push_back(std::move(result));
  }
  return all;
}

}  // namespace sukima::host
