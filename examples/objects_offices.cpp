// Branch offices, each with a database server and clients. A client asks its own server; what the next office
// has, the server asks for there. The program of "Evaluation of Execution System for Concurrent Objects on
// Shared Memory Multiprocessors" by Aoyagi and others: with two offices of two clients each, eight messages a
// round stay within the offices, and two go between them.
// Arguments: offices, clients in each, rounds.
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
  int office;  ///< whose data
  int client;
  long key;  ///< below 0: this client, or the clients of the office before, ask no more
};
struct answer {
  int client;
  long value;
};

constexpr long value_of(int office, long key) { return 1000 * office + key % 7; }

/// Of the first client every other question is for the next office.
constexpr int office_for(int own, int offices, int client, long round) {
  return client == 0 && round % 2 == 1 ? (own + 1) % offices : own;
}

void client(int office, int offices, int number, long rounds, out<request> ask, in<answer> answers,
            out<long> sums) {
  long sum = 0;
  for (long round = 0; round < rounds; ++round) {
    ask.send({office_for(office, offices, number, round), number, round});
    if (const auto a = answers.receive()) sum += a->value;
  }
  ask.send({office, number, -1});
  sums.send(sum);
}

/// It serves its clients and the office before, and asks the next one.
void server(int office, in<request> requests, std::vector<out<answer>> replies, in<request> from_before,
            out<answer> to_before, out<request> to_next, in<answer> from_next) {
  std::size_t clients = replies.size();
  bool asked = true;  // by the office before
  const auto reply = [&](const answer& a) { replies[static_cast<std::size_t>(a.client)].send(a); };
  const auto from_client = [&](const request& r) {
    if (r.key < 0) {
      if (--clients == 0) to_next.send(r);
    } else if (r.office == office) {
      reply({r.client, value_of(office, r.key)});
    } else {
      to_next.send(r);
    }
  };
  const auto from_office = [&](const request& r) {
    if (r.key < 0)
      asked = false;
    else
      to_before.send({r.client, value_of(office, r.key)});
  };
  while (clients != 0 || asked)
    sukima::objects::select(requests.on(from_client), from_before.on(from_office), from_next.on(reply));
}

void total(in<long> sums, long& all) {
  for (const long one : sums) all += one;
}

int main(int argc, char** argv) {
  const int offices = argc > 1 ? std::atoi(argv[1]) : 2, clients = argc > 2 ? std::atoi(argv[2]) : 2;
  const long rounds = argc > 3 ? std::atol(argv[3]) : 2000;
  if (offices < 1 || clients < 1 || rounds < 0) {
    std::fprintf(stderr, "objects_offices: give at least one office and one client\n");
    return 2;
  }
  sukima::objects::program p(argc, argv);
  // Number i is between office i and the next one.
  std::vector<sukima::objects::stream<request>> questions;
  std::vector<sukima::objects::stream<answer>> answers;
  for (int i = 0; i < offices; ++i) {
    questions.push_back(p.stream<request>("questions of " + std::to_string(i)));
    answers.push_back(p.stream<answer>("answers to " + std::to_string(i)));
  }
  const auto sums = p.stream<long>("sums");
  long expected = 0, sum = 0;
  for (int i = 0; i < offices; ++i) {
    const std::string name = "office " + std::to_string(i);
    const auto requests = p.stream<request>(name + " requests");
    std::vector<out<answer>> replies;
    for (int k = 0; k < clients; ++k) {
      const auto replies_to = p.stream<answer>(name + " replies " + std::to_string(k));
      replies.push_back(replies_to.out());
      p.object(name + " client " + std::to_string(k), client, i, offices, k, rounds, requests.out(),
               replies_to.in(), sums.out())
          .group(name);
      for (long r = 0; r < rounds; ++r) expected += value_of(office_for(i, offices, k, r), r);
    }
    const auto own = static_cast<std::size_t>(i);
    const auto before = static_cast<std::size_t>((i + offices - 1) % offices);
    p.object(name + " server", server, i, requests.in(), std::move(replies), questions[before].in(),
             answers[before].out(), questions[own].out(), answers[own].in())
        .group(name);
  }
  p.object("total", total, sums.in(), std::ref(sum)).at_home();
  p.run();
  std::printf("sum %ld, %s\n", sum, sum == expected ? "as expected" : "which is wrong");
  return sum == expected ? 0 : 1;
}
