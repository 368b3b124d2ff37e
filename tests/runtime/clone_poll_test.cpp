// SPDX-License-Identifier: Apache-2.0
// Sequential clones: how many bodies run between two polls.
#include "clones.hpp"

#include "fiber/fiber.hpp"
#include "worker.hpp"

#include <algorithm>
#include <cstdint>
#include <forward_list>
#include <functional>

namespace {

using sukima::context;
using sukima::parallel_for;
using sukima::set_bits;
using support::second_ns;
using support::with_clones;

/// Raises the limit of a clone's fiber in one of its bodies, as a worker that wants work does, and counts the
/// bodies that begin before the clone has polled.
class poll_request {
 public:
  /// \param at  the number of bodies of the clone that begin before the limit is raised
  explicit poll_request(int at) : left_(at) {}

  template <class C> void note(C c) {
    if constexpr (sukima::detail::clone_context_type<C>) {
      auto& fiber = sukima::detail::fiber_of(sukima::detail::top_of(c));
      const std::uint64_t polls = fiber.on->statistics.clone_polls.get();
      if (left_-- == 0) {
        polls_ = polls;
        fiber.limit.request_poll();
      } else if (left_ < 0 && polls == polls_) {
        ++waited_;
      }
    }
  }
  int waited() const { return waited_; }

 private:
  int left_;
  std::uint64_t polls_ = 0;
  int waited_ = 0;
};

/// The largest number of bodies that begin between a request and a poll, with requests in each
/// `stride`th one.
/// \param run  run(context, request) has this number of bodies and runs as one clone
template <class Run> int longest_wait(int bodies, int stride, Run run) {
  sukima::runtime runtime(with_clones(1, second_ns));
  int longest = 0;
  for (int at = 0; at < bodies; at += stride) {
    for (;;) {
      poll_request request(at);
      const auto before = runtime.statistics().clones;
      runtime.run([&](context c) { run(c, request); });
      if (runtime.statistics().clones - before != 1) continue;
      longest = std::max(longest, request.waited());
      break;
    }
  }
  return longest;
}

/// Loops and searches with one element each, one below the other.
/// \param forks  two of three levels are forks instead
void chain(auto c, int depth, bool forks, poll_request& request) {
  if (depth == 0) return;
  const auto deeper = [depth, forks, &request](auto k, auto&&...) {
    request.note(k);
    chain(k, depth - 1, forks, request);
    return 0;
  };
  static const std::forward_list<int> one(1);
  int applied = 0;
  if (forks && depth % 3 != 0) {
    sukima::fork2(c, deeper, [](auto) {});
  } else if (depth % 4 == 0) {
    parallel_for(c, 0, 1, deeper);
  } else if (depth % 4 == 1) {
    parallel_for(c, one, deeper);
  } else if (depth % 4 == 2) {
    parallel_for(c, set_bits(1u), deeper);
  } else {
    sukima::search(
        c, applied, set_bits(1u), [](int& w, unsigned) { ++w; }, [](int& w, unsigned) { --w; }, deeper,
        std::plus{});
  }
}

TEST(clone_poll, is_at_every_second_level_of_loops) {
  EXPECT_EQ(longest_wait(50, 1, [](context c, auto& request) { chain(c, 50, false, request); }), 1);
}

TEST(clone_poll, is_at_every_third_level_of_forks_and_loops_at_the_latest) {
  EXPECT_EQ(longest_wait(50, 1, [](context c, auto& request) { chain(c, 50, true, request); }), 2);
}

/// Of four levels the third one does not poll.
TEST(clone_poll, is_before_each_short_loop_of_the_fourth_level) {
  const auto nest = [](context c, poll_request& request) {
    parallel_for(c, 0, 1, [&](auto j, int) {
      parallel_for(j, 0, 32, [&](auto k, int) {
        parallel_for(k, 0, 32,
                     [&](auto l, int) { parallel_for(l, 0, 32, [&](auto m, int) { request.note(m); }); });
      });
    });
  };
  EXPECT_EQ(longest_wait(32 * 32 * 32, 1021, nest), 32 - 1);
}

/// The last one of three levels does not poll.
TEST(clone_poll, is_after_no_more_bodies_than_two_short_loops_have) {
  const auto nest = [](context c, poll_request& request) {
    parallel_for(c, 0, 3, [&](auto j, int) {
      parallel_for(j, 0, 32,
                   [&](auto k, int) { parallel_for(k, 0, 32, [&](auto l, int) { request.note(l); }); });
    });
  };
  EXPECT_EQ(longest_wait(3 * 32 * 32, 256, nest), 32 * 32 - 1);
}

TEST(clone_poll, is_after_each_eighth_iteration_of_a_long_loop) {
  const auto loop = [](context c, poll_request& request) {
    parallel_for(c, 0, 1000, [&](auto k, int) { request.note(k); });
  };
  EXPECT_EQ(longest_wait(1000, 1, loop), 8 - 1);
}

}  // namespace
