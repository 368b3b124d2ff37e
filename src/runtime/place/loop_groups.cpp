// SPDX-License-Identifier: Apache-2.0
// Grouping a loop's iterations by place.

#include <sukima/loop.hpp>

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

namespace sukima::detail {

placed_groups group_by_place(std::span<const sukima_place> places, std::int64_t first) {
  const sukima_place greatest = places.empty() ? SUKIMA_PLACE_ANY : *std::ranges::max_element(places);
  std::vector<std::size_t> next(std::size_t{greatest} + 1);
  for (const sukima_place p : places) ++next[p];
  std::vector<placed_group> groups;
  std::size_t from = 0;
  for (std::size_t p = 0; p < next.size(); ++p) {
    const std::size_t count = next[p];
    next[p] = from;
    if (count != 0) groups.push_back({static_cast<sukima_place>(p), from, count});
    from += count;
  }
  const place here = sukima::here();
  const auto own = std::ranges::find_if(groups, [&](const placed_group& g) {
    return g.place != SUKIMA_PLACE_ANY && place(g.place).contains(here);
  });
  if (own != groups.end()) std::rotate(groups.begin(), own, own + 1);
  placed_groups result{.order = std::make_unique_for_overwrite<std::int64_t[]>(places.size()),
                       .groups = std::make_unique_for_overwrite<placed_group[]>(groups.size()),
                       .count = groups.size()};
  std::ranges::copy(groups, result.groups.get());
  for (std::size_t i = 0; i < places.size(); ++i)
    result.order[next[places[i]]++] = first + static_cast<std::int64_t>(i);
  return result;
}

}  // namespace sukima::detail
