// SPDX-License-Identifier: Apache-2.0
// Streams: every message once, in order, whatever the capacity; several senders and receivers; batches;
// times.
#include "support.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <ranges>
#include <span>
#include <stop_token>
#include <string>
#include <utility>

namespace {

using namespace support;

class stream_test : public models {};
INSTANTIATE_TEST_SUITE_P(all, stream_test, all_models(), name_of_model);

/// Messages that can be moved, but not assigned.
TEST_P(stream_test, is_read_by_a_loop_whatever_a_message_can_do) {
  struct reading {
    const int value;
  };
  program p(runtime);
  auto s = p.stream<reading>("s", capacity{4});
  int sum = 0;
  p.object(
      "source",
      [](out<reading> to) {
        for (int i = 1; i <= 100; ++i) to.send(reading{i});
      },
      s.out());
  p.object(
      "sink",
      [&](in<reading> from) {
        for (const reading& r : from) sum += r.value;
      },
      s.in());
  p.run();
  EXPECT_EQ(sum, 5050);
}

TEST_P(stream_test, keeps_the_order) {
  for (const std::size_t room : {1u, 2u, 3u, 8u, 64u, 1024u}) {
    program p(runtime);
    auto numbers = p.stream<int>("numbers", capacity{room});
    std::vector<int> got;
    p.object(
        "source",
        [](out<int> to) {
          for (int i = 0; i < 3000; ++i) to.send(i);
        },
        numbers.out());
    p.object(
        "sink",
        [&](in<int> from) {
          for (int i : from) got.push_back(i);
        },
        numbers.in());
    EXPECT_EQ(p.run(), 0);
    std::vector<int> wanted(3000);
    std::iota(wanted.begin(), wanted.end(), 0);
    EXPECT_EQ(got, wanted) << "capacity " << room;
  }
}

TEST_P(stream_test, goes_through_a_long_pipeline) {
  constexpr int stages = 30;
  program p(runtime);
  long sum = 0;
  auto next = p.stream<long>("0", capacity{2});
  p.object(
      "source",
      [](out<long> to) {
        for (long i = 1; i <= 500; ++i) to.send(i);
      },
      next.out());
  for (int i = 1; i <= stages; ++i) {
    auto after = p.stream<long>(std::to_string(i), capacity{static_cast<std::size_t>(1 + i % 5)});
    p.object(
        "stage " + std::to_string(i),
        [](in<long> from, out<long> to) {
          for (long n : from) to.send(n + 1);
        },
        next.in(), after.out());
    next = after;
  }
  p.object(
      "sink",
      [&](in<long> from) {
        for (long n : from) sum += n;
      },
      next.in());
  p.run();
  EXPECT_EQ(sum, 500 * 501 / 2 + 500 * stages);
}

TEST_P(stream_test, several_senders_and_receivers_share_one) {
  constexpr std::size_t count = 6;
  constexpr int each = 500;
  program p(runtime);
  auto s = p.stream<std::pair<std::size_t, int>>("shared", capacity{4});
  std::array<std::atomic<int>, count> received{};
  std::array<std::atomic<long>, count> sums{};
  for (std::size_t i = 0; i < count; ++i) {
    p.object(
        "sender " + std::to_string(i),
        [i](out<std::pair<std::size_t, int>> to) {
          for (int k = 0; k < each; ++k) to.send({i, k});
        },
        s.out());
    p.object(
        "receiver " + std::to_string(i),
        [&](in<std::pair<std::size_t, int>> from) {
          std::array<int, count> last;
          last.fill(-1);
          for (auto [sender, k] : from) {
            EXPECT_GT(k, last[sender]) << "out of order";
            last[sender] = k;
            ++received[sender];
            sums[sender] += k;
          }
        },
        s.in());
  }
  p.run();
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ(received[i], each);
    EXPECT_EQ(sums[i], each * (each - 1) / 2);
  }
}

