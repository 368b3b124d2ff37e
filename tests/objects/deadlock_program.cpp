// SPDX-License-Identifier: Apache-2.0
// Programs whose objects wait for one another, for deadlocks_test.cpp: deadlock_program SCENARIO prints how
// it ended.
#include <sukima/objects.hpp>
#include <sukima/sukima.hpp>

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <string>
#include <thread>

#include "text_codec.hpp"

namespace {

using sukima::objects::capacity;
using sukima::objects::in;
using sukima::objects::out;
using sukima::objects::program;

void receive_one(in<int> from, out<int>) { from.receive(); }

/// Three objects in a ring, none of which begins. Two of them are in one group.
void ring(program& p) {
  auto a = p.stream<int>("a", capacity{2});
  auto b = p.stream<int>("b", capacity{2});
  auto c = p.stream<int>("c", capacity{2});
  p.object("first", receive_one, c.in(), a.out()).group("g");
  p.object("second", receive_one, a.in(), b.out()).group("g");
  p.object("third", receive_one, b.in(), c.out());
}

/// The client sends more than the streams hold before it receives.
void no_room(program& p) {
  auto questions = p.stream<int>("questions", capacity{2});
  auto replies = p.stream<int>("replies", capacity{2});
  p.object(
      "client",
      [](out<int> ask, in<int> from) {
        for (int i = 0; i < 20; ++i) ask.send(i);
        for (int i = 0; i < 20; ++i) from.receive();
      },
      questions.out(), replies.in());
  p.object(
       "server",
       [](in<int> from, out<int> reply) {
         for (const int q : from) reply.send(q);
       },
       questions.in(), replies.out())
      .at_home();
}

/// A full stream of encoded messages, and two senders that wait for room in it.
void full_of_texts(program& p) {
  auto texts = p.stream<text>("texts", capacity{1024});
  auto never = p.stream<int>("never");
  const auto fill = [](out<text> to, in<int>) {
    for (;;) to.send({std::string(8000, 'x')});
  };
  auto end = texts.out();
  p.object("left", fill, end.share(), never.in());
  p.object("right", fill, std::move(end), never.in());
  p.object(
      "reader",
      [](in<text> from, out<int> to) {
        for (;;) to.send(0);
        from.receive();
      },
      texts.in(), never.out());
}

/// Two that wait in a select for one another, beside two that go on for ever.
void some(program& p) {
  auto a = p.stream<int>("a", capacity{2});
  auto b = p.stream<int>("b", capacity{2});
  auto none = p.stream<int>("none", capacity{2});
  const auto choose = [](in<int> one, in<int> other, out<int>, out<int>) {
    sukima::objects::select(one.on([](int) {}), other.on([](int) {}));
  };
  auto rest = none.out();
  p.object("first", choose, a.in(), none.in(), b.out(), rest.share());
  p.object("second", choose, b.in(), none.in(), a.out(), std::move(rest));
  auto forth = p.stream<int>("forth", capacity{1});
  auto back = p.stream<int>("back", capacity{1});
  const auto pass_on = [](in<int> from, out<int> to, bool begins) {
    if (begins) to.send(0);
    for (const int v : from) to.send(v);
  };
  p.object("ping", pass_on, back.in(), forth.out(), true);
  p.object("pong", pass_on, forth.in(), back.out(), false).at_home();
}

/// One process is killed; the objects that stay wait for one another.
void after_a_crash(program& p) {
  auto a = p.stream<int>("a", capacity{2});
  auto b = p.stream<int>("b", capacity{2});
  auto word = p.stream<int>("word", capacity{2});
  p.object(
      "culprit",
      [](in<int> from) {
        from.receive();
        raise(SIGKILL);
      },
      word.in());
  p.object(
      "first",
      [](in<int> from, out<int>, out<int> to) {
        to.send(1);
        from.receive();
      },
      a.in(), b.out(), word.out());
  p.object("second", receive_one, b.in(), a.out()).at_home();
}

/// Messages come after pauses longer than the search takes, and until then streams are idle.
void slow(program& p) {
  auto a = p.stream<int>("a", capacity{1});
  auto b = p.stream<int>("b", capacity{1});
  p.object(
      "slow",
      [](in<int> from, out<int> to) {
        for (int v : from) {
          sukima::blocking([] { std::this_thread::sleep_for(std::chrono::milliseconds(1300)); });
          to.send(v);
        }
      },
      a.in(), b.out());
  p.object(
       "asks",
       [](out<int> to, in<int> from) {
         int got = 0;
         for (int i = 0; i < 2; ++i) {
           to.send(i);
           if (from.receive()) ++got;
         }
         std::printf("%d answers\n", got);
       },
       a.out(), b.in())
      .at_home();
}

}  // namespace

int main(int argc, char** argv) {
  program p(argc, argv);
  const std::string scenario = argc == 2 ? argv[1] : "";
  if (scenario == "ring")
    ring(p);
  else if (scenario == "no room")
    no_room(p);
  else if (scenario == "full of texts")
    full_of_texts(p);
  else if (scenario == "some")
    some(p);
  else if (scenario == "after a crash")
    after_a_crash(p);
  else if (scenario == "slow")
    slow(p);
  else
    return 2;
  try {
    p.run();
    std::puts("over");
  } catch (const sukima::objects::deadlock& e) {
    std::printf("deadlock: %s\n", e.what());
  } catch (const std::exception& e) {
    std::printf("error: %s\n", e.what());
  }
}
