// SPDX-License-Identifier: Apache-2.0
// A second, slow and simple implementation of the facts, for comparisons on random trees.
#pragma once

#include <string>

namespace sukima_test {

struct reference_facts {
  double usable = 1;
  unsigned cap = 1;
  unsigned online = 0;
  unsigned affinity = 0;
  unsigned cpuset = 0;
  double quota = 0;  ///< infinite: no quota
  unsigned long long period_us = 0;
  double weight = 1;
};

reference_facts compute_reference(const std::string& root);

}  // namespace sukima_test
