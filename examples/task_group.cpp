// SPDX-License-Identifier: Apache-2.0
// task_group: all squares that a knight reaches; each child adds children for what it finds.
#include <sukima/sukima.hpp>

#include <atomic>
#include <cstdio>
#include <utility>
#include <vector>

class board {
 public:
  explicit board(int size)
      : size_(size), seen_(static_cast<std::size_t>(size) * static_cast<std::size_t>(size)) {}

  void visit(sukima::task_group& group, int x, int y) {
    static constexpr std::pair<int, int> moves[] = {{1, 2},  {2, 1},  {-1, 2},  {-2, 1},
                                                    {1, -2}, {2, -1}, {-1, -2}, {-2, -1}};
    if (x < 0 || y < 0 || x >= size_ || y >= size_) return;
    if (seen_[index_of(x, y)].exchange(true)) return;
    ++reached_;
    for (const auto& [dx, dy] : moves)
      group.run([this, &group, x = x + dx, y = y + dy] { visit(group, x, y); });
  }
  int reached() const { return reached_; }

 private:
  std::size_t index_of(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(size_) + static_cast<std::size_t>(x);
  }

  int size_;
  std::vector<std::atomic<bool>> seen_;
  std::atomic<int> reached_{0};
};

int main() {
  board all(50);
  sukima::run([&](sukima::context c) {
    sukima::task_group group(c);  // c is now above the group
    all.visit(group, 0, 0);
    group.wait(c);
  });
  std::printf("%d squares\n", all.reached());
}
