// SPDX-License-Identifier: Apache-2.0
// Ends: closing by ownership, exceptions that readers receive, ends in wrong hands.
#include "support.hpp"

#include <optional>

namespace {

using namespace support;
using sukima::objects::stream_broken;
using sukima::objects::stream_failed;

class ends_test : public models {};
INSTANTIATE_TEST_SUITE_P(all, ends_test, all_models(), name_of_model);

TEST_P(ends_test, a_stream_closes_with_its_last_sender) {
  program p(runtime);
  auto s = p.stream<int>("s", capacity{4});
  int count = 0;
  auto first = s.out();
  p.object("a", [](out<int> to) { to.send(1); }, first.share());
  p.object("b", [](out<int> to) { to.send(2); }, std::move(first));
  p.object(
      "sink",
      [&](in<int> from) {
        while (from.receive()) ++count;
        EXPECT_FALSE(from.receive()) << "closed stays closed";
      },
      s.in());
  p.run();
  EXPECT_EQ(count, 2);
}

TEST_P(ends_test, an_end_that_is_dropped_before_the_run_does_not_close_its_stream) {
  program p(runtime);
  auto s = p.stream<int>("s", capacity{4});
  {
    const auto unused = s.out();
    const auto too = s.in();
  }
  int sum = 0;
  // It receives first, from an empty stream that has a sender.
  p.object(
      "sink",
      [&](in<int> from) {
        for (const int i : from) sum += i;
      },
      s.in());
  p.object(
      "source",
      [](out<int> to) {
        for (int i = 1; i <= 100; ++i) to.send(i);
      },
      s.out());
  p.run();
  EXPECT_EQ(sum, 5050);
}

TEST_P(ends_test, none_is_made_after_the_run_has_begun) {
  program p(runtime);
  const auto s = p.stream<int>("s", capacity{4});
  std::string in_run[3];
  p.object(
      "source",
      [&](out<int> to) {
        in_run[0] = text_of<usage_error>([&] { s.out(); });
        in_run[1] = text_of<usage_error>([&] { s.in(); });
        in_run[2] = text_of<usage_error>([&] { to.share(); });
        to.send(1);
      },
      s.out());
  int sum = 0;
  p.object(
      "sink",
      [&](in<int> from) {
        for (const int i : from) sum += i;
      },
      s.in());
  p.run();
  EXPECT_EQ(sum, 1) << "the stream has closed";
  for (const std::string& text : in_run)
    EXPECT_EQ(text,
              "sukima: stream s: an end was made after the program had begun to run; make all ends before "
              "program::run");
  EXPECT_EQ(text_of<usage_error>([&] { s.in(); }), in_run[1]);
}

TEST_P(ends_test, sending_without_a_receiver_throws) {
  program p(runtime);
  auto s = p.stream<int>("lonely", capacity{2});
  std::string text;
  p.object(
      "source",
      [&](out<int> to) {
        try {
          for (;;) to.send(1);
        } catch (const stream_broken& e) {
          text = e.what();
        }
        int value = 1;
        EXPECT_EQ(to.try_send(value), send_result::broken);
        EXPECT_TRUE(to.is_broken());
      },
      s.out());
  p.object("sink", [](in<int> from) { from.receive(); }, s.in());
  p.run();
  EXPECT_NE(text.find("lonely"), std::string::npos) << text;
  EXPECT_NE(text.find("source"), std::string::npos) << text;
}

TEST_P(ends_test, a_reader_that_leaves_early_is_not_a_failure) {
  for (const int count : {1, 100'000}) {  // the source has sent all before the reader leaves, or never would
    program p(runtime);
    auto a = p.stream<int>("a", capacity{4}), b = p.stream<int>("b", capacity{4});
    auto other = p.stream<int>("other", capacity{4});
    int got = 0;
    std::string text;
    p.object(
        "source",
        [count](out<int> to) {
          for (int i = 0; i < count; ++i) to.send(i);
        },
        a.out());
    p.object(
        "both",
        [](in<int> from, out<int> to, out<int> too) {
          for (const int i : from) {
            to.send(i);
            too.send(i);
          }
        },
        a.in(), b.out(), other.out());
    p.object("first message", [&](in<int> from) { got = from.receive().value_or(-1); }, b.in());
    p.object(
        "all messages",
        [&](in<int> from) {
          try {
            for ([[maybe_unused]] const int i : from) continue;
          } catch (const stream_failed& e) {
            text = e.what();
            throw;  // its messages are not complete, which it learns; the program has not failed
          }
        },
        other.in());
    EXPECT_EQ(p.run(), 0);
    EXPECT_EQ(got, 0);
    if (count > 1) {
      EXPECT_NE(text.find("both failed"), std::string::npos) << text;
    }
  }
}

TEST_P(ends_test, an_end_can_be_closed_early) {
  program p(runtime);
  auto s = p.stream<int>("s", capacity{2});
  auto back = p.stream<int>("back", capacity{2});
  p.object(
      "source",
      [](out<int> to, in<int> answer) {
        to.send(7);
        {
          const out<int> closed = std::move(to);
        }
        EXPECT_EQ(answer.receive(), 8) << "the sink saw the end of the stream";
      },
      s.out(), back.in());
  p.object(
      "sink",
      [](in<int> from, out<int> answer) {
        int last = 0;
        for (int i : from) last = i;
        answer.send(last + 1);
      },
      s.in(), back.out());
  p.run();
}

TEST_P(ends_test, readers_get_what_was_accepted_and_then_the_failure) {
  program p(runtime);
  auto s = p.stream<int>("s", capacity{64});
  std::vector<int> got;
  std::string text;
  p.object(
      "broken one",
      [](out<int> to) {
        for (int i = 0; i < 10; ++i) to.send(i);
        throw std::runtime_error("out of ideas");
      },
      s.out());
  p.object(
      "sink",
      [&](in<int> from) {
        try {
          for (int i : from) got.push_back(i);
        } catch (const stream_failed& e) {
          text = e.what();
        }
      },
      s.in());
  try {
    p.run();
    FAIL() << "it rethrows the object's exception";
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "out of ideas");
  }
  EXPECT_EQ(got.size(), 10u);
  EXPECT_NE(text.find("broken one"), std::string::npos) << text;
  EXPECT_NE(text.find("out of ideas"), std::string::npos) << text;
}

// The end outlives the function of the object.
TEST_P(ends_test, an_end_that_a_failed_object_gave_away_reports_the_failure) {
  program p(runtime);
  auto numbers = p.stream<int>("numbers"), other = p.stream<int>("other");
  std::optional<out<int>> kept;
  p.object(
      "culprit",
      [&](out<int> to, out<int> /*closes*/) {
        kept.emplace(std::move(to));
        throw std::runtime_error("out of ideas, and out of numbers");
      },
      numbers.out(), other.out());
  p.object(
      "heir",
      [&](in<int> from) {
        EXPECT_THROW(from.receive(), stream_failed);
        kept.reset();
      },
      other.in());
  std::string text;
  p.object(
      "sink",
      [&](in<int> from) {
        try {
          from.receive();
        } catch (const stream_failed& e) {
          text = e.what();
        }
      },
      numbers.in());
  EXPECT_THROW(p.run(), std::runtime_error);
  EXPECT_EQ(text, "sukima: stream numbers: the object culprit failed: out of ideas, and out of numbers");
}

/// Has no text, not even an empty one.
struct silent : std::exception {
  const char* what() const noexcept override { return nullptr; }
};

TEST_P(ends_test, a_failure_without_a_text_names_its_type) {
  const std::vector<std::pair<void (*)(), std::string>> failures{
      {[] { throw 42; }, "an exception of the type int"},
      {[] { throw std::runtime_error(""); }, "an exception of the type std::runtime_error without a text"},
      {[] { throw silent(); }, "silent without a text"}};
  for (const auto& [fail, text] : failures) {
    program p(runtime);
    auto s = p.stream<int>("s");
    std::string got;
    p.object("culprit", [f = fail](out<int>) { f(); }, s.out());
    p.object(
        "sink",
        [&](in<int> from) {
          try {
            from.receive();
          } catch (const stream_failed& e) {
            got = e.what();
          }
        },
        s.in());
    EXPECT_ANY_THROW(p.run());
    EXPECT_NE(got.find("the object culprit failed: "), std::string::npos) << got;
    EXPECT_TRUE(got.ends_with(text)) << got;
  }
}

TEST_P(ends_test, an_exception_that_an_object_handles_is_not_a_failure) {
  program p(runtime);
  auto s = p.stream<int>("s", capacity{4});
  auto later = p.stream<int>("later", capacity{4});
  p.object(
      "source",
      [](out<int> to, in<int> wait) {
        try {
          const out<int> mine = std::move(to);
          throw std::runtime_error("handled");
        } catch (const std::runtime_error&) {
        }
        EXPECT_FALSE(wait.receive());
      },
      s.out(), later.in());
  p.object("sink", [](in<int> from, out<int>) { EXPECT_FALSE(from.receive()); }, s.in(), later.out());
  p.run();
}

TEST_P(ends_test, an_end_that_was_dropped_by_a_handled_exception_closes_for_the_object_itself) {
  program p(runtime);
  auto s = p.stream<int>("s", capacity{4});
  auto t = p.stream<int>("t", capacity{1});
  p.object(
      "both",
      [](out<int> to, in<int> from, out<int> full, in<int> rest) {
        to.send(1);
        full.send(1);
        try {
          const out<int> mine = std::move(to);
          const in<int> other = std::move(rest);
          throw std::runtime_error("handled");
        } catch (const std::runtime_error&) {
        }
        EXPECT_EQ(from.receive(), 1);
        EXPECT_FALSE(from.receive());
        EXPECT_THROW(full.send(2), stream_broken);
      },
      s.out(), s.in(), t.out(), t.in());
  p.run();
}

TEST_P(ends_test, the_room_that_a_dropped_end_breaks_does_not_end_a_wait_twice) {
  program p(runtime);
  auto t = p.stream<int>("t", capacity{1});
  p.object(
      "both",
      [](out<int> full, in<int> rest) {
        full.send(1);
        try {
          const in<int> other = std::move(rest);
          throw std::runtime_error("handled");
        } catch (const std::runtime_error&) {
        }
        EXPECT_THROW(full.send(2), stream_broken);
      },
      t.out(), t.in());
  p.run();
}

TEST_P(ends_test, an_end_that_was_dropped_by_a_handled_exception_closes_for_a_polling_object) {
  program p(runtime);
  auto s = p.stream<int>("s", capacity{4});
  auto later = p.stream<int>("later", capacity{4});
  p.object(
      "source",
      [](out<int> to, in<int> wait) {
        try {
          const out<int> mine = std::move(to);
          throw std::runtime_error("handled");
        } catch (const std::runtime_error&) {
        }
        while (!wait.is_closed()) static_cast<void>(wait.try_receive());
      },
      s.out(), later.in());
  p.object("sink", [](in<int> from, out<int>) { EXPECT_FALSE(from.receive()); }, s.in(), later.out());
  p.run();
}

TEST_P(ends_test, a_failure_after_a_handled_exception_arrives) {
  program p(runtime);
  auto s = p.stream<int>("s", capacity{4}), t = p.stream<int>("t", capacity{4});
  auto later = p.stream<int>("later", capacity{4});
  std::string text;
  p.object(
      "source",
      [](out<int> to, const out<int>&, in<int> wait) {
        try {
          const out<int> mine = std::move(to);
          throw std::runtime_error("handled");
        } catch (const std::runtime_error&) {
        }
        EXPECT_FALSE(wait.receive());
        throw std::logic_error("not handled");
      },
      s.out(), t.out(), later.in());
  p.object(
      "sink",
      [&](in<int> from, in<int> rest, out<int> wait) {
        EXPECT_FALSE(from.receive());
        {
          const out<int> closed = std::move(wait);
        }
        try {
          rest.receive();
        } catch (const stream_failed& e) {
          text = e.what();
        }
      },
      s.in(), t.in(), later.out());
  EXPECT_THROW(p.run(), std::logic_error);
  EXPECT_NE(text.find("not handled"), std::string::npos) << text;
}

TEST_P(ends_test, a_failure_goes_down_a_pipeline) {
  program p(runtime);
  auto a = p.stream<int>("a", capacity{2});
  auto b = p.stream<int>("b", capacity{2});
  p.object(
      "source",
      [](out<int> to) {
        for (;;) to.send(1);
      },
      a.out());
  p.object(
      "middle",
      [](in<int> from, out<int> to) {
        int n = 0;
        for (int i : from) {
          if (++n == 5) throw std::logic_error("five is enough");
          to.send(i);
        }
      },
      a.in(), b.out());
  p.object(
      "sink",
      [](in<int> from) {
        for ([[maybe_unused]] int i : from) {
        }
      },
      b.in());
  EXPECT_THROW(p.run(), std::logic_error);
}

TEST_P(ends_test, ends_may_be_captured_or_in_a_container) {
  program p(runtime);
  auto s = p.stream<int>("s", capacity{2});
  auto t = p.stream<int>("t", capacity{2});
  int sum = 0;
  std::vector<out<int>> both;
  both.push_back(s.out());
  both.push_back(t.out());
  p.object(
      "source",
      [](std::vector<out<int>> to) {
        for (int i = 0; i < 100; ++i)
          for (out<int>& each : to) each.send(i);
      },
      std::move(both));
  p.object("sink", [&sum, a = std::optional(s.in()), b = std::optional(t.in())]() mutable {
    while (auto m = a->receive()) sum += *m + b->receive().value();
  });
  p.run();
  EXPECT_EQ(sum, 2 * 4950);
}

TEST_P(ends_test, an_end_belongs_to_one_object) {
  program p(runtime);
  auto s = p.stream<int>("s", capacity{2});
  out<int>* of_source = nullptr;
  std::atomic<bool> over{false};
  p.object(
       "source",
       [&](out<int> to) {
         of_source = &to;
         to.send(1);
         while (!over) std::this_thread::sleep_for(1ms);
       },
       s.out())
      .group("x");
  p.object(
       "sink",
       [&](in<int> from) {
         from.receive();
         EXPECT_THROW(of_source->send(2), usage_error);
         over = true;
       },
       s.in())
      .group("y");
  if (std::string(GetParam()) == "simulated") return;  // they would wait for each other without a stream
  p.run();
}

TEST_P(ends_test, forked_work_cannot_use_the_ends_of_its_object) {
  program p(runtime);
  auto s = p.stream<int>("s", capacity{2});
  p.object(
       "source",
       [](sukima::context c, out<int> to) {
         std::atomic<bool> refused{false};
         std::atomic<bool> begun{false};
         sukima::fork2(
             c,
             [&](sukima::context below) {
               while (!begun) sukima::fork2(below, [] {}, [] {});
             },
             [&] {
               begun = true;
               try {
                 to.send(1);
               } catch (const usage_error&) {
                 refused = true;
               }
             });
         EXPECT_TRUE(refused);
       },
       s.out())
      .stack(1 << 20);
  p.object("sink", [](in<int> from) { EXPECT_FALSE(from.receive()); }, s.in());
  p.run();
}

TEST_P(ends_test, ends_are_refused_outside_a_program) {
  program p(runtime);
  auto s = p.stream<int>("s", capacity{2});
  auto to = s.out();
  EXPECT_THROW(to.send(1), usage_error);
}

}  // namespace
