// SPDX-License-Identifier: Apache-2.0
// select: fair among ready streams, woken by each, ended by a time or by the end of all; first: by priority.
#include "support.hpp"

#include <array>

namespace {

using namespace support;
using sukima::objects::after;
using sukima::objects::first;
using sukima::objects::select;

class select_test : public models {};
INSTANTIATE_TEST_SUITE_P(all, select_test, all_models(), name_of_model);

TEST_P(select_test, receives_everything_from_all) {
  constexpr int each = 2000;
  program p(runtime);
  auto a = p.stream<int>("a", capacity{2});
  auto b = p.stream<long>("b", capacity{4});
  auto c = p.stream<std::string>("c", capacity{1});
  int counts[3] = {};
  p.object(
      "a",
      [](out<int> to) {
        for (int i = 0; i < each; ++i) to.send(i);
      },
      a.out());
  p.object(
      "b",
      [](out<long> to) {
        for (int i = 0; i < each; ++i) to.send(i);
      },
      b.out());
  p.object(
      "c",
      [](out<std::string> to) {
        for (int i = 0; i < each; ++i) to.send("x");
      },
      c.out());
  p.object(
      "sink",
      [&](in<int> x, in<long> y, in<std::string> z) {
        while (select(x.on([&](int i) { EXPECT_EQ(i, counts[0]++); }),
                      y.on([&](long i) { EXPECT_EQ(i, counts[1]++); }),
                      z.on([&](const std::string&) { ++counts[2]; }))) {
        }
      },
      a.in(), b.in(), c.in());
  p.run();
  for (const int n : counts) EXPECT_EQ(n, each);
}

/// A broker that asks its server as long as its client lives: it must know that the client is gone while the
/// server's stream is open, because it holds the end that the server waits for.
TEST_P(select_test, says_once_which_stream_has_ended) {
  program p(runtime);
  auto requests = p.stream<int>("requests"), answers = p.stream<int>("answers"), work = p.stream<int>("work");
  p.object(
      "client",
      [](out<int> to) {
        for (int i = 0; i < 10; ++i) to.send(i);
      },
      requests.out());
  p.object(
      "server",
      [](in<int> from, out<int> to) {
        for (const int i : from) to.send(2 * i);
      },
      work.in(), answers.out());
  int sum = 0;
  std::string ends;
  p.object(
      "broker",
      [&](in<int> client, in<int> server, out<int> ask) {
        while (select(client.on([&](int i) { ask.send(i); },
                                [&] {
                                  ends += "client ";
                                  const out<int> gone(std::move(ask));
                                }),
                      server.on([&](int i) { sum += i; }, [&] { ends += "server "; }))) {
        }
        EXPECT_FALSE(select(client.on([](int) {}, [&] { ends += "again "; })));
      },
      requests.in(), answers.in(), work.out());
  p.run();
  EXPECT_EQ(sum, 90);
  EXPECT_EQ(ends, "client server ");
}

TEST_P(select_test, takes_a_range_of_ends) {
  constexpr std::size_t count = 5;
  program p(runtime);
  std::vector<in<int>> ends;
  for (std::size_t i = 0; i < count; ++i) {
    auto s = p.stream<int>("s" + std::to_string(i), capacity{2});
    p.object(
        "source" + std::to_string(i),
        [i](out<int> to) {
          for (std::size_t k = 0; k < 100 * i; ++k) to.send(static_cast<int>(k));
        },
        s.out());
    ends.push_back(s.in());
  }
  auto other = p.stream<std::string>("other");
  p.object("other", [](out<std::string> to) { to.send("x"); }, other.out());
  std::array<std::size_t, count> got{};
  std::array<int, count> ended{};
  std::size_t others = 0;
  p.object(
      "sink",
      [&](std::vector<in<int>> all, in<std::string> text) {
        for (;;) {
          const auto served =
              select(sukima::objects::on_any(
                         all, [&](std::size_t i, int k) { EXPECT_EQ(static_cast<std::size_t>(k), got[i]++); },
                         [&](std::size_t i) { ++ended[i]; }),
                     text.on([&](const std::string&) { others += 1; }));
          if (!served) break;
          EXPECT_LE(*served, count);
        }
        std::vector<in<int>> none;
        EXPECT_FALSE(select(sukima::objects::on_any(none, [](std::size_t, int) {})));
        EXPECT_FALSE(first(sukima::objects::on_any(all, [](std::size_t, int) {})));
      },
      std::move(ends), other.in());
  p.run();
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ(got[i], 100 * i);
    EXPECT_EQ(ended[i], 1);
  }
  EXPECT_EQ(others, 1u);
}

TEST_P(select_test, a_time_lets_others_go_first) {
  program p(runtime);
  auto s = p.stream<int>("s");
  int got = 0;
  p.object(
       "poller",
       [&](in<int> from) {
         while (!from.is_closed()) select(from.on([&](int one) { got += one; }), after(0ms, [] {}));
       },
       s.in())
      .group("g");
  p.object("source", [](out<int> to) { to.send(1); }, s.out()).group("g");
  p.run();
  EXPECT_EQ(got, 1);
}