TEST_P(stream_test, moves_messages_that_cannot_be_copied) {
  program p(runtime);
  auto s = p.stream<std::unique_ptr<std::string>>("boxes", capacity{2});
  std::string all;
  p.object(
      "source",
      [](out<std::unique_ptr<std::string>> to) {
        for (const char* word : {"a", "b", "c", "d", "e"}) to.send(std::make_unique<std::string>(word));
      },
      s.out());
  p.object(
      "sink",
      [&](in<std::unique_ptr<std::string>> from) {
        for (auto& b : from) all += *b;
      },
      s.in());
  p.run();
  EXPECT_EQ(all, "abcde");
}

/// Counts how often it is copied and moved; larger than what registers hold.
struct counted {
  static inline std::atomic<int> copies{0}, moves{0};
  int value = 0;
  std::array<char, 1024> payload{};
  explicit counted(int v, char first = 0) : value(v) { payload[0] = first; }
  counted(const counted& other) : value(other.value), payload(other.payload) { ++copies; }
  counted(counted&& other) noexcept : value(other.value), payload(other.payload) { ++moves; }
  counted& operator=(const counted&) = delete;
  counted& operator=(counted&&) = delete;
  ~counted() = default;
};

TEST_P(stream_test, a_message_is_made_in_the_stream_and_moved_out_once) {
  program p(runtime);
  auto s = p.stream<counted>("s", capacity{2});
  counted::copies = counted::moves = 0;
  p.object(
      "source",
      [](out<counted> to) {
        const counted kept(1);
        to.send(kept);
        to.send(counted(2));
        to.emplace(3, 'c');
        for (int i = 4; i <= 40; ++i) to.emplace(i);
      },
      s.out());
  int sum = 0;
  p.object(
      "sink",
      [&](in<counted> from) {
        const std::optional<counted> first = from.receive();
        sum += first->value;
        for (const counted& c : from) sum += c.value;
      },
      s.in());
  p.run();
  EXPECT_EQ(sum, 820);
  EXPECT_EQ(counted::copies, 1) << "of what was sent and kept";
  EXPECT_EQ(counted::moves, 1 + 40) << "one into the stream, and one out of it for each message";
}

TEST_P(stream_test, a_full_stream_may_drop_its_oldest_messages) {
  constexpr int count = 2000;
  for (const std::size_t room : {1u, 4u}) {
    program p(runtime);
    auto s = p.stream<std::shared_ptr<int>>("s", capacity{room}, sukima::objects::overflow::drop_oldest);
    const auto token = std::make_shared<int>(0);
    for (const char* name : {"first", "second"})
      p.object(
          name,
          [&token](out<std::shared_ptr<int>> to) {
            std::vector<std::shared_ptr<int>> some(10, token);
            for (int i = 0; i < count / 2; i += 20) {
              to.send_all(some);
              for (int k = 0; k < 10; ++k)
                EXPECT_EQ(to.try_send(std::shared_ptr<int>(token)), send_result::sent);
            }
          },
          s.out());
    std::uint64_t received = 0, dropped = 0;
    p.object(
        "sink",
        [&](in<std::shared_ptr<int>> from) {
          while (from.receive()) ++received;
          dropped = from.dropped();
        },
        s.in());
    p.run();
    EXPECT_EQ(received + dropped, static_cast<std::uint64_t>(count));
    EXPECT_GE(received, 1u);
    EXPECT_EQ(token.use_count(), 1) << "what is dropped is destroyed";
  }
}

TEST_P(stream_test, send_all_moves_from_a_range_but_not_through_a_view) {
  program p(runtime);
  auto s = p.stream<std::string>("s");
  std::vector<std::string> kept{"one", "two", "three"}, given{"four"};
  p.object(
      "source",
      [&](out<std::string> to) {
        const std::span<std::string> view(kept.data(), 1);
        to.send_all(std::span(kept));
        to.send_all(kept | std::views::take(2));
        to.send_all(std::ranges::subrange(kept));
        to.send_all(std::move(view));  // NOLINT(performance-move-const-arg): a constant rvalue
        to.send_all(std::move(given));
      },
      s.out());
  std::string all;
  p.object(
      "sink",
      [&](in<std::string> from) {
        for (const std::string& text : from) all += text + ' ';
      },
      s.in());
  p.run();
  EXPECT_EQ(all, "one two three one two one two three one four ");
  EXPECT_EQ(kept, (std::vector<std::string>{"one", "two", "three"}));
  EXPECT_EQ(given, std::vector<std::string>{""}) << "the elements are moved";
}

