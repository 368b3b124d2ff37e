// SPDX-License-Identifier: Apache-2.0
// Recordings of programs as descriptions.
#include <gtest/gtest.h>

#include <cmath>

#include <objects/recording.hpp>

#include "shared/console.hpp"

namespace {

using namespace sukima::objects::model;
using sukima::cli::objects::description_of;

constexpr const char* head =
    "sukima-objects-recording 1\nseen 1.5 whole\nstream 8 64 travels a b\nstream 32 4 local c\n";

description read(const std::string& rest) { return description_of(head + rest + "end\n", "program"); }

TEST(recordings, of_a_pipeline) {
  const description seen = read(
      "object 1000 12.5 3 source\ngroup left\nsends 0 first 1000\n"
      "object 1000 400 0 filter\nreceives 0 1000\nsends 1 0 20\nsends 1 first 0\n"
      "object 20 7 7 sink\nblocks 30\nreceives 1 20\n");
  EXPECT_EQ(seen.program, "program");
  const recorded_part part = seen.recorded.value_or(recorded_part{0, false});
  EXPECT_EQ(part.seconds, 1.5);
  EXPECT_TRUE(part.whole);
  EXPECT_EQ(seen.streams[0].name, "a b");
  EXPECT_FALSE(seen.streams[0].local);
  EXPECT_TRUE(seen.streams[1].local);
  EXPECT_EQ(seen.streams[1].bytes, 32u);
  EXPECT_EQ(seen.streams[1].capacity, 4u);
  EXPECT_EQ(seen.objects[0].starts, 1000);
  EXPECT_EQ(seen.objects[0].group, "left");
  EXPECT_EQ(seen.objects[0].compute_ns, 12.5);
  EXPECT_EQ(seen.objects[1].starts, 0);
  EXPECT_EQ(seen.objects[1].blocked_ns, 0);
  EXPECT_EQ(seen.objects[2].blocked_ns, 30);
  EXPECT_NEAR(seen.objects[1].sends[0].per_input, 0.02, 1e-9);
  const flow all = flow_of(seen);
  EXPECT_NEAR(all.messages[1], 20, 1e-6);
}

TEST(recordings, of_a_client_and_its_server_end_as_the_client_does) {
  const description seen = read(
      "object 500 10 0 client\nreceives 1 500\nsends 0 first 1\nsends 0 1 499\n"
      "object 500 10 0 server\nreceives 0 500\nsends 1 0 499\n");
  EXPECT_EQ(seen.objects[0].starts, 1);
  EXPECT_EQ(seen.objects[0].sends[0].per_input, 1)
      << "or the first request would wait for a second computation";
  EXPECT_EQ(seen.objects[0].activations, 500);
  EXPECT_EQ(seen.objects[1].sends[0].per_input, 1) << "the last one had not answered yet";
  EXPECT_FALSE(seen.objects[1].activations);
  EXPECT_NEAR(flow_of(seen).messages[1], 500, 1);
}

TEST(recordings, of_a_server_of_several_clients_lose_no_request) {
  // Each client asks 1000 times, then says that it asks no more.
  const std::string clients =
      "stream 8 8 travels d\n"
      "object 1001 10 0 client\nreceives 1 1000\nsends 0 first 1\nsends 0 1 1000\n"
      "object 1001 10 0 other\nreceives 2 1000\nsends 0 first 1\nsends 0 2 1000\n";
  const description seen =
      read(clients + "object 2002 10 0 server\nreceives 0 2002\nsends 1 0 1000\nsends 2 0 1000\n");
  ASSERT_EQ(seen.objects[2].sends.size(), 2u);
  EXPECT_DOUBLE_EQ(seen.objects[2].sends[0].per_input, 0.5);
  EXPECT_DOUBLE_EQ(seen.objects[2].sends[0].per_input + seen.objects[2].sends[1].per_input, 1);
  const description fewer =
      read(clients + "object 2002 10 0 server\nreceives 0 2002\nsends 1 0 900\nsends 2 0 900\n");
  EXPECT_NEAR(fewer.objects[2].sends[0].per_input, 900 / 2002.0, 1e-9) << "it does not answer all";
}

TEST(recordings, of_a_client_that_chooses_a_server_always_ask_one) {
  // It asks 2000 times, one of two servers by a random number.
  const description seen = read(
      "stream 8 8 travels d\nstream 8 8 travels e\n"
      "object 2000 10 0 client\nreceives 2 997\nreceives 3 1003\n"
      "sends 0 first 1\nsends 0 2 500\nsends 0 3 496\nsends 1 2 497\nsends 1 3 506\n"
      "object 997 10 0 one\nreceives 0 997\nsends 2 0 997\n"
      "object 1003 10 0 other\nreceives 1 1003\nsends 3 1 1003\n");
  const object& client = seen.objects[0];
  ASSERT_EQ(client.sends.size(), 2u);
  EXPECT_FALSE(client.sends[0].input || client.sends[1].input);
  EXPECT_DOUBLE_EQ(client.sends[0].per_input + client.sends[1].per_input, 1);
  EXPECT_NEAR(client.sends[0].per_input, 997 / 2000.0, 1e-9);
  EXPECT_EQ(client.starts, 1);
  EXPECT_EQ(client.activations, 2000);
}

TEST(recordings, distinguish_inputs) {
  const description seen = read(
      "stream 8 2 travels d\nobject 100 1 0 x\nsends 0 first 100\n"
      "object 50 1 0 y\nsends 1 first 50\n"
      "object 150 1 0 both\nreceives 0 100\nreceives 1 50\nsends 2 0 100\nsends 2 1 100\n"
      "object 200 1 0 z\nreceives 2 200\n");
  ASSERT_EQ(seen.objects[2].sends.size(), 2u);
  EXPECT_EQ(seen.objects[2].sends[0].input, 0u);
  EXPECT_EQ(seen.objects[2].sends[0].per_input, 1);
  EXPECT_EQ(seen.objects[2].sends[1].per_input, 2);
}

TEST(recordings, of_objects_that_share_a_stream_are_equal) {
  // All objects take turns in a recorded run, so one worker got nearly all the messages, and another none.
  const description seen = read(
      "object 900 20 0 source\nsends 0 first 900\n"
      "object 600 100 30 first\nreceives 0 600\nsends 1 0 600\nsends 1 first 0\nblocks 45\n"
      "object 300 400 30 second\nreceives 0 300\nsends 1 0 300\nsends 1 first 0\n"
      "object 0 0 0 third\nreceives 0 0\nsends 1 first 0\n"
      "object 900 5 0 sink\nreceives 1 900\n");
  for (std::size_t worker = 1; worker <= 3; worker++) {
    EXPECT_DOUBLE_EQ(seen.objects[worker].compute_ns, 200) << worker;
    EXPECT_DOUBLE_EQ(seen.objects[worker].blocked_ns, 30) << worker;
    EXPECT_NEAR(seen.objects[worker].spread_ns, std::hypot(30, 100 * std::sqrt(2)), 1e-6) << worker;
    ASSERT_EQ(seen.objects[worker].sends.size(), 1u);
    EXPECT_EQ(seen.objects[worker].sends[0].per_input, 1) << worker;
  }
  const flow all = flow_of(seen);
  EXPECT_NEAR(all.activations[3], 300, 1e-6);
  EXPECT_NEAR(all.messages[1], 900, 1e-6) << "no message is lost";
}

TEST(recordings, of_objects_with_an_input_of_their_own_are_different) {
  const description seen = read(
      "stream 8 8 travels d\nobject 100 1 0 x\nsends 0 first 100\nsends 2 first 100\n"
      "object 50 10 0 one\nreceives 0 50\nsends 1 0 50\n"
      "object 150 20 0 other\nreceives 0 50\nreceives 2 100\nsends 1 0 50\nsends 1 2 100\n"
      "object 200 1 0 z\nreceives 1 200\n");
  EXPECT_EQ(seen.objects[1].compute_ns, 10);
  EXPECT_EQ(seen.objects[2].compute_ns, 20);
}

TEST(recordings, that_are_not_descriptions_are_refused) {
  const auto refusal_of = [](const std::string& text) -> std::string {
    try {
      description_of(text, "program");
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_NE(refusal_of("").find("not complete"), std::string::npos);
  EXPECT_NE(refusal_of(std::string(head)).find("not complete"), std::string::npos);
  EXPECT_NE(refusal_of(std::string(head) + "object 1 1 1 x\nsends 9 first 1\nend\n").find("not complete"),
            std::string::npos);
  EXPECT_NE(refusal_of(std::string(head) + "object 1 1\nend\n").find("not complete"), std::string::npos);
  EXPECT_NE(refusal_of("sukima-objects-recording 1\nseen 1 failed\nend\n").find("failed"), std::string::npos);
  EXPECT_NE(refusal_of(std::string(head) + "object 1 1 1 x\nsends 0 first 1\nend\n")
                .find("receives from the stream"),
            std::string::npos);
}

}  // namespace
