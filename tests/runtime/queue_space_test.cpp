// SPDX-License-Identifier: Apache-2.0
// The paper's sum-up of a tree with 2^30 leaves by ten workers in 100 MB of address space: in the naive
// scheme, and with futures that are choice points. Each in a process of its own.
#include "support.hpp"

#include <malloc.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

using sukima::context;

constexpr int depth = 30;

class queue_space : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, SUKIMA_DEATH_TEST_STYLE); }
};

/// The core of each subtree, by its path.
class whereis {
 public:
  sukima::place operator()(std::uint64_t path) const {
    return cores_[path * 0x9E3779B97F4A7C15u / 7 % cores_.size()];
  }

 private:
  std::vector<sukima::place> cores_ = sukima::places(sukima::place_level::core);
};

std::int64_t sum_up_by_queues(context c, int level, std::uint64_t path, const whereis& where) {
  if (level == 0) return 1;
  const auto left =
      sukima::launch([=, &where](context b) { return sum_up_by_queues(b, level - 1, 2 * path, where); },
                     sukima::on(where(2 * path)));
  const std::int64_t right = sum_up_by_queues(c, level - 1, 2 * path + 1, where);
  return left.touch(c) + right;
}

/// Subtrees with so few levels take less time than the threshold of an exchange: without hints they are
/// counted some fifteen times faster.
constexpr int levels_without_hints = 8;

std::int64_t sum_up(context c, int level, std::uint64_t path, const whereis& where) {
  if (level == 0) return 1;
  const auto of_left = [=, &where](context b) { return sum_up(b, level - 1, 2 * path, where); };
  const auto finish = [&](auto& left) {
    const std::int64_t right = sum_up(c, level - 1, 2 * path + 1, where);
    return left.touch(c) + right;
  };
  if (level <= levels_without_hints) {
    sukima::future left(c, of_left);
    return finish(left);
  }
  sukima::future left(c, of_left, sukima::on([=, &where] { return where(2 * path); }));
  return finish(left);
}

/// Keeps the address space of other libraries small, before there is a thread.
void limit_address_space() {
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, std::size_t{256} << 10);
  pthread_setattr_default_np(&small);
  pthread_attr_destroy(&small);
  mallopt(M_ARENA_MAX, 1);
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);  // only root may raise the hard limit
  limit.rlim_cur = 100'000'000;
  if (setrlimit(RLIMIT_AS, &limit) != 0) std::perror("setrlimit");
}

sukima::settings ten_workers(sukima::placement_policy placement) {
  sukima::settings s = support::with_workers(10);
  s.placement = placement;
  s.stack = std::size_t{128} << 10;
  s.choices = std::size_t{16} << 10;
  return s;
}

TEST_F(queue_space, of_the_naive_scheme_is_without_a_bound) {
  EXPECT_EXIT(
      {
        alarm(500);
        limit_address_space();
        sukima::runtime r(ten_workers(sukima::placement_policy::queue));
        r.run([](context c) {
          const whereis where;
          return sum_up_by_queues(c, depth, 1, where);
        });
        _exit(0);
      },
      testing::ExitedWithCode(70),
      "sukima: no memory for .* [0-9]+ futures wait .* for core .* fibers for them");
}

TEST_F(queue_space, of_choice_points_is_bounded) {
  EXPECT_EXIT(
      {
        alarm(500);
        limit_address_space();
        sukima::runtime r(ten_workers(sukima::placement_policy::exchange));
        const std::int64_t sum = r.run([](context c) {
          const whereis where;
          return sum_up(c, depth, 1, where);
        });
        rusage used{};
        getrusage(RUSAGE_SELF, &used);
        std::fprintf(stderr, "sum %lld, %ld KiB\n", static_cast<long long>(sum), used.ru_maxrss);
        _exit(sum != std::int64_t{1} << depth ? 1 : used.ru_maxrss > 10'000'000 / 1024 ? 2 : 0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
