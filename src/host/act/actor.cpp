// SPDX-License-Identifier: Apache-2.0
// Makes changes with the journal's lines around them, and sets old values back.
#include <fmt/format.h>
#include <base/shared/assert.hpp>

#include <algorithm>
#include <cstring>

#include "shared/act.hpp"

namespace sukima::host {
namespace {

/// Whether an earlier act on the same target, which the journal still lists, replaced this value. Then that
/// act has been undone already, and only its line in the journal is missing.
bool was_before(const journal& written, std::uint64_t number, const std::string& value) {
  const auto& all = written.in_effect();
  const std::string& target = all.at(number).change.target;
  return std::any_of(all.begin(), all.find(number), [&](const auto& one) {
    return one.second.change.target == target && one.second.change.before == value;
  });
}

}  // namespace

receipt actor::apply(actuator& by, const std::string& vm, act_kind kind, const std::string& value,
                     double now) {
  try {
    return begin(by, vm, kind, value, now);
  } catch (const act_error&) {
    ++counts_[kind].failed;
    throw;
  }
}

receipt actor::begin(actuator& by, const std::string& vm, act_kind kind, const std::string& value,
                     double now) {
  if (const feasibility can = by.can(value); !can.possible) throw act_error(can.why);
  const auto before = by.present();
  if (!before) throw act_error(by.target() + " is gone");
  receipt result{
      .number = 0, .change = {vm, kind, by.target(), *before, value}, .deadline = now + act_deadline};
  step("looked");
  result.number = journal_.begin(result.change);
  step("begun");
  SUKIMA_ASSERT(journal_.in_effect().contains(result.number),
                "an act is in the journal before it is done, so that revert finds it after a crash");
  if (const int error = by.apply(value, now); error != 0) {
    if (by.present() == before) journal_.close(result.number, "undone");  // otherwise revert examines it
    const std::string why = by.trouble().empty() ? std::strerror(error) : by.trouble();
    throw act_error(fmt::format("{} cannot be set to {}: {}", by.target(), value, why));
  }
  step("applied");
  return result;
}

proof actor::verify(actuator& by, const receipt& of, double now) {
  proof found = by.verify(of.change.after, now);
  if (found == proof::waiting && now >= of.deadline) found = proof::failed;
  if (found == proof::waiting) return found;
  act_counts& counts = counts_[of.change.kind];
  ++(found == proof::proved ? counts.proved : counts.failed);
  step("verified");
  journal_.note(of.number, found == proof::proved ? "proved" : "failed");
  step("noted");
  return found;
}

std::string actor::undo(actuator& by, std::uint64_t number, std::string& trouble, last_writer last) {
  const std::string outcome = set_back(by, number, trouble, last);
  if (outcome != "in effect") close(number, outcome);
  return outcome;
}

void actor::close(std::uint64_t number, const std::string& outcome) {
  journal_.close(number, outcome.c_str());
  step("closed");
}

std::string actor::set_back(actuator& by, std::uint64_t number, std::string& trouble, last_writer last) {
  const act change = journal_.in_effect().at(number).change;
  const auto present = by.present();
  const char* outcome = "undone";
  if (!present) {
    outcome = "gone";
  } else if (*present == change.before) {
    trouble = "it already has its old value";
  } else if (*present != change.after && was_before(journal_, number, *present)) {
    outcome = "left";
    trouble = fmt::format("the act before this one was undone first and restored {}", *present);
  } else if (*present != change.after && last == last_writer::any) {
    outcome = "left";
    trouble = fmt::format("another program has set it to {} since", *present);
  } else if (const int error = by.apply(change.before, 0); error != 0) {
    trouble = fmt::format("it cannot be set: {}", std::strerror(error));
    return "in effect";
  } else {
    step("set back");
    if (by.present() != change.before) {
      trouble = fmt::format("it does not accept its old value {}", change.before);
      return "in effect";
    }
  }
  return outcome;
}

}  // namespace sukima::host
