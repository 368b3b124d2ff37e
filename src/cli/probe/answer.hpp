// SPDX-License-Identifier: Apache-2.0
// The answer of `sukima probe` as text and as JSON.
#pragma once

#include <sukima/capacity.h>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "capacity_view.hpp"
#include "probe/runtimes.hpp"
#include "probe/warnings.hpp"

namespace sukima::cli::probe {

/// What is known about a place.
struct answer {
  capacity_report report;
  double usable = 1, low = 1, high = 1;
  std::string basis;         ///< what `usable` is based on: facts, override, ...
  unsigned threads = 1;      ///< by the default policy
  std::vector<warning> warnings;
  std::vector<belief> runtimes;  ///< empty unless they were asked
};

/// One screen.
std::string text_of(const answer& what, bool colour);
nlohmann::json json_of(const answer& what);

}  // namespace sukima::cli::probe
