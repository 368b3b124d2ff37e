// SPDX-License-Identifier: Apache-2.0
// What `sukima explain` says of sequential clones.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "explain/run_profile.hpp"
#include "explain_trace.hpp"
#include "shared/console.hpp"

namespace sukima::cli::explain {
namespace {

pretended_trace a_run() { return pretended_trace().worker(0).state(0, "working", 0, 1e6); }
auto clones_in(const pretended_trace& trace) { return parse_trace(trace.text(), "t.json").clones; }

TEST(explain_clones, says_where_they_ran_and_why_they_were_left) {
  const pretended_trace trace = a_run()
                                    .clones("fib(int)", 7, 25'000, 0)
                                    .clones("fib(int)", 8, 15'000, 1000)
                                    .clones("fib(int)", 10, 6000, 234)
                                    .clone_polls("fib(int)", 12, 3, 1);
  EXPECT_EQ(
      text_of(clones_in(trace)),
      "\nShort calls that ran as sequential clones, by place:\n"
      "  fib(int)\n"
      "    1234 clones at depth 8 to 10, expected to take 6 µs to 15 µs\n"
      "    when others wanted something: 12 gave older work away and went on, 3 had none and ran the rest in "
      "parallel, 1 were aborted\n");
}

TEST(explain_clones, says_what_calls_take_where_none_ran) {
  const auto clones =
      clones_in(a_run().clones("x.cpp:3:7", 0, 2'000'000, 0).clone_polls("x.cpp:3:7", 0, 0, 0));
  EXPECT_EQ(text_of(clones),
            "\nShort calls that ran as sequential clones, by place:\n"
            "  x.cpp:3:7\n"
            "    no clones: calls take 2 ms\n");
}

TEST(explain_clones, says_nothing_about_programs_that_cannot_have_any) {
  EXPECT_EQ(text_of(clones_in(a_run())), "");
  EXPECT_EQ(json_of(clones_in(a_run())).dump(), "[]");
}

TEST(explain_clones, adds_up_instances_of_one_place) {
  const auto clones = clones_in(a_run()
                                    .clones("a", 2, 4000, 5)
                                    .clone_polls("a", 1, 2, 3)
                                    .clones("a", 2, 9000, 6)
                                    .clone_polls("a", 10, 20, 30));
  EXPECT_EQ(json_of(clones), nlohmann::json::parse(R"([{"place": "a", "clones": 11,
    "depths": [{"depth": 2, "expected": 9e-6, "clones": 11}],
    "polls": {"served": 11, "left_for_work": 22, "left_for_abort": 33}}])"));
}

TEST(explain_clones, shows_the_places_with_most_clones) {
  pretended_trace trace = a_run();
  for (unsigned i = 0; i < 20; ++i) trace.clones("place " + std::to_string(i), 1, 1000, i);
  const std::string text = text_of(clones_in(trace));
  EXPECT_LT(text.find("place 19\n"), text.find("place 18\n"));
  EXPECT_EQ(text.find("place 11\n"), std::string::npos) << text;
  EXPECT_NE(text.find("and 12 places with fewer clones"), std::string::npos) << text;
}

TEST(explain_clones, shows_no_control_characters_of_the_file) {
  EXPECT_EQ(text_of(clones_in(a_run().clones("a\\u001b[2J", 0, 1, 1))).find('\033'), std::string::npos);
}

TEST(explain_clones, refuses_incomplete_counts) {
  for (const char* event :
       {R"("name":"clones","args":{"place":"a","depth":1,"expected_ns":3})",
        R"("name":"clones","args":{"depth":1,"expected_ns":3,"clones":1})",
        R"("name":"clones","args":{"place":"a","depth":123456789,"expected_ns":3,"clones":1})",
        R"("name":"clone_polls","args":{"place":"a","served":1,"left_for_work":2})"}) {
    std::string text = a_run().text();
    text.insert(text.find('[') + 1, R"({"ph":"M",)" + std::string(event) + "},");
    EXPECT_THROW(parse_trace(text, "t.json"), process::usage_error) << event;
  }
}

}  // namespace
}  // namespace sukima::cli::explain
