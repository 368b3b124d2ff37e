// SPDX-License-Identifier: Apache-2.0
// cluster::best_solution: branch and bound on several nodes, which share the bound.
#include <sukima/cluster.hpp>

#include <array>
#include <cstdio>
#include <functional>

struct item {
  int weight;
  int value;
};
constexpr std::array<item, 12> items{{{12, 24},
                                      {7, 13},
                                      {11, 23},
                                      {8, 15},
                                      {9, 16},
                                      {6, 11},
                                      {14, 28},
                                      {3, 5},
                                      {10, 20},
                                      {5, 9},
                                      {13, 25},
                                      {4, 7}}};
constexpr int room = 45;

struct sack {
  unsigned chosen;
  int weight;
  int value;
};
static sukima::cluster::best_solution<unsigned, int, std::greater<>> best("sack", 0);

static void pack(sukima::context c, sack s, unsigned next) {
  if (next == items.size()) {
    best.offer(s.value, s.chosen);
    return;
  }
  int possible = s.value;  // if everything that is left fitted
  for (unsigned i = next; i < items.size(); ++i) possible += items[i].value;
  if (!best.promising(possible)) return;
  const item& one = items[next];
  const sack with{s.chosen | 1u << next, s.weight + one.weight, s.value + one.value};
  if (with.weight > room)
    pack(c, s, next + 1);
  else
    sukima::fork2(c, sukima::call<pack>(with, next + 1), sukima::call<pack>(s, next + 1));
}

int main() {
  sukima::cluster::run(sukima::call<pack>(sack{}, 0u));
  std::printf("value %d, items", best.bound());
  for (unsigned i = 0; i < items.size(); ++i)
    if ((best.best().value_or(0) >> i & 1) != 0) std::printf(" %u", i);
  std::printf("\n");
}