/// An object that was woken for a message, but serves another stream, wakes the next one that waits for it.
TEST(select, passes_an_unused_wake_up_on) {
  const model_chosen chosen("simulated");  // the objects begin in the order of their declaration
  program p;
  auto s = p.stream<int>("s", capacity{4});
  auto u = p.stream<int>("u", capacity{4});
  auto done = p.stream<int>("done", capacity{4});
  int selected = 0;
  p.object(
      "selects",
      [&](in<int> x, in<int> y) {
        EXPECT_EQ(first(y.on([&](int i) { selected = i; }), x.on([](int) {})), 0U);
      },
      s.in(), u.in());
  p.object(
      "receives", [](in<int> from, out<int> to) { to.send(from.receive().value_or(0)); }, s.in(), done.out());
  int received = 0;
  p.object(
      "sends",
      [&](out<int> x, out<int> y, in<int> answer) {
        x.send(7);  // wakes the first object
        y.send(8);  // which finds this, too, when it goes on
        received = answer.receive().value_or(0);
      },
      s.out(), u.out(), done.in());
  p.run();
  EXPECT_EQ(selected, 8);
  EXPECT_EQ(received, 7);
}

TEST(select, serves_busy_streams_equally) {
  const model_chosen chosen("simulated");
  program p;
  constexpr std::size_t count = 8;
  std::vector<in<int>> ends;
  for (std::size_t i = 0; i < count; ++i) {
    auto s = p.stream<int>(std::to_string(i), capacity{64});
    p.object(
        "source " + std::to_string(i),
        [](out<int> to) {
          while (!to.stop_requested() && !to.is_broken())
            if (int one = 1; to.send_for(one, no_limit) != send_result::sent) break;
        },
        s.out());
    ends.push_back(s.in());
  }
  std::array<int, count> served{};
  p.object(
      "sink",
      [&](std::vector<in<int>> e) {
        for (int i = 0; i < 8000; ++i)
          select(e[0].on([&](int) { ++served[0]; }), e[1].on([&](int) { ++served[1]; }),
                 e[2].on([&](int) { ++served[2]; }), e[3].on([&](int) { ++served[3]; }),
                 e[4].on([&](int) { ++served[4]; }), e[5].on([&](int) { ++served[5]; }),
                 e[6].on([&](int) { ++served[6]; }), e[7].on([&](int) { ++served[7]; }));
      },
      std::move(ends));
  p.run();
  for (const int n : served) {
    EXPECT_GE(n, 800);
    EXPECT_LE(n, 1200);
  }
}

TEST(select, serves_all_streams_where_two_selects_alternate) {
  const model_chosen chosen("simulated");
  program p;
  std::vector<in<int>> ends;
  for (const char* name : {"a", "b", "c", "d"}) {
    auto s = p.stream<int>(name, capacity{64});
    p.object(
        std::string("source ") + name,
        [](out<int> to) {
          while (!to.stop_requested() && !to.is_broken())
            if (int one = 1; to.send_for(one, no_limit) != send_result::sent) break;
        },
        s.out());
    ends.push_back(s.in());
  }
  std::array<int, 4> served{};
  p.object(
      "sink",
      [&](std::vector<in<int>> e) {
        for (int i = 0; i < 1000; ++i) {
          select(e[0].on([&](int) { ++served[0]; }), e[1].on([&](int) { ++served[1]; }));
          select(e[2].on([&](int) { ++served[2]; }), e[3].on([&](int) { ++served[3]; }));
        }
      },
      std::move(ends));
  p.run();
  for (const int n : served) {
    EXPECT_GE(n, 400);
    EXPECT_LE(n, 600);
  }
}

TEST(select, serves_a_stream_that_is_in_many_selects_no_more_than_others) {
  const model_chosen chosen("simulated");
  program p;
  constexpr std::size_t others = 40;
  std::vector<in<int>> ends;
  for (std::size_t i = 0; i <= others; ++i) {
    auto s = p.stream<int>(std::to_string(i), capacity{64});
    p.object(
        "source " + std::to_string(i),
        [](out<int> to) {
          while (!to.stop_requested() && !to.is_broken())
            if (int one = 1; to.send_for(one, no_limit) != send_result::sent) break;
        },
        s.out());
    ends.push_back(s.in());
  }
  int served = 0;
  p.object(
      "sink",
      [&](std::vector<in<int>> e) {
        for (std::size_t i = 0; i < 1000; ++i)
          select(e[0].on([&](int) { ++served; }), e[1 + i % others].on([](int) {}));
      },
      std::move(ends));
  p.run();
  EXPECT_GE(served, 400);
  EXPECT_LE(served, 600);
}

