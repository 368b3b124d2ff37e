// SPDX-License-Identifier: Apache-2.0
#include "homes.hpp"

#include "../runtime/random/numbers.hpp"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

namespace sukima::simulation {

namespace {

pcpu_set common(const pcpu_set& a, const pcpu_set& b) {
  pcpu_set both(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) both[i] = a[i] && i < b.size() && b[i];
  return both;
}

bool is_empty(const pcpu_set& set) { return std::ranges::find(set, true) == set.end(); }

/// Returns the first pCPU of the set after that pCPU. The first pCPU follows the last one.
std::optional<std::size_t> next_in(const pcpu_set& set, std::size_t after) {
  for (std::size_t i = 1; i <= set.size(); ++i)
    if (const std::size_t at = (after + i) % set.size(); set[at]) return at;
  return {};
}

/// The pCPUs in the same module or processor of that size.
struct group {
  std::size_t first;
  std::size_t end;

  group(std::size_t pcpu, std::size_t size, std::size_t all)
      : first(pcpu / size * size), end(std::min(first + size, all)) {}
  std::size_t count_in(const pcpu_set& set) const {
    std::size_t count = 0;
    for (std::size_t i = first; i != end; ++i) count += set[i] ? 1 : 0;
    return count;
  }
  void leave(pcpu_set& set) const {
    for (std::size_t i = first; i != end; ++i) set[i] = false;
  }
};

std::vector<std::size_t> numbers_in(const pcpu_set& set) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < set.size(); ++i)
    if (set[i]) numbers.push_back(i);
  return numbers;
}

}  // namespace

homes::homes(std::size_t pcpus, const building& built, std::uint64_t seed)
    : built_{built.module, built.processor == 0 ? static_cast<unsigned>(pcpus) : built.processor,
             built.shared_speed},
      seed_(seed),
      last_chosen_(pcpus - 1) {}

void homes::add(std::size_t vcpus, const pcpu_set& allowed, const pcpu_set& preferred) {
  const pcpu_set liked = common(allowed, preferred);
  std::vector<std::size_t> in_turn = numbers_in(is_empty(liked) ? allowed : liked);
  assert(!in_turn.empty());
  random_programs::numbers random(seed_);
  if (seed_ != 0)
    for (std::size_t i = in_turn.size() - 1; i != 0; --i) std::swap(in_turn[i], in_turn[random.below(i + 1)]);
  for (std::size_t i = 0; i != vcpus; ++i) vcpus_.push_back({allowed, liked, in_turn[i % in_turn.size()]});
}

std::size_t homes::wake(std::size_t vcpu, const pcpu_set& idle) {
  const entry& v = vcpus_[vcpu];
  if (idle[v.home]) return v.home;
  for (const pcpu_set* const set : {&v.preferred, &v.allowed})
    if (const auto next = next_in(common(*set, idle), last_chosen_)) return last_chosen_ = *next;
  return v.home;
}

std::size_t homes::best(std::size_t vcpu, const pcpu_set& idle) const {
  const entry& v = vcpus_[vcpu];
  if (!is_empty(v.preferred))
    if (const std::size_t found = best_among(v.preferred, v.home, idle); idle[found]) return found;
  return best_among(v.allowed, v.home, idle);
}

std::size_t homes::best_among(const pcpu_set& set, std::size_t home, const pcpu_set& idle) const {
  pcpu_set left = common(set, idle);
  std::size_t best = set[home] ? home : *next_in(set, home);
  if (!left[best]) best = next_in(left, best).value_or(best);
  left[best] = false;
  while (const auto next = next_in(left, best)) {
    const bool is_near = *next / built_.processor == best / built_.processor;
    const std::size_t size = is_near ? built_.module : built_.processor;
    const group there(*next, size, set.size());
    if ((is_near ? 1 : 2) * group(best, size, set.size()).count_in(idle) < there.count_in(idle)) {
      best = *next_in(left, (there.first + set.size() - 1) % set.size());
      group(best, built_.module, set.size()).leave(left);
    } else {
      there.leave(left);
    }
  }
  return best;
}

}  // namespace sukima::simulation
