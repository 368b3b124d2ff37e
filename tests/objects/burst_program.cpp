// SPDX-License-Identifier: Apache-2.0
// Two objects: one sends a burst of messages of 64 bytes and waits for one answer, round by round.
// Arguments: messages in a burst, rounds.
#include <sukima/objects.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>

namespace {

using sukima::objects::in;
using sukima::objects::out;
using message = std::array<long, 8>;

void sender(long burst, long rounds, out<message> to, in<long> answers) {
  for (long round = 0; round < rounds; ++round) {
    for (long i = 0; i < burst; ++i) to.send({round + i});
    answers.receive();
  }
}

void receiver(long burst, in<message> from, out<long> answer, long& sum) {
  long received = 0;
  for (const message& m : from) {
    sum += m[0];
    if (++received % burst == 0) answer.send(received);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const long burst = argc > 1 ? std::atol(argv[1]) : 100, rounds = argc > 2 ? std::atol(argv[2]) : 100;
  if (burst < 1 || rounds < 1) {
    std::fprintf(stderr, "burst_program: give at least one message and one round\n");
    return 2;
  }
  sukima::objects::program p(argc, argv);
  // As many as a pipe of 64 KiB holds.
  const auto messages = p.stream<message>("messages", sukima::objects::capacity{1024});
  const auto answers = p.stream<long>("answers");
  long sum = 0;
  p.object("sender", sender, burst, rounds, messages.out(), answers.in());
  p.object("receiver", receiver, burst, messages.in(), answers.out(), std::ref(sum)).at_home();
  p.run();
  const long expected = burst * (burst - 1) / 2 * rounds + burst * rounds * (rounds - 1) / 2;
  std::printf("sum %ld, %s\n", sum, sum == expected ? "as expected" : "which is wrong");
  return sum == expected ? 0 : 1;
}
