// SPDX-License-Identifier: Apache-2.0
// best_solution: branch and bound with a bound that all workers share.
#include <sukima/sukima.hpp>

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
  unsigned chosen = 0;
  int weight = 0;
  int value = 0;
};
using best_sack = sukima::best_solution<unsigned, int, std::greater<int>>;

static int pack(sukima::context c, sack& packed, std::size_t next, best_sack& best) {
  if (next == items.size()) {
    best.offer(packed.value, packed.chosen);
    return 0;
  }
  int possible = packed.value;  // if everything that is left fitted
  for (std::size_t i = next; i < items.size(); ++i) possible += items[i].value;
  if (!best.promising(possible)) return 0;
  static constexpr std::array<int, 2> take_or_leave{1, 0};
  return sukima::search(
      c, packed, take_or_leave,
      [=](sack& mine, int taken) {
        if (mine.weight + taken * items[next].weight > room) return false;
        mine.chosen |= static_cast<unsigned>(taken) << next;
        mine.weight += taken * items[next].weight;
        mine.value += taken * items[next].value;
        return true;
      },
      [=](sack& mine, int taken) {
        mine.chosen &= ~(static_cast<unsigned>(taken) << next);
        mine.weight -= taken * items[next].weight;
        mine.value -= taken * items[next].value;
      },
      [&](sukima::context below, sack& mine, int) { return pack(below, mine, next + 1, best); }, std::plus{});
}

int main() {
  best_sack best(0);
  sack s;
  sukima::run([&](sukima::context c) { pack(c, s, 0, best); });
  std::printf("value %d\n", best.bound());
}
