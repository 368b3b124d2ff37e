// SPDX-License-Identifier: Apache-2.0
// Sends and receives without waiting or with a time limit, selects among many streams, and stops a source.
#include <sukima/objects.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using sukima::objects::capacity;
using sukima::objects::in;
using sukima::objects::out;
using sukima::objects::send_result;

namespace {

/// Sends 1 to 14: without waiting, with a limit of time, and several numbers at once.
void produce(out<int> to) {
  int next = 1;
  while (next <= 10)
    if (to.try_send(next) == send_result::sent) ++next;  // else there is no room now
  while (to.send_for(next, 1h) == send_result::full) {
  }
  to.send_all(std::vector{12, 13, 14});
}

void consume(in<int> from) {
  int sum = from.receive_for(1h).value_or(0);
  std::array<int, 4> several{};
  while (!from.is_closed()) {
    sum += from.try_receive().value_or(0);
    const std::size_t count = from.receive_some(several);
    for (std::size_t i = 0; i < count; ++i) sum += several[i];
  }
  std::printf("sum %d\n", sum);
}

/// Counts until the program is stopped, or no receiver is left.
void count(out<int> to) {
  for (int n = 1; !to.stop_requested() && !to.is_broken(); ++n) to.send(n);
}

/// Receives from all streams, and answers each number as soon as there is room.
void answer(std::vector<in<int>> from, out<int> to) {
  std::vector<int> waiting;
  int received = 0;
  const auto keep = [&](std::size_t, int number) {
    waiting.push_back(number);
    ++received;
  };
  while (received < 6 || !waiting.empty()) {
    int next = waiting.empty() ? 0 : 2 * waiting.back();
    if (waiting.empty())
      sukima::objects::select(sukima::objects::on_any(from, keep));
    else
      sukima::objects::select(to.on_room(next, [&] { waiting.pop_back(); }));
  }
}

}  // namespace

int main(int argc, char** argv) {
  sukima::objects::program p(argc, argv);
  const auto numbers = p.stream<int>("numbers", capacity{4});
  p.object("produce", produce, numbers.out());
  p.object("consume", consume, numbers.in());

  const auto endless = p.stream<int>("endless");
  p.object("count", count, endless.out());
  p.object(
       "stop",
       [&p](in<int> from) {
         for (const int n : from)
           if (n == 1000) p.stop();
       },
       endless.in())
      .at_home();  // it uses `p`, which the other processes have copies of

  std::vector<in<int>> questions;
  for (const char* const name : {"left", "right"}) {
    const auto one = p.stream<int>(name);
    p.object(std::string("ask ") + name, [](out<int> to) { to.send_all(std::array{1, 2, 3}); }, one.out());
    questions.push_back(one.in());
  }
  const auto answers = p.stream<int>("answers");
  p.object("answer", answer, std::move(questions), answers.out());
  int sum = 0;
  p.object(
       "sum",
       [&sum](in<int> from) {
         for (const int n : from) sum += n;
       },
       answers.in())
      .at_home();
  p.run();
  std::printf("answers %d\n", sum);
}