// During such a wait other senders use the stream, in the same island or in another one.
TEST_P(stream_test, send_all_may_wait_in_the_elements_of_a_view) {
  program p(runtime);
  auto s = p.stream<int>("s", capacity{4});
  auto next = p.stream<int>("next", capacity{4});
  p.object(
      "all",
      [](out<int> to, in<int> from) {
        const std::vector<int> tens{10, 20, 30};
        to.send_all(tens | std::views::transform([&](int ten) { return ten + from.receive().value_or(0); }));
        int last = 0;
        to.send_all(tens | std::views::transform([&](int) -> int& { return last = *from.receive(); }));
        to.send_all(tens | std::views::filter([&](int) { return from.receive() == 7; }));
      },
      s.out(), next.in());
  p.object(
      "single",
      [](out<int> to, out<int> gives) {
        for (int i = 1; i <= 9; ++i) {
          to.send(100 * i);
          gives.send(i);
        }
      },
      s.out(), next.out());
  std::vector<int> got;
  p.object(
      "sink",
      [&](in<int> from) {
        for (const int i : from) got.push_back(i);
      },
      s.in());
  p.run();
  std::ranges::sort(got);
  EXPECT_EQ(got, (std::vector<int>{4, 5, 6, 10, 11, 22, 33, 100, 200, 300, 400, 500, 600, 700, 800, 900}));
}

TEST_P(stream_test, the_newest_messages_are_kept) {
  program p(runtime);
  auto s = p.stream<int>("s", capacity{4}, sukima::objects::overflow::drop_oldest);
  auto full = p.stream<int>("full", capacity{1});
  std::vector<int> got;
  p.object(
      "source",
      [](out<int> to, out<int> is_full) {
        for (int i = 1; i <= 100; ++i) to.send(i);
        is_full.send(1);
      },
      s.out(), full.out());
  p.object(
      "sink",
      [&](in<int> from, in<int> is_full) {
        is_full.receive();
        for (const int i : from) got.push_back(i);
      },
      s.in(), full.in());
  p.run();
  EXPECT_EQ(got, (std::vector<int>{97, 98, 99, 100}));
}

TEST_P(stream_test, messages_without_a_receiver_are_destroyed) {
  const auto token = std::make_shared<int>(1);
  {
    program p(runtime);
    auto s = p.stream<std::shared_ptr<int>>("left", capacity{8});
    p.object(
        "source",
        [&](out<std::shared_ptr<int>> to) {
          for (int i = 0; i < 5; ++i) to.send(token);
        },
        s.out());
    p.object("sink", [](in<std::shared_ptr<int>> from) { EXPECT_TRUE(from.receive()); }, s.in());
    try {
      p.run();
    } catch (const sukima::objects::stream_broken&) {
      // The sink may have ended before the last message was sent.
    }
  }
  EXPECT_EQ(token.use_count(), 1);
}

TEST_P(stream_test, batches_are_the_same_messages) {
  program p(runtime);
  auto s = p.stream<int>("batches", capacity{16});
  std::vector<int> got;
  p.object(
      "source",
      [](out<int> to) {
        std::vector<int> batch(100);
        for (int i = 0; i < 30; ++i) {
          std::iota(batch.begin(), batch.end(), 100 * i);
          to.send_all(batch);
        }
      },
      s.out());
  p.object(
      "sink",
      [&](in<int> from) {
        std::array<int, 7> some{};
        while (const std::size_t n = from.receive_some(some))
          got.insert(got.end(), some.begin(), some.begin() + static_cast<long>(n));
      },
      s.in());
  p.run();
  std::vector<int> wanted(3000);
  std::iota(wanted.begin(), wanted.end(), 0);
  EXPECT_EQ(got, wanted);
}

