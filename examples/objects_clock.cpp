// SPDX-License-Identifier: Apache-2.0
// A timer as a stream, an object that sleeps, and a stream that keeps the newest messages.
#include <sukima/objects.hpp>

#include <chrono>
#include <cstdint>
#include <iostream>

using namespace std::chrono_literals;
using sukima::objects::capacity;
using sukima::objects::in;
using sukima::objects::out;
using sukima::objects::overflow;
using sukima::objects::tick;

namespace {

void measure(out<int> to) {
  for (int i = 1; i <= 1000; ++i) {
    to.send(i);  // never waits: the display needs only the newest value
    if (i % 250 == 0) sukima::objects::sleep_for(1ms);
  }
  sukima::objects::sleep_until(std::chrono::steady_clock::now() + 1ms);
}

void display(in<tick> clock, in<int> values) {
  for (int i = 0; i < 3; ++i) clock.receive();
  std::cout << "3 ticks\n";
  std::uint64_t seen = 0;
  int newest = 0;
  for (const int v : values) {
    newest = v;
    ++seen;
  }
  std::cout << "newest value: " << newest << '\n';
  std::cout << "seen or dropped: " << seen + values.dropped() << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  sukima::objects::program p(argc, argv);
  const auto clock = p.timer("clock", 2ms);
  const auto values = p.stream<int>("values", capacity{1}, overflow::drop_oldest);
  p.object("measure", measure, values.out());
  p.object("display", display, clock.in(), values.in());
  return p.run();
}
