// Concurrent objects: a source of readings, a filter and a sink, and a controller that selects.
#include <sukima/objects.hpp>

#include <cstdio>

using sukima::objects::capacity;
using sukima::objects::in;
using sukima::objects::out;

struct reading {
  int sensor;
  double value;
};

void measure(out<reading> to, int sensor, int count) {
  for (int i = 0; i < count; ++i) to.send({sensor, i * 0.5});
}
void filter(in<reading> from, out<reading> to, double limit) {
  for (const reading& r : from)
    if (r.value > limit) to.send(r);
}
void merge(in<reading> left, in<reading> right, out<double> to) {
  int served[2] = {0, 0};
  const auto pass = [&](const reading& r) {
    ++served[r.sensor];
    to.send(r.value);
  };
  while (sukima::objects::select(left.on(pass), right.on(pass))) {
  }
  std::printf("%d of the left sensor, %d of the right one\n", served[0], served[1]);
}

int main(int argc, char** argv) {
  sukima::objects::program p(argc, argv);
  const auto raw = p.stream<reading>("raw");
  const auto left = p.stream<reading>("left", capacity{256});
  const auto right = p.stream<reading>("right");
  const auto values = p.stream<double>("values");
  double sum = 0;
  p.object("measure left", measure, raw.out(), 0, 1000).group("left");
  p.object("filter", filter, raw.in(), left.out(), 450.0).group("left");
  p.object("measure right", measure, right.out(), 1, 10);
  p.object("merge", merge, left.in(), right.in(), values.out());
  p.object(
       "sum",
       [&sum](in<double> from) {
         for (const double v : from) sum += v;
       },
       values.in())
      .at_home();
  p.run();
  std::printf("sum %.1f\n", sum);
}
