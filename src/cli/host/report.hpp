// SPDX-License-Identifier: Apache-2.0
// The answers of `sukima host`, as text and JSON.
#pragma once

#include <host/shared/explanation.hpp>
#include <nlohmann/json.hpp>

namespace sukima::cli::host {

namespace model = sukima::host;

/// The request of `sukima host estimate`, and its result.
struct estimated {
  model::description host;
  model::estimate_method method = model::estimate_method::exact;
  std::vector<model::vm_estimate> shares;
  /// Of each VM; empty unless the method is exact.
  std::vector<model::vcpu_counts> counts;
};

/// Returns "exact", "partition" or "formula".
const char* name_of(model::estimate_method method);
/// Return the limit for programs and for people: "vcpu_caps", "its vCPUs' caps".
const char* name_of(model::share_limit limit);
const char* text_of(model::share_limit limit);
std::string estimate_report(const estimated& estimate);
nlohmann::json estimate_json(const estimated& estimate);

/// \param name the name of the virtual machine
std::string explanation_report(const std::string& name, const model::explanation& explanation);
nlohmann::json explanation_json(const std::string& name, const model::explanation& explanation);

}  // namespace sukima::cli::host