TEST_P(stream_test, a_stream_is_forwarded_as_a_range) {
  program p(runtime);
  auto merged = p.stream<int>("merged", capacity{4});
  auto to = merged.out();
  std::vector<out<int>> ends;
  ends.push_back(to.share());
  ends.push_back(std::move(to));
  for (const char* name : {"a", "b"}) {
    auto own = p.stream<int>(name, capacity{2});
    p.object(
        std::string("source ") + name,
        [](out<int> there) {
          for (int i = 0; i < 1000; ++i) there.send(1);
        },
        own.out());
    p.object(
        std::string("relay ") + name, [](in<int> from, out<int> there) { there.send_all(from); }, own.in(),
        std::move(ends.back()));
    ends.pop_back();
  }
  int got = 0;
  p.object(
      "sink",
      [&](in<int> from) {
        for (const int one : from) got += one;
      },
      merged.in());
  p.run();
  EXPECT_EQ(got, 2000);
}

/// Its assignment fails once, for the third one.
struct fails_once {
  std::shared_ptr<int> number;
  fails_once() = default;
  explicit fails_once(int value) : number(std::make_shared<int>(value)) {}
  fails_once(const fails_once&) = default;
  fails_once& operator=(const fails_once& other) {
    if (*other.number == 3 && !std::exchange(has_failed, true)) throw std::runtime_error("once");
    number = other.number;
    return *this;
  }
  static inline bool has_failed = false;
};

TEST_P(stream_test, a_message_that_an_assignment_refuses_stays) {
  fails_once::has_failed = false;
  program p(runtime);
  auto s = p.stream<fails_once>("s", capacity{8});
  p.object(
      "source",
      [](out<fails_once> to) {
        for (int i = 0; i < 8; ++i) to.send(fails_once(i));
      },
      s.out());
  std::vector<int> got;
  int thrown = 0;
  p.object(
      "sink",
      [&](in<fails_once> from) {
        for (std::vector<fails_once> some(8);;) try {
            const std::size_t count = from.receive_some(some);
            if (count == 0) break;
            for (std::size_t i = 0; i < count; ++i) got.push_back(*some[i].number);
          } catch (const std::runtime_error&) {
            // The messages taken before the failure are in their places.
            for (const fails_once& one : some)
              if (one.number && *one.number == static_cast<int>(got.size())) got.push_back(*one.number);
            ++thrown;
          }
      },
      s.in());
  p.run();
  EXPECT_EQ(thrown, 1);
  std::vector<int> wanted(8);
  std::iota(wanted.begin(), wanted.end(), 0);
  EXPECT_EQ(got, wanted);
}

TEST_P(stream_test, attempts_let_others_go_first) {
  program p(runtime);
  auto s = p.stream<int>("s", capacity{1});
  int got = 0;
  p.object(
       "poller",
       [&](in<int> from) {
         while (!from.is_closed()) {
           if (const auto one = from.try_receive()) got += *one;
           if (const auto one = from.receive_for(1ns)) got += *one;
         }
       },
       s.in())
      .group("g");
  p.object(
       "source",
       [](out<int> to) {
         for (int i = 0; i < 10; ++i)
           while (to.try_send(1) == send_result::full) {
           }
       },
       s.out())
      .group("g");
  p.run();
  EXPECT_EQ(got, 10);
}

TEST_P(stream_test, attempts_see_an_abort) {
  program p(runtime);
  auto s = p.stream<int>("s", capacity{1});
  p.object(
       "poller",
       [](in<int> from) {
         for (;;) static_cast<void>(from.try_receive());
       },
       s.in())
      .group("g");
  p.object(
       "sender",
       [&](out<int> to) {
         p.abort();
         for (;;) static_cast<void>(to.try_send(1));
       },
       s.out())
      .group("g");
  p.run();
}

TEST_P(stream_test, attempts_to_send_without_a_receiver_see_an_abort) {
  program p(runtime);
  auto s = p.stream<int>("s", capacity{1});
  p.object("nobody", [](const in<int>&) {}, s.in()).group("g");
  p.object(
       "sender",
       [&](out<int> to) {
         while (!to.is_broken()) static_cast<void>(to.try_send(1));
         p.abort();
         for (;;) static_cast<void>(to.try_send(1));
       },
       s.out())
      .group("g");
  p.run();
}