TEST_P(select_test, a_case_that_throws_takes_its_turn) {
  program p(runtime);
  auto failing = p.stream<int>("failing", capacity{1}), good = p.stream<int>("good", capacity{16});
  auto go = p.stream<int>("go", capacity{1});
  p.object("fails", [](out<int>) { throw std::logic_error("at once"); }, failing.out());
  p.object(
      "source",
      [](out<int> to, out<int> done) {
        for (int i = 0; i < 8; ++i) to.send(i);
        done.send(1);
      },
      good.out(), go.out());
  int received = 0, thrown = 0;
  p.object(
      "merge",
      [&](in<int> a, in<int> b, in<int> all_are_sent) {
        all_are_sent.receive();
        EXPECT_THROW(a.receive(), sukima::objects::stream_failed);
        while (received < 8 && thrown < 20) {
          try {
            select(a.on([](int) {}), b.on([&](int) { ++received; }));
          } catch (const sukima::objects::stream_failed&) {
            ++thrown;
          }
        }
      },
      failing.in(), good.in(), go.in());
  EXPECT_THROW(p.run(), std::logic_error);
  EXPECT_EQ(received, 8);
}

TEST_P(select_test, first_prefers_the_first) {
  program p(runtime);
  auto urgent = p.stream<int>("urgent", capacity{16});
  auto other = p.stream<int>("other", capacity{16});
  auto go = p.stream<int>("go", capacity{1});
  std::string order;
  p.object(
      "source",
      [](out<int> u, out<int> o, out<int> g) {
        for (int i = 0; i < 3; ++i) o.send(i);
        for (int i = 0; i < 3; ++i) u.send(i);
        g.send(1);
      },
      urgent.out(), other.out(), go.out());
  p.object(
      "sink",
      [&](in<int> u, in<int> o, in<int> g) {
        g.receive();
        while (first(u.on([&](int) { order += 'u'; }), o.on([&](int) { order += 'o'; }))) {
        }
      },
      urgent.in(), other.in(), go.in());
  p.run();
  EXPECT_EQ(order, "uuuooo");
}

TEST_P(select_test, sends_where_there_is_room) {
  program p(runtime);
  auto a = p.stream<int>("a", capacity{1});
  auto b = p.stream<int>("b", capacity{1});
  std::atomic<int> sum{0};
  p.object(
      "source",
      [](out<int> x, out<int> y) {
        int sent = 0;
        for (int i = 1; i <= 1000; ++i) {
          int value = i;
          int same = i;
          select(x.on_room(value, [&] { ++sent; }), y.on_room(same, [&] { ++sent; }));
        }
        EXPECT_EQ(sent, 1000);
      },
      a.out(), b.out());
  for (auto* s : {&a, &b})
    p.object(
        s == &a ? "x" : "y",
        [&](in<int> from) {
          for (int i : from) sum += i;
        },
        s->in());
  p.run();
  EXPECT_EQ(sum, 1000 * 1001 / 2);
}

TEST_P(select_test, ends_after_a_time) {
  program p(runtime);
  auto s = p.stream<int>("s", capacity{1});
  auto end = p.stream<int>("end", capacity{1});
  p.object(
      "waiter",
      [](in<int> from, out<int> over) {
        bool late = false;
        const auto begun = std::chrono::steady_clock::now();
        EXPECT_EQ(select(from.on([](int) { FAIL(); }), after(20ms, [&] { late = true; })), 1u);
        EXPECT_TRUE(late);
        EXPECT_GE(std::chrono::steady_clock::now() - begun, 20ms);
        over.send(1);
        EXPECT_EQ(select(from.on([](int) {}), after(no_limit, [] { FAIL(); })), 0u);
        EXPECT_FALSE(select(from.on([](int) {}), after(no_limit, [] { FAIL(); }))) << "the stream is closed";
      },
      s.in(), end.out());
  p.object(
      "sender",
      [](out<int> to, in<int> over) {
        over.receive();
        to.send(1);
      },
      s.out(), end.in());
  p.run();
}

TEST_P(select_test, many_selects_on_one_stream_lose_nothing) {
  constexpr int each = 1000;
  program p(runtime);
  auto a = p.stream<int>("a", capacity{2});
  auto b = p.stream<int>("b", capacity{2});
  std::atomic<int> received{0};
  for (int i = 0; i < 3; ++i) {
    p.object(
        "sender " + std::to_string(i),
        [i](out<int> x, out<int> y) {
          for (int k = 0; k < each; ++k) (((k + i) % 2) == 0 ? x : y).send(k);
        },
        a.out(), b.out());
    p.object(
        "receiver " + std::to_string(i),
        [&](in<int> x, in<int> y) {
          while (select(x.on([&](int) { ++received; }), y.on([&](int) { ++received; }))) {
          }
        },
        a.in(), b.in());
  }
  p.run();
  EXPECT_EQ(received, 3 * each);
}

}  // namespace
