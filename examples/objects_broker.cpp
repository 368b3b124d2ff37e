// A request broker: clients ask, the broker hands their requests to a pool of workers and brings the
// answers back.
// Argument: how many requests each client sends.
#include <sukima/objects.hpp>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

using sukima::objects::in;
using sukima::objects::out;

struct request {
  int client;
  long number;  ///< below 0: the client asks no more
};
struct answer {
  int client;
  long steps;
};

/// Steps of Collatz's sequence from n to 1.
long steps_from(long n) {
  long steps = 0;
  for (; n != 1; ++steps) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
  return steps;
}

void client(int number, long count, out<request> ask, in<answer> answers, out<long> sums) {
  long sum = 0;
  for (long i = 1; i <= count; ++i) {
    ask.send({number, 1000 * number + i});
    if (const auto a = answers.receive()) sum += a->steps;
  }
  ask.send({number, -1});
  sums.send(sum);
}

void broker(in<request> requests, in<answer> results, out<request> work, std::vector<out<answer>> replies) {
  std::size_t clients = replies.size(), working = 0;
  while (clients + working != 0)
    sukima::objects::select(requests.on([&](const request& r) {
      if (r.number < 0) {
        --clients;
      } else {
        ++working;
        work.send(r);
      }
    }),
                            results.on([&](const answer& a) {
                              --working;
                              replies[static_cast<std::size_t>(a.client)].send(a);
                            }));
}

void worker(in<request> work, out<answer> results) {
  for (const request& r : work) results.send({r.client, steps_from(r.number)});
}

void total(in<long> sums, long& all) {
  for (const long one : sums) all += one;
}

int main(int argc, char** argv) {
  const long count = argc > 1 ? std::atol(argv[1]) : 2000;
  constexpr int clients = 3, workers = 4;
  sukima::objects::program p(argc, argv);
  const auto requests = p.stream<request>("requests"), work = p.stream<request>("work");
  const auto results = p.stream<answer>("results");
  std::vector<out<answer>> replies;
  const auto sums = p.stream<long>("sums");
  for (int i = 0; i < clients; ++i) {
    const auto replies_to = p.stream<answer>("replies to " + std::to_string(i));
    replies.push_back(replies_to.out());
    p.object("client " + std::to_string(i), client, i, count, requests.out(), replies_to.in(), sums.out());
  }
  p.object("broker", broker, requests.in(), results.in(), work.out(), std::move(replies));
  for (int i = 0; i < workers; ++i) p.object("worker " + std::to_string(i), worker, work.in(), results.out());
  long expected = 0, sum = 0;
  p.object("total", total, sums.in(), std::ref(sum)).at_home();
  p.run();
  for (int i = 0; i < clients; ++i)
    for (long k = 1; k <= count; ++k) expected += steps_from(1000 * i + k);
  std::printf("%ld steps, %s\n", sum, sum == expected ? "as expected" : "which is wrong");
  return sum == expected ? 0 : 1;
}