TEST(stream, waits_longer_than_the_clock_can_count) {
  const model_chosen chosen("simulated");  // the objects begin in the order of their declaration
  program p;
  auto s = p.stream<int>("s");
  std::optional<int> got;
  p.object("sink", [&](in<int> from) { got = from.receive_for(std::chrono::hours::max()); }, s.in());
  p.object("source", [](out<int> to) { to.send(1); }, s.out());
  p.run();
  EXPECT_EQ(got, 1);
}

TEST_P(stream_test, attempts_do_not_wait) {
  program p(runtime);
  auto s = p.stream<int>("small", capacity{2});
  auto go = p.stream<int>("go", capacity{1});
  p.object(
      "source",
      [](out<int> to, out<int> ready) {
        EXPECT_EQ(to.try_send(1), send_result::sent);
        EXPECT_EQ(to.try_send(2), send_result::sent);
        EXPECT_EQ(to.try_send(3), send_result::full);
        ready.send(0);
      },
      s.out(), go.out());
  p.object(
      "sink",
      [](in<int> from, in<int> ready) {
        EXPECT_TRUE(ready.receive());
        EXPECT_FALSE(ready.receive());
        EXPECT_EQ(from.try_receive(), 1);
        EXPECT_EQ(from.try_receive(), 2);
        EXPECT_FALSE(from.try_receive());
        EXPECT_FALSE(from.receive());
        EXPECT_TRUE(from.is_closed());
      },
      s.in(), go.in());
  p.run();
}

TEST_P(stream_test, waits_end_in_time) {
  program p(runtime);
  auto s = p.stream<int>("slow", capacity{1});
  auto done = p.stream<int>("done", capacity{1});
  auto go = p.stream<int>("go", capacity{1});
  p.object(
      "source",
      [](out<int> to, in<int> end, out<int> start) {
        int value = 1;
        EXPECT_EQ(to.send_for(value, no_limit), send_result::sent);
        const auto begun = std::chrono::steady_clock::now();
        EXPECT_EQ(to.send_for(value, 20ms), send_result::full);
        EXPECT_GE(std::chrono::steady_clock::now() - begun, 20ms);
        EXPECT_EQ(value, 1);
        EXPECT_FALSE(end.receive_for(20ms));
        EXPECT_FALSE(end.is_closed());
        start.send(1);
        EXPECT_TRUE(end.receive_for(no_limit));
      },
      s.out(), done.in(), go.out());
  auto never = p.stream<int>("never", capacity{1});
  p.object(
      "sink",
      [](in<int> from, out<int> end, in<int> start, in<int> nothing, out<int>) {
        EXPECT_FALSE(nothing.receive_for(20ms));
        EXPECT_TRUE(start.receive());
        EXPECT_EQ(from.receive_for(no_limit), 1);
        end.send(1);
      },
      s.in(), done.out(), go.in(), never.in(), never.out());
  p.run();
}

struct fragile {
  int number = 0;
  fragile() = default;
  explicit fragile(int n) : number(n) {}
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): it throws
  fragile(fragile&& other) : number(other.number) {
    if (number < 0) throw std::runtime_error("a move failed");
  }
  fragile& operator=(fragile&&) = default;
};

TEST_P(stream_test, a_throwing_move_sends_nothing) {
  program p(runtime);
  auto s = p.stream<fragile>("fragile", capacity{16});
  std::vector<int> got;
  p.object(
      "source",
      [](out<fragile> to) {
        for (int i = 1; i <= 10; ++i) {
          fragile f(i);
          if (i % 3 == 0) f.number = -i;
          if (i % 3 == 0)
            EXPECT_THROW(to.try_send(f), std::runtime_error);
          else
            to.send(std::move(f));
        }
      },
      s.out());
  p.object(
      "sink",
      [&](in<fragile> from) {
        for (const fragile& f : from) got.push_back(f.number);
      },
      s.in());
  p.run();
  EXPECT_EQ(got, (std::vector<int>{1, 2, 4, 5, 7, 8, 10}));
}

