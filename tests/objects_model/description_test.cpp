// SPDX-License-Identifier: Apache-2.0
// The description of a program of objects: reading, refusing, writing, and what follows from it.
#include <gtest/gtest.h>

#include <objects/shared/description.hpp>

namespace {

using namespace sukima::objects::model;

constexpr const char* pipeline = R"({"sukima-objects": 1, "program": "log",
  "streams": [{"name": "raw", "bytes": 16}, {"name": "good", "capacity": 256, "local": true}],
  "objects": [
    {"name": "source", "starts": 1000, "compute_ns": 20, "sends": [{"stream": "raw", "per_input": 2}]},
    {"name": "filter", "receives": ["raw"], "sends": [{"stream": "good", "per_input": 0.5}], "group": "a"},
    {"name": "sink", "receives": ["good"], "spread_ns": 3, "blocked_ns": 4, "unit": "process"}]})";

std::string with(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string refusal_of(const std::string& text) {
  try {
    flow_of(parse_description(text));
  } catch (const description_error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(description, is_read) {
  const description program = parse_description(pipeline);
  EXPECT_EQ(program.program, "log");
  ASSERT_EQ(program.objects.size(), 3u);
  ASSERT_EQ(program.streams.size(), 2u);
  EXPECT_EQ(program.streams[0].bytes, 16u);
  EXPECT_EQ(program.streams[0].capacity, 64u);
  EXPECT_EQ(program.streams[1].capacity, 256u);
  EXPECT_TRUE(program.streams[1].local);
  EXPECT_EQ(program.streams[1].senders, std::vector<std::size_t>{1});
  EXPECT_EQ(program.streams[1].receivers, std::vector<std::size_t>{2});
  EXPECT_EQ(program.objects[1].group, "a");
  EXPECT_EQ(program.objects[2].unit, unit::process);
  EXPECT_EQ(program.objects[0].compute_ns, 20);
  EXPECT_EQ(program.objects[0].blocked_ns, 0);
  EXPECT_EQ(program.objects[2].blocked_ns, 4);
}

TEST(description, is_written_and_read_again) {
  const std::string text = description_text(parse_description(pipeline));
  EXPECT_EQ(description_text(parse_description(text)), text);
}

TEST(description, refuses_with_the_place) {
  const std::string good = pipeline;
  EXPECT_EQ(refusal_of(with(good, "\"stream\": \"good\"", "\"stream\": \"bad\"")),
            "objects[1].sends[0].stream: there is no stream 'bad'");
  EXPECT_EQ(refusal_of(with(good, "\"name\": \"sink\"", "\"name\": \"filter\"")),
            "objects[2]: there are two objects 'filter'");
  EXPECT_EQ(refusal_of(with(good, "\"capacity\": 256", "\"capacity\": 0")),
            "streams[1].capacity: must be a whole number from 1 to 4294967296");
  EXPECT_EQ(refusal_of(with(good, "\"capacity\": 256", "\"capacity\": 2.5")),
            "streams[1].capacity: must be a whole number from 1 to 4294967296");
  EXPECT_EQ(refusal_of(with(good, "spread_ns", "spread")),
            "objects[2]: unknown member 'spread'; see docs/objects-planning.md");
  EXPECT_EQ(refusal_of(with(good, "\"process\"", "\"pipe\"")),
            "objects[2].unit: must be 'simulated', 'thread' or 'process'");
  EXPECT_EQ(refusal_of(with(good, "\"receives\": [\"good\"], ", "")),
            "objects[2]: receives nothing and never starts: give it 'starts' or 'receives'");
  EXPECT_EQ(refusal_of(with(good, "{\"stream\": \"raw\", \"per_input\": 2}", "")),
            "the description: no object sends to the stream 'raw'");
  EXPECT_EQ(refusal_of(with(good, "[\"good\"]", "[\"raw\"]")),
            "the description: no object receives from the stream 'good'");
  EXPECT_EQ(refusal_of(with(good, "objects\": 1", "objects\": 2")),
            "sukima-objects: only version 1 is known");
  EXPECT_EQ(refusal_of("{}"), "the description: the member 'sukima-objects' is missing");
  EXPECT_EQ(refusal_of(with(good, "\"name\": \"sink\"", "\"name\": \"sink\", \"name\": \"other\"")),
            "objects[2].name: is given twice; leave one of them out");
  EXPECT_NE(refusal_of(good.substr(0, 60)).find("is not JSON"), std::string::npos);
  EXPECT_NE(refusal_of(good.substr(0, 60)).find("line 2"), std::string::npos);
}

TEST(description, refuses_more_than_65536_objects) {
  std::string objects;
  for (int i = 0; i < 65537; i++)
    objects += (i == 0 ? "" : ",") + ("{\"name\":\"o" + std::to_string(i)) + "\",\"starts\":1}";
  EXPECT_EQ(refusal_of("{\"sukima-objects\":1,\"streams\":[],\"objects\":[" + objects + "]}"),
            "objects[65536]: there are more than 65536 objects");
}

TEST(flow, follows_the_messages) {
  const flow all = flow_of(parse_description(pipeline));
  EXPECT_EQ(all.activations, (std::vector<double>{1000, 2000, 1000}));
  EXPECT_EQ(all.messages, (std::vector<double>{2000, 1000}));
}

TEST(flow, of_a_server_answers_each_client_for_its_requests) {
  const flow all = flow_of(parse_description(R"({"sukima-objects": 1,
    "streams": [{"name": "q1"}, {"name": "q2"}, {"name": "r1"}, {"name": "r2"}],
    "objects": [
      {"name": "one", "starts": 1, "activations": 100, "receives": ["r1"], "sends": [{"stream": "q1"}]},
      {"name": "two", "starts": 1, "activations": 300, "receives": ["r2"], "sends": [{"stream": "q2"}]},
      {"name": "server", "receives": ["q1", "q2"],
       "sends": [{"stream": "r1", "for": "q1"}, {"stream": "r2", "for": "q2"}]}]})"));
  EXPECT_EQ(all.activations, (std::vector<double>{100, 300, 400}));
  EXPECT_EQ(all.messages, (std::vector<double>{100, 300, 100, 300}));
}

TEST(flow, of_an_endless_cycle_is_refused) {
  const std::string ring = R"({"sukima-objects": 1, "streams": [{"name": "a"}, {"name": "b"}], "objects": [
    {"name": "x", "starts": 1, "receives": ["b"], "sends": [{"stream": "a"}]},
    {"name": "y", "receives": ["a"], "sends": [{"stream": "b"}]}]})";
  EXPECT_NE(refusal_of(ring).find("is part of a cycle"), std::string::npos);
  const flow all =
      flow_of(parse_description(with(ring, "\"starts\": 1", "\"starts\": 1, \"activations\": 50")));
  EXPECT_EQ(all.activations, (std::vector<double>{50, 50}));
}

}  // namespace
