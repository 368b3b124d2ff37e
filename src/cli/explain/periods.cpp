// SPDX-License-Identifier: Apache-2.0
// Lists of periods; see periods.hpp.
#include "explain/periods.hpp"

#include <base/shared/assert.hpp>

#include <algorithm>

namespace sukima::cli::explain {

namespace {

/// Returns whether these are periods in order of time that neither overlap nor touch.
[[maybe_unused]] bool are_apart(const periods& list) {
  const auto touch = [](const period& a, const period& b) { return !(a.to < b.from); };
  return std::ranges::all_of(list, [](const period& one) { return one.from < one.to; }) &&
         std::ranges::adjacent_find(list, touch) == list.end();
}

}  // namespace

periods merged(periods list) {
  const auto earlier = [](const period& a, const period& b) { return a.from < b.from; };
  // The runtime writes its periods in order, so sorting is rarely needed.
  if (!std::ranges::is_sorted(list, earlier)) std::ranges::sort(list, earlier);
  periods result;
  for (const period& p : list) {
    if (!(p.to > p.from)) continue;
    if (!result.empty() && p.from <= result.back().to)
      result.back().to = std::max(result.back().to, p.to);
    else
      result.push_back(p);
  }
  SUKIMA_ASSERT(are_apart(result), "merged periods neither overlap nor touch");
  return result;
}

periods common(const periods& a, const periods& b) {
  periods result;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const double from = std::max(a[i].from, b[j].from);
    const double to = std::min(a[i].to, b[j].to);
    if (from < to) result.push_back({from, to});
    if (a[i].to < b[j].to)
      ++i;
    else
      ++j;
  }
  SUKIMA_ASSERT(are_apart(result), "common periods neither overlap nor touch");
  return result;
}

periods without(const periods& a, const periods& b) {
  periods result;
  std::size_t j = 0;
  for (const period& p : a) {
    double from = p.from;
    while (j < b.size() && b[j].to <= from) ++j;
    for (std::size_t k = j; k < b.size() && b[k].from < p.to; ++k) {
      if (b[k].from > from) result.push_back({from, b[k].from});
      from = std::max(from, b[k].to);
      j = k;  // the next period may begin within this one
    }
    if (from < p.to) result.push_back({from, p.to});
  }
  SUKIMA_ASSERT(are_apart(result) && common(result, b).empty(),
                "the remaining periods are apart from the others");
  return result;
}

double seconds_of(const periods& list) {
  double sum = 0;
  for (const period& p : list) sum += p.seconds();
  return sum;
}

}  // namespace sukima::cli::explain