struct refused {};
/// The first move of all fails, and each construction from `refused`.
struct stubborn {
  static inline std::atomic<bool> is_refused{false};
  int number;
  explicit stubborn(int n) : number(n) {}
  explicit stubborn(refused) : number(0) { throw std::runtime_error("a construction failed"); }
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): it throws
  stubborn(stubborn&& other) : number(other.number) {
    if (is_refused.exchange(false)) throw std::runtime_error("a move failed");
  }
};

TEST_P(stream_test, another_receiver_gets_a_message_whose_move_throws) {
  stubborn::is_refused = true;
  program p(runtime);
  auto numbers = p.stream<stubborn>("numbers", capacity{1});
  auto waits = p.stream<int>("waits", capacity{2}), got = p.stream<int>("got", capacity{2});
  std::atomic<int> thrown{0};
  for (const char* const name : {"a", "b"})
    p.object(
        name,
        [&thrown](out<int> ready, in<stubborn> from, out<int> to) {
          ready.send(1);
          try {
            while (const std::optional<stubborn> message = from.receive()) to.send(message->number);
          } catch (const std::runtime_error&) {
            ++thrown;
          }
        },
        waits.out(), numbers.in(), got.out());
  int received = 0;
  p.object(
      "source",
      [&received](in<int> ready, out<stubborn> to, in<int> answer) {
        for (int i = 0; i < 2; ++i) static_cast<void>(ready.receive());
        to.emplace(7);
        received = answer.receive().value_or(0);  // before its end closes
      },
      waits.in(), numbers.out(), got.in());
  p.run();
  EXPECT_EQ(received, 7);
  EXPECT_EQ(thrown, 1);
}

TEST_P(stream_test, another_sender_gets_the_room_that_a_construction_leaves) {
  program p(runtime);
  auto numbers = p.stream<stubborn>("numbers", capacity{1});
  p.object(
      "a",
      [](out<stubborn> to) {
        to.emplace(1);
        EXPECT_THROW(to.emplace(refused{}), std::runtime_error);
      },
      numbers.out());
  p.object("b", [](out<stubborn> to) { to.emplace(2); }, numbers.out());
  int sum = 0;
  p.object(
      "sink",
      [&sum](in<stubborn> from) {
        while (const std::optional<stubborn> message = from.receive()) sum += message->number;
      },
      numbers.in());
  p.run();
  EXPECT_EQ(sum, 3);
}

TEST_P(stream_test, objects_with_all_stacks_keep_their_exceptions_while_others_run) {
  program p(runtime);
  constexpr int objects = 6;
  constexpr int rounds = 300;
  std::vector<sukima::objects::stream<long>> links;
  for (int i = 0; i < objects; ++i) links.push_back(p.stream<long>("link " + std::to_string(i), capacity{1}));
  std::array<std::string, objects> kept;
  for (int i = 0; i < objects; ++i)
    p.object(
         "object " + std::to_string(i),
         [&kept, i](in<long> from, out<long> to) {
           try {
             throw std::runtime_error(std::to_string(i));
           } catch (const std::runtime_error&) {
             if (i == 0) to.send(0);
             for (int round = 0; round < rounds; ++round) {
               const std::optional<long> m = from.receive();
               if (!m || *m % objects != (i + objects - 1) % objects) return;
               if (i != 0 || round + 1 < rounds) to.send(*m + 1);
             }
             try {
               throw;
             } catch (const std::runtime_error& mine) {
               kept[static_cast<std::size_t>(i)] = mine.what();
             }
           }
         },
         links[static_cast<std::size_t>(i)].in(), links[static_cast<std::size_t>((i + 1) % objects)].out())
        .stack(i % 3 == 2 ? 256 * 1024 : 0)
        .group("ring");
  p.run();
  EXPECT_EQ(kept, (std::array<std::string, objects>{"0", "1", "2", "3", "4", "5"}));
}

