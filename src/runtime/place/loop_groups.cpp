// SPDX-License-Identifier: Apache-2.0
// Grouping a loop's iterations by place.

#include <sukima/loop.hpp>

#include <algorithm>

namespace sukima::detail {

placed_groups group_by_place(const std::vector<sukima_place>& places, std::int64_t first) {
  const sukima_place greatest = places.empty() ? SUKIMA_PLACE_ANY : *std::ranges::max_element(places);
  std::vector<std::size_t> next(std::size_t{greatest} + 1);
  for (const sukima_place p : places) ++next[p];
  placed_groups result;
  std::size_t from = 0;
  for (std::size_t p = 0; p < next.size(); ++p) {
    const std::size_t count = next[p];
    next[p] = from;
    if (count != 0) result.groups.push_back({static_cast<sukima_place>(p), from, count});
    from += count;
  }
  result.order.resize(places.size());
  for (std::size_t i = 0; i < places.size(); ++i)
    result.order[next[places[i]]++] = first + static_cast<std::int64_t>(i);
  const place here = sukima::here();
  const auto own = std::ranges::find_if(result.groups, [&](const placed_group& g) {
    return g.place != SUKIMA_PLACE_ANY && place(g.place).contains(here);
  });
  if (own != result.groups.end()) std::rotate(result.groups.begin(), own, own + 1);
  return result;
}

}  // namespace sukima::detail
