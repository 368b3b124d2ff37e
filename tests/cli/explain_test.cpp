// SPDX-License-Identifier: Apache-2.0
// The parts of `sukima explain`: periods, reading traces, profiles, diagnoses, text.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "explain/run_profile.hpp"
#include "explain_trace.hpp"
#include "shared/console.hpp"

namespace sukima::cli::explain {
namespace {

std::vector<runtime_profile> profiles_in(const std::string& text) {
  return profiles_of(parse_trace(text, "t.json"));
}

TEST(explain_periods, are_merged_in_order) {
  EXPECT_EQ(merged({{5, 6}, {1, 2}, {2, 3}, {1, 1}, {4, 3}, {5.5, 7}}), (periods{{1, 3}, {5, 7}}));
  EXPECT_EQ(merged({}), periods{});
}

TEST(explain_periods, have_parts_in_common) {
  EXPECT_EQ(common({{0, 2}, {3, 5}}, {{1, 4}}), (periods{{1, 2}, {3, 4}}));
  EXPECT_EQ(common({{0, 1}}, {{1, 2}}), periods{});
}

TEST(explain_periods, can_be_taken_away) {
  EXPECT_EQ(without({{0, 10}}, {{-1, 1}, {2, 3}, {9, 11}}), (periods{{1, 2}, {3, 9}}));
  EXPECT_EQ(without({{0, 1}, {2, 3}, {4, 5}}, {{0.5, 2.5}}), (periods{{0, 0.5}, {2.5, 3}, {4, 5}}));
  EXPECT_EQ(without({{1, 2}}, {{0, 3}}), periods{});
  EXPECT_EQ(without({{1, 2}}, {}), (periods{{1, 2}}));
}

/// Each of many random lists, moment by moment.
TEST(explain_periods, agree_with_a_look_at_each_moment) {
  std::mt19937 random(1);
  const auto number_below = [&](int end) { return std::uniform_int_distribution(0, end - 1)(random); };
  const auto draw = [&] {
    periods list;
    for (int i = number_below(6); i > 0; --i) {
      const double from = number_below(20);
      list.push_back({from, from + number_below(6)});
    }
    return list;
  };
  const auto has = [](const periods& list, double moment) {
    return std::ranges::any_of(list, [&](const period& p) { return p.from <= moment && moment < p.to; });
  };
  for (int i = 0; i < 2000; ++i) {
    const periods a = draw();
    const periods b = draw();
    const periods both = common(merged(a), merged(b));
    const periods rest = without(merged(a), merged(b));
    for (double t = 0.5; t < 27; ++t) {
      ASSERT_EQ(has(merged(a), t), has(a, t));
      ASSERT_EQ(has(both, t), has(a, t) && has(b, t));
      ASSERT_EQ(has(rest, t), has(a, t) && !has(b, t));
    }
  }
}

TEST(explain_profile, shares_out_the_time_of_each_worker) {
  const auto profiles = profiles_in(pressed_trace());
  ASSERT_EQ(profiles.size(), 1U);
  const runtime_profile& profile = profiles[0];
  EXPECT_NEAR(profile.run.seconds(), 4, 1e-9);
  EXPECT_NEAR(profile.seconds_with_work, 4, 1e-9);
  EXPECT_EQ(profile.workers_seen(), 2U);
  ASSERT_EQ(profile.workers.size(), 2U);
  const worker_profile& a = profile.workers[0];
  EXPECT_NEAR(a.working, 3.5, 1e-9);
  EXPECT_NEAR(a.without_cpu, 0.5, 1e-9);
  EXPECT_NEAR(a.outside, 0, 1e-9);
  EXPECT_EQ(a.parks, 1U);
  EXPECT_EQ(a.all_steals(), 0U);
  const worker_profile& b = profile.workers[1];
  EXPECT_NEAR(b.working, 1.5, 1e-9);
  EXPECT_NEAR(b.without_cpu, 0.5, 1e-9) << "periods that overlap count once";
  EXPECT_NEAR(b.searching, 0.2, 1e-9) << "what came before the first work is not of the run";
  EXPECT_NEAR(b.sleeping, 0.8, 1e-9);
  EXPECT_NEAR(b.outside, 1, 1e-9);
  EXPECT_EQ(b.steals, (std::map<std::uint64_t, std::uint64_t>{{0, 2}}));
  EXPECT_EQ(b.suspensions, 1U);
  EXPECT_NEAR(profile.cpus, (3.5 + 1.5 + 0.2) / 4, 1e-9);
}

TEST(explain_profile, has_the_longest_periods_first) {
  const runtime_profile profile = profiles_in(pressed_trace())[0];
  ASSERT_EQ(profile.longest_without_cpu.size(), 2U);
  EXPECT_EQ(profile.longest_without_cpu[0].worker, 0U);
  EXPECT_EQ(profile.longest_without_cpu[1].worker, 1U);
  ASSERT_EQ(profile.longest_without_work.size(), 1U) << "searching and sleeping after it are one";
  EXPECT_EQ(profile.longest_without_work[0].worker, 1U);
  EXPECT_NEAR(profile.longest_without_work[0].when.seconds(), 1, 1e-9);
}

/// Worker 0 works from 1 s to 9 s and from 11 s to 12 s. The steals of worker 1 end waits of 0.25 s (the part
/// of its idleness in which there was work), nothing (it took the task at once), 2 s (searching and
/// sleeping), and 0.5 s (a pause without work does not count); its last search ends without a steal.
std::string waiting_trace() {
  return pretended_trace()
      .worker(0)
      .state(0, "working", 1e6, 8e6)
      .state(0, "working", 11e6, 1e6)
      .worker(1)
      .state(1, "sleeping", 0, 1.2e6)
      .state(1, "searching", 1.2e6, 0.05e6)
      .steal(1, 0, 1.25e6)
      .state(1, "working", 1.25e6, 2.75e6)
      .steal(1, 0, 2e6)
      .state(1, "searching", 4e6, 0.5e6)
      .state(1, "sleeping", 4.5e6, 1e6)
      .state(1, "searching", 5.5e6, 0.6e6)
      .steal(1, 0, 6e6)
      .state(1, "working", 6.1e6, 2.7e6)
      .state(1, "searching", 8.8e6, 2.5e6)
      .steal(1, 0, 11.3e6)
      .state(1, "working", 11.3e6, 0.2e6)
      .state(1, "searching", 11.5e6, 0.5e6)
      .text();
}

TEST(explain_profile, says_how_long_thieves_waited) {
  const wait_summary waits = profiles_in(waiting_trace())[0].thief_waits;
  EXPECT_EQ(waits.count, 4U);
  EXPECT_NEAR(waits.median, 0.25, 1e-9);
  EXPECT_NEAR(waits.p99, 2, 1e-9);
  EXPECT_NEAR(waits.longest, 2, 1e-9);
  const std::string text = text_of(profiles_in(waiting_trace()));
  EXPECT_NE(text.find("thieves waited 250 ms (median), 2 s (99th percentile), 2 s at most"),
            std::string::npos)
      << text;
  const nlohmann::json profile = json_of(profiles_in(waiting_trace())).at(0);
  EXPECT_EQ(profile.at("thief_waits").at("count"), 4);
  EXPECT_NEAR(profile.at("thief_waits").at("median").get<double>(), 0.25, 1e-9);
}

TEST(explain_profile, has_no_waits_without_steals) {
  const auto profiles = profiles_in(
      pretended_trace().worker(0).state(0, "working", 0, 1e6).worker(1).state(1, "sleeping", 0, 1e6).text());
  EXPECT_EQ(profiles[0].thief_waits.count, 0U);
  EXPECT_EQ(text_of(profiles).find("thieves waited"), std::string::npos);
}

/// One percent of two hundred waits may be longer than the 99th percentile.
TEST(explain_profile, has_the_99th_percentile_of_the_waits) {
  pretended_trace trace;
  trace.worker(0).state(0, "working", 0, 1e6).worker(1);
  for (int i = 0; i < 200; ++i) {
    const double from = 5000.0 * i;
    const double wait = i < 2 ? 1000 : i < 4 ? 700 : 10;
    trace.state(1, "searching", from, wait)
        .steal(1, 0, from + wait)
        .state(1, "working", from + wait, 5000 - wait);
  }
  const wait_summary waits = profiles_in(trace.text())[0].thief_waits;
  EXPECT_EQ(waits.count, 200U);
  EXPECT_NEAR(waits.median, 10e-6, 1e-9);
  EXPECT_NEAR(waits.p99, 700e-6, 1e-9);
  EXPECT_NEAR(waits.longest, 1e-3, 1e-9);
}

TEST(explain_profile, says_what_was_lost_to_what) {
  const runtime_profile profile = profiles_in(pressed_trace())[0];
  ASSERT_EQ(profile.losses.size(), 2U);
  EXPECT_EQ(profile.losses[0].kind, "no CPU");
  EXPECT_NEAR(profile.losses[0].seconds, 1, 1e-9);
  EXPECT_NEAR(profile.losses[0].share, 1.0 / 7, 1e-9);
  EXPECT_NE(profile.losses[0].reason.find("quota"), std::string::npos);
  EXPECT_EQ(profile.losses[1].kind, "no work");
  EXPECT_NEAR(profile.losses[1].seconds, 1, 1e-9);
}

TEST(explain_profile, has_the_decisions_in_order_with_their_reasons) {
  const runtime_profile profile = profiles_in(pressed_trace())[0];
  ASSERT_EQ(profile.decisions.size(), 3U);
  EXPECT_EQ(profile.decisions[1].setting, "spinning");
  EXPECT_EQ(profile.decisions[2].reason, "1 CPUs are usable (limit: quota)");
}

TEST(explain_profile, in_words_says_all_of_it) {
  const std::string text = text_of(profiles_in(pressed_trace()));
  for (const char* part :
       {"The run took 4 s.", "2 workers used 1.3 CPUs",
        "at the start   2 workers: the settings allow that many", "after 1 s      idle workers sleep at once",
        "after 3 s      1 workers instead of 2: 1 CPUs are usable", "worker 1 took 2 from worker 0",
        "worker 1 suspended 1 fiber", "worker 0 for 500 ms after 1 s", "worker 1 for 1 s after 2 s",
        "1 s (14.3 %): workers had no CPU", "1 s (14.3 %): nothing to steal", "A larger quota"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nis not in\n" << text;
}

TEST(explain_profile, is_the_same_as_json) {
  const nlohmann::json profile = json_of(profiles_in(pressed_trace())).at(0);
  EXPECT_EQ(profile.at("runtime"), 1);
  EXPECT_NEAR(profile.at("seconds").get<double>(), 4, 1e-9);
  EXPECT_NEAR(profile.at("workers").at(1).at("seconds").at("no_cpu").get<double>(), 0.5, 1e-9);
  EXPECT_EQ(profile.at("workers").at(1).at("steals"), nlohmann::json::parse(R"([{"from":0,"count":2}])"));
  EXPECT_EQ(profile.at("decisions").at(2).at("after"), 1);
  EXPECT_EQ(profile.at("losses").at(0).at("kind"), "no CPU");
  EXPECT_FALSE(profile.at("advice").empty());
}

TEST(explain_profile, has_each_runtime_by_itself) {
  const std::string trace = pretended_trace()
                                .worker(0, 2)
                                .state(0, "working", 0, 1e6, 2)
                                .decision(0, "workers", 1, 1, "second", 2)
                                .worker(0, 1)
                                .state(0, "working", 0, 2e6, 1)
                                .worker(0, 3)
                                .text();
  const auto profiles = profiles_in(trace);
  ASSERT_EQ(profiles.size(), 3U);
  EXPECT_NEAR(profiles[0].run.seconds(), 2, 1e-9);
  EXPECT_TRUE(profiles[0].decisions.empty());
  EXPECT_NEAR(profiles[1].run.seconds(), 1, 1e-9);
  EXPECT_EQ(profiles[1].decisions.size(), 1U);
  EXPECT_EQ(profiles[2].workers_seen(), 0U);
  const std::string text = text_of(profiles);
  EXPECT_NE(text.find("Runtime 2\n"), std::string::npos);
  EXPECT_NE(text.find("No work was done."), std::string::npos);
}

TEST(explain_profile, counts_no_loss_while_no_worker_has_work) {
  const std::string trace = pretended_trace()
                                .worker(0)
                                .state(0, "working", 0, 1e6)
                                .state(0, "working", 9e6, 1e6)
                                .worker(1)
                                .state(1, "working", 0, 1e6)
                                .state(1, "sleeping", 1e6, 8e6)
                                .state(1, "working", 9e6, 1e6)
                                .steal(1, 0, 0)
                                .text();
  const runtime_profile profile = profiles_in(trace)[0];
  EXPECT_NEAR(profile.seconds_with_work, 2, 1e-9);
  EXPECT_TRUE(profile.losses.empty());
  EXPECT_NE(text_of({profile}).find("2 s with work, and pauses between"), std::string::npos);
  EXPECT_EQ(profile.advice,
            std::vector<std::string>{"Nothing: the workers had CPU and work nearly all the time."});
}

struct advice_case {
  const char* name;
  std::string trace;
  const char* part;
};

TEST(explain_profile, advises_by_what_was_lost) {
  pretended_trace small_pieces;
  small_pieces.worker(0).state(0, "working", 0, 10'000).worker(1);
  for (int i = 0; i < 1000; ++i)
    small_pieces.steal(1, 0, 10 * i).state(1, "working", 10 * i, 5).state(1, "searching", 10 * i + 5, 5);
  const advice_case cases[] = {
      {"nothing stolen",
       pretended_trace().worker(0).state(0, "working", 0, 1e6).worker(1).state(1, "sleeping", 0, 1e6).text(),
       "Nothing was stolen"},
      {"one worker", pretended_trace().worker(0).state(0, "working", 0, 1e6).text(), "Only one worker ran"},
      {"small pieces", small_pieces.text(), "give parallel_for a grain"},
      {"a long part without forks",
       pretended_trace()
           .worker(0)
           .state(0, "working", 0, 2e6)
           .worker(1)
           .steal(1, 0, 0)
           .state(1, "working", 0, 1e6)
           .state(1, "sleeping", 1e6, 1e6)
           .text(),
       "1 s after the start, when worker 1 was without work for 1 s"},
      {"short", pretended_trace().worker(0).state(0, "working", 0, 100).text(), "too short"},
      {"full", pretended_trace().worker(0, 1, true).state(0, "working", 0, 1e6).text(), "The trace is full"},
  };
  for (const advice_case& c : cases) {
    const auto advice = profiles_in(c.trace)[0].advice;
    EXPECT_TRUE(std::ranges::any_of(advice, [&](const std::string& a) { return a.find(c.part) != a.npos; }))
        << c.name << ": " << testing::PrintToString(advice);
  }
}

TEST(explain_profile, shows_no_control_characters_of_the_file) {
  const std::string trace = pretended_trace()
                                .worker(0)
                                .state(0, "working", 0, 1e6)
                                .decision(0, "x\\u001b[2J", 1, 2, "a\\nb\\u0007")
                                .text();
  const std::string text = text_of(profiles_in(trace));
  EXPECT_EQ(text.find('\033'), std::string::npos);
  EXPECT_NE(text.find("a?b?"), std::string::npos) << text;
}

TEST(explain_text, of_times_has_three_digits) {
  EXPECT_EQ(time_text(12.345), "12.3 s");
  EXPECT_EQ(time_text(0.9999), "1 s");
  EXPECT_EQ(time_text(0.0456), "45.6 ms");
  EXPECT_EQ(time_text(7e-6), "7 µs");
  EXPECT_EQ(time_text(0), "0 µs");
}

std::string refusal_of(const std::string& text) {
  try {
    parse_trace(text, "t.json");
  } catch (const process::usage_error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(explain_trace_file, refuses_files_that_are_not_traces) {
  const std::string whole = pressed_trace();
  const std::pair<std::string, const char*> cases[] = {
      {"", "'t.json' is empty"},
      {" \n", "'t.json' is empty"},
      {"hello", "'t.json' is not JSON (byte 1)"},
      {whole.substr(0, whole.size() / 2), "is cut off"},
      {"{", "is cut off"},
      {whole + "x", "is not JSON"},
      {"[1,2]", "no list 'traceEvents'"},
      {"7", "no list 'traceEvents'"},
      {R"({"a":{"traceEvents":[]}})", "no list 'traceEvents'"},
      {R"({"traceEvents":7})", "no list 'traceEvents'"},
      {R"({"traceEvents":[]})", "it names no worker"},
      {R"({"traceEvents":[1,"a",null,[{"ph":"X"}]]})", "it names no worker"},
      {R"({"traceEvents":[{"ph":"X","name":"main","tid":1,"ts":1,"dur":2}]})", "it names no worker"},
      {R"({"traceEvents":[{"ph":"X","name":"working","tid":1,"dur":2}]})", "event 1 has no time"},
      {R"({"traceEvents":[{"ph":"X","name":"working","tid":1,"ts":-1,"dur":2}]})", "event 1 has no time"},
      {R"({"traceEvents":[{"ph":"X","name":"working","tid":1,"ts":1e300,"dur":2}]})", "event 1 has no time"},
      {R"({"traceEvents":[{"ph":"X","name":"working","tid":1,"ts":1}]})", "event 1 has no duration"},
      {R"({"traceEvents":[{"ph":"X","name":"working","ts":1,"dur":1}]})", "event 1 has no thread"},
      {R"({"traceEvents":[{"ph":"i","name":"steal","tid":1,"ts":1}]})",
       "event 1 is a steal without a victim"},
      {R"({"traceEvents":[{"ph":"i","cat":"decision","tid":1,"ts":1}]})", "a decision without its figures"},
      {R"({"traceEvents":[{"ph":"M","name":"thread_name","tid":1,"args":{"name":"worker x","runtime":1}}]})",
       "without a number"},
  };
  for (const auto& [text, part] : cases) {
    const std::string refusal = refusal_of(text);
    EXPECT_NE(refusal.find(part), std::string::npos) << text << "\n" << refusal;
    EXPECT_EQ(refusal.find('\n'), std::string::npos) << refusal;
  }
}

TEST(explain_trace_file, skips_events_that_it_does_not_know) {
  std::string trace = pressed_trace();
  const std::string more = R"({"ph":"C","name":"counter","ts":"x","args":{"a":[{"ph":"X"}],"victim":-3}},)"
                           R"({"name":"working","args":{"args":{"name":{}}},"ph":"B"},)";
  trace.insert(trace.find('[') + 1, more);
  EXPECT_EQ(json_of(profiles_in(trace)), json_of(profiles_in(pressed_trace())));
}

TEST(explain_trace_file, may_have_a_state_that_began_after_its_end) {
  const std::string text =
      pretended_trace().worker(0).state(0, "working", 0, 1e6).state(0, "searching", 1e6, -20).text();
  EXPECT_NEAR(profiles_in(text)[0].run.seconds(), 1, 1e-9);
}

TEST(explain_trace_file, is_read_whatever_the_order_of_its_events) {
  const std::string text = pretended_trace()
                               .steal(1, 0, 5e5)
                               .state(1, "working", 5e5, 5e5)
                               .state(1, "sleeping", 0, 5e5)
                               .state(0, "working", 0, 1e6)
                               .worker(1)
                               .worker(0)
                               .text();
  const runtime_profile profile = profiles_in(text)[0];
  EXPECT_NEAR(profile.workers[1].sleeping, 0.5, 1e-9);
  EXPECT_NEAR(profile.workers[1].working, 0.5, 1e-9);
}

/// Damaged files end in a profile or in one sentence; nothing else is thrown, and the sums stay possible.
TEST(explain_trace_file, survives_thousands_of_damaged_files) {
  const std::string whole = pressed_trace();
  std::mt19937 random(2026);
  const auto anywhere = [&](const std::string& text) { return random() % (text.size() + 1); };
  static constexpr std::string_view pieces[] = {"{",   "}",  "[",    "]",     "\"", ",",      ":",    "-",
                                                "1e9", "0.", "null", "\\u00", "e",  "\"ts\"", "[[[[", "\xff"};
  int profiles = 0;
  int refusals = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text = whole;
    for (std::size_t changes = 1 + random() % 3; changes > 0; --changes) {
      const std::size_t at = anywhere(text);
      switch (random() % 5) {
        case 0:
          text.resize(at);
          break;
        case 1:
          text.erase(at, random() % 40);
          break;
        case 2:
          text.insert(at, pieces[random() % std::size(pieces)]);
          break;
        case 3:
          text.insert(at, text.substr(anywhere(text), random() % 200));
          break;
        default:
          if (at < text.size()) text[at] = static_cast<char>('0' + random() % 10);
      }
    }
    try {
      for (const runtime_profile& profile : profiles_in(text)) {
        for (const worker_profile& w : profile.workers) {
          const double sum = w.working + w.searching + w.sleeping + w.without_cpu;
          ASSERT_LE(sum, profile.run.seconds() * (1 + 1e-9) + 1e-9) << text;
          ASSERT_GE(std::min({w.working, w.searching, w.sleeping, w.without_cpu, w.outside}), 0) << text;
        }
        ASSERT_FALSE(text_of({profile}).empty());
        ASSERT_FALSE(json_of(std::vector{profile}).dump().empty());
      }
      ++profiles;
    } catch (const process::usage_error& error) {
      ASSERT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos);
      ++refusals;
    }
  }
  EXPECT_GT(profiles, 500);
  EXPECT_GT(refusals, 500);
}

}  // namespace
}  // namespace sukima::cli::explain
