// SPDX-License-Identifier: Apache-2.0
// Computes what the host itself used of each pCPU; see host_use.hpp.
#include "source/host_use.hpp"

#include <base/shared/assert.hpp>

#include <algorithm>
#include <numeric>

namespace sukima::host {
namespace {

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

}  // namespace

std::vector<double> host_use(const std::vector<double>& busy, const std::vector<ran_somewhere>& ran) {
  std::vector<double> left = busy;
  double sum = sum_of(busy);
  for (const ran_somewhere& one : ran) {
    sum -= one.seconds;
    if (one.last) left[*one.last] -= one.seconds;
  }
  for (const ran_somewhere& one : ran) {
    if (one.last || one.may.empty()) continue;
    double room = 0;
    for (const std::size_t p : one.may) room += std::max(left[p], 0.0);
    if (room <= 0) continue;
    const double part = std::min(one.seconds / room, 1.0);
    for (const std::size_t p : one.may) left[p] -= part * std::max(left[p], 0.0);
  }
  for (double& one : left) one = std::max(one, 0.0);
  // If a vCPU moved, one pCPU appears too free and another one too busy. The sum does not depend on that.
  const double found = sum_of(left);
  if (found > sum && found > 0)
    for (double& one : left) one *= std::max(sum, 0.0) / found;
  SUKIMA_ASSERT(sum_of(left) <= sum_of(busy) * (1 + 1e-9), "the host used no more than its pCPUs were busy");
  return left;
}

}  // namespace sukima::host
