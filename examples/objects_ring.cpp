// A ring of objects that hand a token round until it has been passed so often.
// Arguments: how many objects, how many rounds.
#include <sukima/objects.hpp>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

using sukima::objects::capacity;
using sukima::objects::in;
using sukima::objects::out;

/// Adds one to the token. The first object starts it, and keeps it after so many rounds.
void member(in<long> before, out<long> after, long rounds, long& passed) {
  if (rounds > 0) after.send(0);
  while (const auto token = before.receive()) {
    if (rounds == 1) {
      passed = *token + 1;
      return;
    }
    --rounds;
    after.send(*token + 1);
  }
}

int main(int argc, char** argv) {
  const int objects = argc > 1 ? std::atoi(argv[1]) : 1000;
  const long rounds = argc > 2 ? std::atol(argv[2]) : 100;
  sukima::objects::program p(argc, argv);
  std::vector<sukima::objects::stream<long>> streams;
  for (int i = 0; i < objects; ++i) streams.push_back(p.stream<long>("to " + std::to_string(i), capacity{1}));
  long passed = 0;
  for (int i = 0; i < objects; ++i) {
    auto one = p.object("member " + std::to_string(i), member, streams[static_cast<std::size_t>(i)].in(),
                        streams[static_cast<std::size_t>((i + 1) % objects)].out(), i == 0 ? rounds : 0,
                        std::ref(passed));
    if (i == 0) one.at_home();
  }
  p.run();
  std::printf("passed %ld times\n", passed);
}
