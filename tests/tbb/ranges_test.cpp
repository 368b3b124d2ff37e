// SPDX-License-Identifier: Apache-2.0
// The ranges of the TBB headers: how they are divided, and that nothing is lost.
#include <tbb/blocked_nd_range.h>
#include <tbb/blocked_range.h>
#include <tbb/blocked_range2d.h>
#include <tbb/blocked_range3d.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_arena.h>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

namespace {

TEST(ranges, a_half_is_the_upper_one) {
  tbb::blocked_range<int> left(0, 11, 2);
  EXPECT_TRUE(left.is_divisible());
  const tbb::blocked_range<int> right(left, tbb::split());
  EXPECT_EQ(left.begin(), 0);
  EXPECT_EQ(left.end(), right.begin());
  EXPECT_EQ(right.end(), 11);
  EXPECT_EQ(right.size(), 6u);
  EXPECT_EQ(right.grainsize(), 2u);
}

TEST(ranges, a_range_as_long_as_a_grain_is_not_divisible) {
  EXPECT_FALSE(tbb::blocked_range<int>(0, 5, 5).is_divisible());
  EXPECT_TRUE(tbb::blocked_range<int>(0, 6, 5).is_divisible());
  EXPECT_TRUE(tbb::blocked_range<int>(3, 3).empty());
}

TEST(ranges, a_proportional_part_has_its_share) {
  tbb::blocked_range<std::size_t> left(0, 100);
  tbb::proportional_split sizes(3, 1);
  const tbb::blocked_range<std::size_t> right(left, sizes);
  EXPECT_EQ(left.size(), 75u);
  EXPECT_EQ(right.begin(), 75u);
}

/// Counts its splits of both kinds.
class counted_range : public tbb::blocked_range<int> {
 public:
  struct splits {
    std::atomic<int> half{0};
    std::atomic<int> proportional{0};
  };
  explicit counted_range(splits& made) : blocked_range(0, 64), made_(made) {}
  counted_range(counted_range& r, tbb::split) : blocked_range(r, tbb::split()), made_(r.made_) {
    ++made_.half;
  }
  counted_range(counted_range& r, tbb::proportional_split& sizes) : blocked_range(r, sizes), made_(r.made_) {
    ++made_.proportional;
  }

 private:
  splits& made_;
};
struct counting_body {
  int count = 0;
  counting_body() = default;
  counting_body(counting_body&, tbb::split) {}
  void operator()(const counted_range& part) { count += static_cast<int>(part.size()); }
  void join(const counting_body& right) { count += right.count; }
};
template <class Partitioner> void split_with(counted_range::splits& made) {
  Partitioner partitioner;
  std::atomic<int> sum{0};
  tbb::parallel_for(
      counted_range(made), [&](const counted_range& part) { sum += static_cast<int>(part.size()); },
      partitioner);
  EXPECT_EQ(sum.load(), 64);
  counting_body body;
  tbb::parallel_reduce(counted_range(made), body, partitioner);
  EXPECT_EQ(body.count, 64);
}
TEST(ranges, static_and_affinity_partitioners_split_in_proportion) {
  tbb::task_arena(4).execute([] {
    counted_range::splits proportional;
    split_with<tbb::static_partitioner>(proportional);
    split_with<tbb::affinity_partitioner>(proportional);
    EXPECT_EQ(proportional.half.load(), 0);
    EXPECT_GT(proportional.proportional.load(), 0);
    counted_range::splits half;
    split_with<tbb::simple_partitioner>(half);
    split_with<tbb::auto_partitioner>(half);
    EXPECT_EQ(half.proportional.load(), 0);
    EXPECT_GT(half.half.load(), 0);
  });
}

TEST(ranges, two_dimensions_are_divided_where_there_are_more_grains) {
  tbb::blocked_range2d<int> wide(0, 4, 1, 0, 100, 10);
  const tbb::blocked_range2d<int> right(wide, tbb::split());
  EXPECT_EQ(wide.rows().size(), 4u);
  EXPECT_EQ(wide.cols().size() + right.cols().size(), 100u);
  EXPECT_EQ(right.cols().begin(), 50);
  tbb::blocked_range2d<int> high(0, 100, 1, 0, 100, 10);
  const tbb::blocked_range2d<int> lower(high, tbb::split());
  EXPECT_EQ(lower.rows().begin(), 50);
  EXPECT_EQ(lower.cols().size(), 100u);
}

TEST(ranges, three_dimensions_are_divided_where_there_are_most_grains) {
  tbb::blocked_range3d<int> box(0, 2, 1, 0, 3, 1, 0, 9, 1);
  const tbb::blocked_range3d<int> right(box, tbb::split());
  EXPECT_EQ(right.cols().begin(), 4);
  EXPECT_EQ(right.pages().size(), 2u);
  EXPECT_EQ(right.rows().size(), 3u);
}

TEST(ranges, each_point_of_a_box_comes_once) {
  constexpr int pages = 7;
  constexpr int rows = 11;
  constexpr int cols = 13;
  std::vector<std::atomic<int>> seen(pages * rows * cols);
  const tbb::blocked_range3d<int> box(0, pages, 0, rows, 0, cols);
  tbb::parallel_for(box, [&](const tbb::blocked_range3d<int>& part) {
    for (int p = part.pages().begin(); p != part.pages().end(); ++p)
      for (int r = part.rows().begin(); r != part.rows().end(); ++r)
        for (int c = part.cols().begin(); c != part.cols().end(); ++c) ++seen[(p * rows + r) * cols + c];
  });
  for (const auto& each : seen) EXPECT_EQ(each.load(), 1);
}

TEST(ranges, each_point_of_four_dimensions_comes_once) {
  using range = tbb::blocked_range<int>;
  const tbb::blocked_nd_range<int, 4> box(range(0, 3), range(0, 5), range(0, 4), range(0, 6));
  EXPECT_EQ(box.dim_count(), 4u);
  std::atomic<std::size_t> points{0};
  tbb::parallel_for(
      box,
      [&](const tbb::blocked_nd_range<int, 4>& part) {
        std::size_t volume = 1;
        for (unsigned i = 0; i < 4; ++i) volume *= part.dim(i).size();
        EXPECT_EQ(volume, 1u);
        points += volume;
      },
      tbb::simple_partitioner());
  EXPECT_EQ(points, 3u * 5 * 4 * 6);
}

}  // namespace