/// Its destructor forks, and waits.
struct forks_at_its_end {
  static inline std::atomic<int> living{0};
  forks_at_its_end() { ++living; }
  forks_at_its_end(forks_at_its_end&& /*other*/) noexcept { ++living; }
  forks_at_its_end& operator=(forks_at_its_end&& /*other*/) noexcept {
    fork_and_wait();
    return *this;
  }
  ~forks_at_its_end() {
    fork_and_wait();
    --living;
  }
};

// During that wait another object of the group could take the same message.
TEST_P(stream_test, destructors_of_messages_may_fork) {
  constexpr int count = 10;
  using sukima::objects::overflow;
  for (const overflow when_full : {overflow::wait, overflow::drop_oldest}) {
    std::atomic<std::uint64_t> got{0}, dropped{0};
    {
      program p(runtime);
      auto s = p.stream<forks_at_its_end>("s", capacity{2}, when_full);
      for (const char* name : {"first", "second"})
        p.object(
             name,
             [](out<forks_at_its_end> to) {
               for (int i = 0; i < count; ++i) to.emplace();
             },
             s.out())
            .group("all");
      for (const char* name : {"one by one", "together"})
        p.object(
             name,
             [&, together = *name == 't'](in<forks_at_its_end> from) {
               std::array<forks_at_its_end, 2> some;
               while (const std::size_t now = together ? from.receive_some(some) : from.receive().has_value())
                 got += now;
               dropped = from.dropped();
             },
             s.in())
            .group("all");
      p.run();
    }
    EXPECT_EQ(got + dropped, 2u * count);
    EXPECT_EQ(forks_at_its_end::living, 0) << "each message is destroyed once";
  }
}

// The object that was woken for the message leaves it, and its program goes on.
TEST(stream, another_receiver_gets_the_message_that_a_cancelled_one_leaves) {
  const model_chosen chosen("workers:simulated");
  sukima::runtime one_worker(with_workers(1));  // so an object that sends runs on until it waits
  program p(one_worker);
  auto ready = p.stream<int>("ready"), go = p.stream<int>("go"), numbers = p.stream<int>("numbers"),
       got = p.stream<int>("got");
  std::stop_source stop;
  bool has_ended = true;
  p.object(
       "cancelled",
       [&](sukima::context c, out<int> begins, in<int> from) {
         has_ended = sukima::cancellable(c, stop.get_token(), [&](sukima::context) {
           begins.send(0);
           from.receive();
         });
       },
       ready.out(), numbers.in())
      .group("a");
  p.object(
       "other",
       [](in<int> begin, in<int> from, out<int> to) {
         begin.receive();
         to.send(0);
         to.send(from.receive().value_or(0));
       },
       go.in(), numbers.in(), got.out())
      .group("b");
  int received = 0;
  p.object(
       "source",
       [&](in<int> first, out<int> second, in<int> answer, out<int> to) {
         first.receive();
         second.send(0);
         answer.receive();  // both wait now
         stop.request_stop();
         to.send(7);
         received = answer.receive().value_or(0);  // before its end closes
       },
       ready.in(), go.out(), got.in(), numbers.out())
      .group("c");
  p.run();
  EXPECT_FALSE(has_ended);
  EXPECT_EQ(received, 7);
}

TEST_P(stream_test, objects_may_fork) {
  program p(runtime);
  auto s = p.stream<long>("sums", capacity{2});
  std::vector<long> got;
  for (int i = 0; i < 4; ++i)
    p.object(
         "adder " + std::to_string(i),
         [](sukima::context c, out<long> to) {
           for (int round = 0; round < 50; ++round) {
             std::atomic<long> sum{0};
             sukima::parallel_for(c, 0, 100, [&](int k) { sum += k; });
             to.send(sum);
           }
         },
         s.out())
        .stack(i % 2 == 0 ? 0 : 256 * 1024);
  p.object(
      "sink",
      [&](in<long> from) {
        for (long n : from) got.push_back(n);
      },
      s.in());
  p.run();
  EXPECT_EQ(got, std::vector<long>(200, 4950));
}

}  // namespace
