// SPDX-License-Identifier: Apache-2.0
// Acts with the journal's lines around them, and undoing them.
#include <fmt/format.h>

#include <cstring>

#include "shared/act.hpp"

namespace sukima::host {

receipt actor::apply(actuator& by, const std::string& vm, act_kind kind, const std::string& value,
                     double now) {
  if (const reach can = by.can(value); !can.possible) throw act_error(can.why);
  const auto before = by.present();
  if (!before) throw act_error(by.target() + " is gone");
  receipt result{
      .number = 0, .what = {vm, kind, by.target(), *before, value}, .deadline = now + act_deadline};
  step("looked");
  result.number = journal_.begin(result.what);
  step("begun");
  if (const int error = by.apply(value, now); error != 0) {
    if (by.present() == before) journal_.close(result.number, "undone");  // else revert looks at it
    const std::string why = by.trouble().empty() ? std::strerror(error) : by.trouble();
    throw act_error(fmt::format("{} cannot be set to {}: {}", by.target(), value, why));
  }
  step("applied");
  return result;
}

proof actor::verify(actuator& by, const receipt& of, double now) {
  proof found = by.verify(of.what.after, now);
  if (found == proof::waiting && now >= of.deadline) found = proof::failed;
  if (found == proof::waiting) return found;
  step("verified");
  journal_.note(of.number, found == proof::proved ? "proved" : "failed");
  step("noted");
  return found;
}

std::string actor::undo(actuator& by, std::uint64_t number, std::string& trouble, setter last) {
  const act what = journal_.in_effect().at(number).what;
  const auto present = by.present();
  const char* outcome = "undone";
  if (!present) {
    outcome = "gone";
  } else if (*present == what.before) {
    trouble = "it has its old value already";
  } else if (*present != what.after && last == setter::anybody) {
    outcome = "left";
    trouble = fmt::format("somebody else has set it to {} since", *present);
  } else if (const int error = by.apply(what.before, 0); error != 0) {
    trouble = fmt::format("it cannot be set: {}", std::strerror(error));
    return "in effect";
  } else {
    step("set back");
    if (by.present() != what.before) {
      trouble = fmt::format("it does not take its old value {}", what.before);
      return "in effect";
    }
  }
  journal_.close(number, outcome);
  step("closed");
  return outcome;
}

std::vector<reverted> revert(journal& written, const std::function<void(const char*)>& at_step) {
  actor undoing(written, at_step);
  std::vector<reverted> all;
  const auto in_effect = written.in_effect();
  for (auto one = in_effect.rbegin(); one != in_effect.rend(); ++one) {
    const auto& [number, entry] = *one;
    reverted result{.what = entry.what, .outcome = "ended", .detail = {}};
    if (entry.what.kind == act_kind::vcpus) {
      // Its lease ends in the guest: 30 s after the last word, or when the port closed.
      written.close(number, "ended");
      result.detail = "the guest brings its virtual CPUs back by itself";
    } else if (entry.what.kind == act_kind::plug) {
      written.close(number, "left");
      result.outcome = "left";
      result.detail =
          "a virtual CPU that was plugged in stays until the machine ends; the guest service switches off "
          "again what it switched on";
    } else {
      const auto by = make_control_file(entry.what.target);
      result.outcome = undoing.undo(*by, number, result.detail);
    }
    all.push_back(std::move(result));
  }
  return all;
}

}  // namespace sukima::host
