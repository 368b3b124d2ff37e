// SPDX-License-Identifier: Apache-2.0
// The polls of a search in parallel code: how many choices begin between two of them, and what may be split
// off after choices that were refused.
#include "support.hpp"

#include "choice/poll_limit.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <ranges>
#include <thread>
#include <vector>

namespace {

using sukima::context;
using sukima::set_bits;

/// Raises the limit of a fiber at one of the choices of a search, as a worker that wants work does. Counts
/// the choices that begin before the fiber has polled.
class poll_request {
 public:
  /// \param at  the number of choices that begin before the limit is raised
  poll_request(context c, int at) : limit_(sukima::detail::gate_of(c.top).limit), left_(at) {}

  void note() {
    if (left_-- == 0)
      limit_.exchange(requested);
    else if (left_ < 0 && limit_.load() == requested)
      ++waited_;
  }
  int waited() const { return waited_; }

 private:
  /// Above every choice point, and no value that the runtime writes: the next poll replaces it.
  inline static char* const requested = sukima::detail::all_ones - 1;
  sukima::detail::atomic<char*>& limit_;
  int left_;
  int waited_ = 0;
};

/// The largest number of choices that begin between a request and a poll, with a request at each choice.
/// \param accepted  every how-many-th choice is accepted; 0: none is
template <class Choices> int longest_wait(Choices choices, int accepted) {
  using choice = std::ranges::range_value_t<Choices>;  // a body that takes `auto` would run as a clone
  sukima::runtime runtime(support::with_workers(1));
  int longest = 0;
  const auto count = static_cast<int>(std::ranges::distance(choices));
  for (int at = 0; at < count; ++at) {
    runtime.run([&](context c) {
      sukima::worker_id();  // announces the root, whose first polls are let pass otherwise
      poll_request request(c, at);
      int tried = 0;
      const int found = sukima::search(
          c, tried, choices,
          [&](int& t, choice) {
            request.note();
            ++t;
            return accepted != 0 && t % accepted == 0;
          },
          [](int&, choice) {}, [](context, int&, choice) { return 1; }, std::plus{});
      EXPECT_EQ(tried, count);
      EXPECT_EQ(found, accepted == 0 ? 0 : count / accepted);
      longest = std::max(longest, request.waited());
    });
  }
  return longest;
}

TEST(search_poll, is_before_each_choice_if_all_are_accepted) {
  EXPECT_EQ(longest_wait(std::views::iota(0, 100), 1), 0);
  EXPECT_EQ(longest_wait(set_bits(~0u), 1), 0);
}

TEST(search_poll, is_after_each_accepted_choice) {
  EXPECT_EQ(longest_wait(std::views::iota(0, 100), 3), 2);
  EXPECT_EQ(longest_wait(set_bits(~0u), 3), 2);
}

TEST(search_poll, is_at_each_sixteenth_choice_if_all_are_refused) {
  EXPECT_EQ(longest_wait(std::views::iota(0, 100), 0), 16 - 1);
  EXPECT_EQ(longest_wait(set_bits(~0u), 0), 16 - 1);
}

TEST(search_poll, backtracks_over_the_choice_that_was_accepted_after_refused_ones) {
  using path = std::vector<int>;
  const auto push = [](path& p, int step) {
    if (step < 2) return false;
    p.push_back(step);
    return true;
  };
  std::atomic<int> errors{0};
  const auto pop = [&errors](path& p, int step) {
    if (p.empty() || p.back() != step)
      ++errors;
    else
      p.pop_back();
  };
  const auto choices = std::views::iota(0, 5);
  sukima::runtime two(support::with_workers(2));
  // Until a fiber has backtracked: a thief that asks before the inner search begins gets a part without that.
  for (int round = 0; round < 20 || two.statistics().backtracks == 0; ++round) {
    path p;
    std::atomic<bool> stolen{false};
    const auto here = std::this_thread::get_id();
    two.run([&](context c) {
      sukima::search(
          c, p, choices, push, pop,
          [&](context c1, path& p1, int first) {
            if (std::this_thread::get_id() != here) {
              EXPECT_EQ(p1, path{first});
              stolen = true;
              return 0;
            }
            return sukima::search(
                c1, p1, choices, push, pop,
                [&](context c2, path& p2, int second) {
                  EXPECT_TRUE(support::poll_until(c2, [&] { return stolen.load(); }));
                  EXPECT_EQ(p2, (path{first, second}));
                  return 0;
                },
                std::plus{});
          },
          std::plus{});
    });
    EXPECT_EQ(p, path{});
  }
  EXPECT_EQ(errors, 0);
}

}  // namespace
