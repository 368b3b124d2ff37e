// SPDX-License-Identifier: Apache-2.0
// A client that asks one of two servers, by a number that looks random: which one, no input says.
#include <sukima/objects.hpp>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace {

using sukima::objects::in;
using sukima::objects::out;

constexpr int questions = 2000;

void answer(in<int> from, out<int> to) {
  for (const int question : from) to.send(question + 1);
}

void ask(std::vector<out<int>> to, std::vector<in<int>> from, long* sum) {
  unsigned state = 1;
  for (int i = 0; i < questions; ++i) {
    state = state * 1664525u + 1013904223u;
    const unsigned which = state >> 31;
    to[which].send(i);
    *sum += from[which].receive().value_or(0);
  }
}

}  // namespace

/// choice_program [TEXT] appends the text to the names of the replies.
int main(int argc, char** argv) {
  sukima::objects::program p(argc, argv);
  std::vector<out<int>> to;
  std::vector<in<int>> from;
  for (const std::string number : {"0", "1"}) {
    const auto question = p.stream<int>("question " + number);
    const auto reply = p.stream<int>("reply " + number + (argc > 1 ? argv[1] : ""));
    p.object("server " + number, answer, question.in(), reply.out());
    to.push_back(question.out());
    from.push_back(reply.in());
  }
  long sum = 0;
  p.object("client", ask, std::move(to), std::move(from), &sum).at_home();
  p.run();
  std::printf("%ld\n", sum);
}
