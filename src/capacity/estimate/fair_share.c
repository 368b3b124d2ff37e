// SPDX-License-Identifier: Apache-2.0
// Weighted fair sharing by water filling. See Bertsekas and Gallager, Data Networks (1992), section 6.5.
#include "estimate/fair_share.h"

#include <stdbool.h>

#include "shared/assert.h"

// Whether no member gets more than it demands, and all together no more than there is.
__attribute__((unused)) static bool are_possible(const cap_share* items, size_t count, double capacity) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) {
    if (items[i].share < 0 || (items[i].demand > 0 && items[i].share > items[i].demand)) return false;
    sum += items[i].share;
  }
  return !(sum > (capacity > 0 ? capacity : 0) + 1e-6);
}

void cap_fair_share(double capacity, cap_share* items, size_t count) {
  double weights = 0;
  double all = capacity;
  (void)all;  // for the assertion
  for (size_t i = 0; i < count; i++) {
    items[i].share = -1;  // not decided yet
    if (items[i].demand > 0 && items[i].weight > 0) {
      weights += items[i].weight;
    } else {
      items[i].share = 0;
    }
  }
  // Each round decides at least one share, or the remaining members get shares at the level.
  bool decided = true;
  while (decided && weights > 0 && capacity > 0) {
    decided = false;
    double level = capacity / weights;
    double spent = 0;
    double satisfied = 0;
    for (size_t i = 0; i < count; i++) {
      if (items[i].share >= 0 || items[i].demand > level * items[i].weight) continue;
      items[i].share = items[i].demand;
      spent += items[i].demand;
      satisfied += items[i].weight;
      decided = true;
    }
    capacity -= spent;
    weights -= satisfied;
  }
  for (size_t i = 0; i < count; i++) {
    if (items[i].share >= 0) continue;
    double share = capacity > 0 && weights > 0 ? capacity * items[i].weight / weights : 0;
    items[i].share = share < items[i].demand ? share : items[i].demand;
  }
  CAP_ASSERT(are_possible(items, count, all), "the shares are demanded, and are no more than there is");
}

double cap_placed_share(size_t cpus, double* weights, size_t count, double own) {
  double loads[cap_placed_count] = {0};
  size_t places[cap_placed_count];
  for (size_t i = 1; i < count; i++) {  // the heaviest first
    double weight = weights[i];
    size_t at = i;
    for (; at > 0 && weights[at - 1] < weight; at--) weights[at] = weights[at - 1];
    weights[at] = weight;
  }
  for (size_t i = 0; i < count; i++) {
    size_t least = 0;
    for (size_t cpu = 1; cpu < cpus; cpu++) {
      if (loads[cpu] < loads[least]) least = cpu;
    }
    loads[least] += weights[i];
    places[i] = least;
  }
  double sum = 0;
  size_t equal = 0;
  for (size_t i = 0; i < count; i++) {
    if (weights[i] != own) continue;
    sum += weights[i] / loads[places[i]];
    equal++;
  }
  return equal != 0 ? sum / (double)equal : 0;
}

// The kernel's weights of the nice values -20 to 19. Each step is a factor of 1.25, and nice 0 has 1024.
static const uint32_t nice_weights[40] = {
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904,
    3906,  3121,  2501,  1991,  1586,  1277,  1024,  820,   655,   526,   423,  335,  272,  215,
    172,   137,   110,   87,    70,    56,    45,    36,    29,    23,    18,   15};

double cap_nice_weight(int nice) {
  if (nice < -20) nice = -20;
  if (nice > 19) nice = 19;
  return nice_weights[nice + 20] / 1024.0;
}

double cap_idle_weight(void) { return 3 / 1024.0; }

double cap_thread_weight(uint64_t policy, int nice) {
  enum { fifo = 1, round_robin = 2, idle = 5, deadline = 6 };
  static const double real_time_weight = 1000;
  switch (policy) {
    case idle:
      return cap_idle_weight();
    case fifo:
    case round_robin:
    case deadline:
      return real_time_weight;
    default:
      return cap_nice_weight(nice);
  }
}
