// SPDX-License-Identifier: Apache-2.0
// Plugs in virtual CPUs while a session runs; see ceiling.hpp.
#include "shared/ceiling.hpp"

#include <cstring>
#include <utility>

#include "act/vcpu_count.hpp"

namespace sukima::host {

vcpu_ceiling::vcpu_ceiling(std::shared_ptr<actuator> by, std::unique_ptr<caller> through)
    : by_(std::move(by)), through_(std::move(through)) {}

void vcpu_ceiling::look(const std::string& value) {
  looked_ = value;
  through_->begin([by = by_, found = found_, value] {
    found->can = by->can(value);
    found->present = found->can.possible ? by->present() : std::nullopt;
  });
}

feasibility vcpu_ceiling::can(const std::string& value) const {
  if (busy() || value != looked_)
    return {false, target() + " was not asked whether it can have " + value + " virtual CPUs"};
  return found_->can;
}

std::optional<std::string> vcpu_ceiling::present() const { return busy() ? std::nullopt : found_->present; }

int vcpu_ceiling::apply(const std::string& value, double now) {
  through_->begin([by = by_, found = found_, value, now] {
    const int error = by->apply(value, now);
    found->trouble = error == 0 ? "" : by->trouble();
    if (error != 0 && found->trouble.empty()) found->trouble = std::strerror(error);
  });
  return 0;
}

std::string vcpu_ceiling::trouble() const { return busy() ? "" : found_->trouble; }

proof vcpu_ceiling::verify(const std::string& value, double /*now*/) {
  if (busy()) return proof::waiting;
  if (!found_->trouble.empty()) return proof::failed;
  const auto wanted = vcpu_count(value);
  return wanted && there_ >= *wanted ? proof::proved : proof::waiting;
}

}  // namespace sukima::host
