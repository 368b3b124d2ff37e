// SPDX-License-Identifier: Apache-2.0
// Which nodes the launcher waits for, which ones it ends, and what it says: with times that are only numbers.
#include "launch/run_end.hpp"
#include "launch/shared_input.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace {

using namespace sukima::cluster;
using namespace std::chrono_literals;

constexpr run_end::time_point begin{};
constexpr node_end well{};
constexpr node_report meets{.kind = node_report::type::meets};
constexpr node_report met{.kind = node_report::type::met};
node_end status(int code) { return {.exit_code = code}; }
node_end killed(int signal) { return {.signal = signal}; }
node_report failure(const char* sentence, int lost = -1, int status = 2) {
  return {.kind = node_report::type::fails, .status = status, .lost = lost, .sentence = sentence};
}

run_end of_nodes_that_met(unsigned nodes, std::optional<std::chrono::seconds> grace = {}) {
  run_end r(nodes, false, grace);
  for (unsigned n = 0; n < nodes; ++n) r.on_report(n, met, begin);
  return r;
}

TEST(run_end, waits_for_nodes_without_limit_and_says_so_once) {
  run_end r = of_nodes_that_met(3);
  r.on_end(0, well, begin);
  ASSERT_TRUE(r.next());
  EXPECT_EQ(r.take(begin + 1999ms).notice, "");
  const auto s = r.take(*r.next());
  EXPECT_EQ(
      s.notice,
      "node 0 ended with status 0, and nodes 1 and 2 still run: waiting for their ends (--grace SECONDS "
      "limits that)");
  EXPECT_EQ(s.signal, 0);
  EXPECT_FALSE(r.next());
  r.on_end(2, well, begin + 1h);
  EXPECT_FALSE(r.next());
  r.on_end(1, well, begin + 2h);
  EXPECT_FALSE(r.conclude().status);
  EXPECT_EQ(r.conclude().sentence, "");
}

TEST(run_end, waits_for_node_0_where_others_have_failed) {
  run_end r = of_nodes_that_met(3);
  r.on_end(2, status(1), begin);
  r.on_end(1, status(1), begin + 1ms);
  const auto s = r.take(begin + 1h);
  EXPECT_EQ(
      s.notice,
      "node 2 ended with status 1, and node 0 still runs: waiting for its end (--grace SECONDS limits that)");
  EXPECT_EQ(s.signal, 0);
  EXPECT_FALSE(r.next());
}

TEST(run_end, says_nothing_where_only_node_0_goes_on) {
  run_end r = of_nodes_that_met(2);
  r.on_end(1, well, begin);
  EXPECT_FALSE(r.next());
}

TEST(run_end, ends_nodes_after_the_grace_and_says_so) {
  run_end r = of_nodes_that_met(2, 1s);
  r.on_end(0, well, begin);
  EXPECT_EQ(r.take(begin + 999ms).signal, 0);
  const auto asked = r.take(begin + 1s);
  EXPECT_EQ(asked.signal, SIGTERM);
  EXPECT_EQ(
      asked.notice,
      "1 s after the end of node 0, node 1 still runs: ending it now (--grace SECONDS gives more time)");
  const auto killed_later = r.take(*r.next());
  EXPECT_EQ(killed_later.signal, SIGKILL);
  EXPECT_EQ(killed_later.notice, "");
  EXPECT_TRUE(r.has_given_up());
}

TEST(run_end, ends_all_where_a_node_is_lost) {
  for (const node_end& how : {killed(SIGSEGV), status(75)}) {
    run_end r = of_nodes_that_met(3, 3600s);
    r.on_end(1, how, begin);
    EXPECT_EQ(r.take(begin + 1s).signal, SIGTERM);
    run_end of_0 = of_nodes_that_met(3, 3600s);
    of_0.on_end(0, how, begin);
    EXPECT_EQ(of_0.take(begin + 2s).signal, SIGTERM);
  }
}

TEST(run_end, ends_all_after_node_0_where_nothing_can_be_printed) {
  for (const bool is_known_before : {false, true}) {
    run_end r = of_nodes_that_met(2, 1h);
    if (is_known_before) r.on_unprintable_output(begin);
    EXPECT_FALSE(r.next()) << "node 0 still runs";
    r.on_end(0, well, begin);
    if (!is_known_before) r.on_unprintable_output(begin);
    ASSERT_TRUE(r.next());
    EXPECT_EQ(*r.next(), begin + 2s);
    const auto s = r.take(*r.next());
    EXPECT_EQ(s.signal, SIGTERM);
    EXPECT_EQ(s.notice, "");
    r.on_end(1, killed(SIGTERM), *r.next());
    EXPECT_EQ(r.conclude().sentence, "");
  }
}

TEST(run_end, ends_all_where_a_node_fails_before_it_has_met_the_others) {
  run_end r(2, false, {});
  r.on_end(1, status(3), begin);
  EXPECT_EQ(r.take(begin + 1s).signal, SIGTERM);
  r.on_end(0, killed(SIGTERM), begin + 1s);
  EXPECT_EQ(r.conclude().sentence, "node 1 ended with status 3, so the others were ended, too");
  EXPECT_EQ(r.conclude().status, 3);
}

TEST(run_end, names_node_0_if_it_stood_still_until_it_was_killed) {
  run_end r(3, false, std::nullopt);
  for (unsigned n = 0; n < 3; ++n) r.on_report(n, met, begin);
  const node_report loss = failure("node 0 was lost (it is silent)", 0, 75);
  r.on_report(1, loss, begin);
  r.on_end(1, status(75), begin);
  r.on_report(2, loss, begin);
  r.on_end(2, status(75), begin);
  for (const int signal : {SIGTERM, SIGKILL}) EXPECT_EQ(r.take(*r.next()).signal, signal);
  r.on_end(0, killed(SIGKILL), begin + 3s);
  EXPECT_EQ(r.conclude().sentence, "node 0 was lost (it is silent)");
  EXPECT_EQ(r.conclude().status, 75);
}

TEST(run_end, names_the_node_that_failed_where_node_0_had_to_be_killed) {
  run_end r(2, false, {});
  r.on_end(1, killed(SIGKILL), begin);
  EXPECT_EQ(r.take(begin + 1s).signal, SIGTERM);
  EXPECT_EQ(r.take(begin + 3s).signal, SIGKILL);
  r.on_end(0, killed(SIGKILL), begin + 3s);
  EXPECT_EQ(r.conclude().sentence, "node 1 was ended by signal 9, so the others were ended, too");
  EXPECT_EQ(r.conclude().status, 75);
}

TEST(run_end, names_a_node_that_a_signal_ended_without_an_entry) {
  run_end other(3, false, {});
  other.on_end(0, well, begin);
  other.on_end(2, killed(SIGKILL), begin);
  other.on_end(1, well, begin);
  EXPECT_EQ(other.conclude().sentence, "node 2 was ended by signal 9");
  EXPECT_EQ(other.conclude().status, 75);
  run_end of_0(2, false, {});
  of_0.on_end(0, killed(SIGKILL), begin);
  of_0.on_end(1, well, begin);
  EXPECT_EQ(of_0.conclude().sentence, "node 0 was ended by signal 9");
  EXPECT_FALSE(of_0.conclude().status) << "the signal";
}

TEST(run_end, names_no_node_that_ends_as_it_is_asked_to) {
  run_end by_signal(2, false, {});
  by_signal.on_signal(SIGINT);
  by_signal.on_end(1, killed(SIGINT), begin);
  by_signal.on_end(0, well, begin);
  run_end by_reader(2, false, {});
  by_reader.on_end(0, killed(SIGPIPE), begin);
  by_reader.on_end(1, well, begin);
  run_end by_grace = of_nodes_that_met(2, 0s);
  by_grace.on_end(0, well, begin);
  EXPECT_EQ(by_grace.take(begin).signal, SIGTERM);
  by_grace.on_end(1, killed(SIGTERM), begin);
  run_end alone(1, false, {});
  alone.on_end(0, killed(SIGUSR1), begin);
  for (const run_end* r : {&by_signal, &by_reader, &by_grace, &alone}) {
    EXPECT_EQ(r->conclude().sentence, "");
    EXPECT_FALSE(r->conclude().status);
  }
}

TEST(run_end, blames_no_node_where_a_signal_from_outside_ends_all) {
  // The launcher may see the ends in any order. A node may notice the end of another one before its own.
  run_end met_before = of_nodes_that_met(3);
  run_end during_meeting(3, false, {});
  during_meeting.on_report(0, meets, begin);
  for (run_end* const r : {&met_before, &during_meeting}) {
    r->on_signal(SIGTERM);
    r->on_report(2, failure("node 1 was lost", 1, 75), begin);
    for (const unsigned n : {1u, 2u, 0u}) r->on_end(n, killed(SIGTERM), begin);
    EXPECT_FALSE(r->conclude().status) << "the signal of node 0";
    EXPECT_FALSE(r->conclude().reporter);
    EXPECT_EQ(r->conclude().sentence, "");
  }
}

TEST(run_end, ends_by_a_signal_from_outside_that_node_0_has_handled) {
  run_end was_ended(2, false, {});
  was_ended.on_signal(SIGUSR1);
  was_ended.on_end(1, killed(SIGUSR1), begin);
  EXPECT_EQ(was_ended.take(begin + 1s).signal, SIGTERM);
  was_ended.on_end(0, killed(SIGTERM), begin + 1s);
  run_end has_lost_it(2, false, {});
  has_lost_it.on_signal(SIGUSR1);
  has_lost_it.on_report(0, failure("node 1 was lost", 1, 75), begin);
  has_lost_it.on_end(1, killed(SIGUSR1), begin);
  has_lost_it.on_end(0, status(75), begin);
  for (const run_end* r : {&was_ended, &has_lost_it}) {
    EXPECT_EQ(r->conclude().signal, SIGUSR1);
    EXPECT_EQ(r->conclude().sentence, "");
    EXPECT_FALSE(r->conclude().status);
    EXPECT_FALSE(r->conclude().reporter);
  }
  // The signal of a node alone is a failure of that node.
  run_end of_a_node(2, false, {});
  of_a_node.on_end(1, killed(SIGUSR1), begin);
  of_a_node.take(begin + 1s);
  of_a_node.on_end(0, killed(SIGTERM), begin + 1s);
  EXPECT_EQ(of_a_node.conclude().signal, 0);
  EXPECT_EQ(of_a_node.conclude().status, 75);
}

TEST(run_end, blames_a_node_that_failed_before_a_signal_from_outside) {
  run_end r = of_nodes_that_met(2);
  r.on_end(1, killed(SIGSEGV), begin);
  r.on_signal(SIGTERM);
  r.on_end(0, killed(SIGTERM), begin);
  EXPECT_EQ(r.conclude().sentence, "node 1 was ended by signal 11, so the others were ended, too");
  EXPECT_EQ(r.conclude().status, 75);
}

TEST(run_end, ends_nodes_that_wait_for_one_that_has_ended) {
  for (const bool ends_first : {false, true}) {
    run_end r(3, false, {});
    if (ends_first) r.on_end(1, well, begin);
    EXPECT_FALSE(r.next());
    r.on_report(0, meets, begin);
    if (!ends_first) r.on_end(1, well, begin);
    EXPECT_EQ(r.take(begin).signal, SIGTERM);
    r.on_end(0, killed(SIGTERM), begin);
    r.on_end(2, killed(SIGTERM), begin);
    EXPECT_EQ(r.conclude().sentence,
              "node 1 ended its program without an entry, and node 0 waits for it in its first one: each "
              "node must make "
              "the same calls of sukima::cluster::run");
    EXPECT_EQ(r.conclude().status, 2);
  }
}

TEST(run_end, has_one_sentence_of_all_that_nodes_report) {
  run_end r = of_nodes_that_met(3);
  EXPECT_TRUE(r.on_report(1, failure("the reason"), begin));
  EXPECT_FALSE(r.on_report(0, failure("the same reason"), begin));
  EXPECT_FALSE(r.on_report(2, failure("node 1 was lost", 1, 75), begin));
  for (unsigned n = 0; n < 3; ++n) r.on_end(n, status(2), begin);
  EXPECT_EQ(r.conclude().sentence, "");
}

TEST(run_end, fails_where_programs_differ_though_a_node_has_ended_well) {
  for (const bool hope : {false, true}) {
    run_end r(3, hope, {});
    for (unsigned n = 0; n < 3; ++n) r.on_report(n, met, begin);
    r.on_end(0, well, begin);
    node_report differs = failure("the nodes differ");
    differs.kind = node_report::type::differs;
    EXPECT_TRUE(r.on_report(1, differs, begin));
    EXPECT_FALSE(r.on_report(2, differs, begin));
    EXPECT_EQ(r.take(begin).signal, SIGTERM);
    EXPECT_EQ(r.conclude().status, 2);
    EXPECT_EQ(r.conclude().sentence, "");
  }
}

TEST(run_end, names_the_node_that_was_lost_first) {
  // Node 2 has lost node 1, and ended; node 0 has seen only that.
  run_end r = of_nodes_that_met(3);
  EXPECT_FALSE(r.on_report(0, failure("node 2 was lost", 2, 75), begin));
  EXPECT_FALSE(r.on_report(2, failure("node 1 was lost", 1, 75), begin));
  r.on_end(1, killed(SIGKILL), begin);
  r.on_end(0, status(75), begin);
  r.on_end(2, status(75), begin);
  EXPECT_EQ(r.conclude().reporter, 2u);
  EXPECT_EQ(r.conclude().sentence, "node 1 was lost");
  EXPECT_FALSE(r.conclude().status) << "node 0's";
}

TEST(run_end, fails_where_a_node_fails_after_node_0_has_ended_well) {
  run_end r = of_nodes_that_met(2);
  r.on_end(0, well, begin);
  r.on_report(1, failure("node 0 ended its program", 0, 75), begin);
  r.on_end(1, status(75), begin);
  EXPECT_EQ(r.conclude().status, 75);
  EXPECT_EQ(r.conclude().reporter, 1u);
}

TEST(run_end, gives_survivors_five_seconds_under_hierarchical_omission) {
  run_end r(3, true, {});
  r.on_end(0, killed(SIGKILL), begin);
  EXPECT_FALSE(r.next());
  r.on_end(1, well, begin);
  EXPECT_EQ(r.take(begin + 4999ms).signal, 0);
  EXPECT_EQ(r.take(begin + 5s).signal, SIGTERM);
  EXPECT_TRUE(r.on_report(1, failure("each one"), begin));
  EXPECT_FALSE(r.on_report(2, failure("each one"), begin));
  EXPECT_TRUE(r.on_report(2, failure("another one"), begin));
}

TEST(run_end, knows_which_nodes_were_interrupted) {
  run_end r(3, true, 0s);
  r.on_end(0, well, begin);
  EXPECT_EQ(r.take(begin).signal, SIGTERM);
  r.on_end(1, well, begin);
  EXPECT_FALSE(r.was_interrupted(0));
  EXPECT_TRUE(r.was_interrupted(1));
  run_end signalled(3, true, {});
  signalled.on_end(0, status(1), begin);
  signalled.on_signal(SIGUSR2);
  signalled.on_end(1, well, begin);
  signalled.on_signal(SIGINT);
  signalled.on_end(2, well, begin);
  EXPECT_FALSE(signalled.was_interrupted(0));
  EXPECT_FALSE(signalled.was_interrupted(1));
  EXPECT_TRUE(signalled.was_interrupted(2));
}

TEST(input_stall, is_noticed_once_where_a_node_does_not_read) {
  input_stall s;
  s.look(false, 0, begin);
  EXPECT_FALSE(s.next());
  s.look(true, 0, begin);
  s.look(true, 0, begin + 1999ms);
  EXPECT_FALSE(s.take(begin + 1999ms));
  s.look(true, 1, begin + 1999ms);  // it has read something
  EXPECT_FALSE(s.take(begin + 2s));
  s.look(true, 1, begin + 3999ms);
  ASSERT_TRUE(s.next());
  EXPECT_TRUE(s.take(*s.next()));
  s.look(true, 1, begin + 1h);
  EXPECT_FALSE(s.take(begin + 2h));
}

TEST(reports, come_out_of_what_surrounds_them) {
  const std::string mark = "the-mark";
  const std::string one = write_report(mark, meets);
  const std::string two = write_report(mark, failure("a sentence\nof two lines", 7, 75));
  std::string all = "of the pro" + one + "gram\n" + two;
  std::string arrived;
  std::vector<node_report> found;
  for (const char c : all) {
    arrived += c;
    for (node_report& r : take_reports(arrived, mark)) found.push_back(std::move(r));
  }
  EXPECT_EQ(arrived, "of the program\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].kind, node_report::type::meets);
  EXPECT_EQ(found[1].sentence, "a sentence of two lines");
  EXPECT_EQ(found[1].status, 75);
  EXPECT_EQ(found[1].lost, 7);
}

TEST(reports, are_written_at_once_however_long_their_sentence_is) {
  EXPECT_LE(write_report("mark", failure(std::string(100000, 'x').c_str())).size(), std::size_t{PIPE_BUF});
}

TEST(reports, have_the_counts_of_a_node) {
  node_report counts{.kind = node_report::type::counts};
  counts.counts = {{"given", 3}, {"sent_bytes", 18446744073709551615u}};
  std::string arrived = write_report("mark", counts);
  const auto found = take_reports(arrived, "mark");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, node_report::type::counts);
  EXPECT_EQ(found[0].counts, counts.counts);
  EXPECT_FALSE(run_end(2, false, {}).on_report(1, found[0], {}));
  counts.counts.assign(1000, {"a_name", 7});
  EXPECT_LE(write_report("mark", counts).size(), std::size_t{PIPE_BUF});
}

TEST(reports, that_are_malformed_vanish) {
  for (const char* text :
       {"mark\n", "mark \n", "mark other\n", "mark fails\n", "mark fails x 1 y\n", "mark fails 1\n",
        "mark counts given\n", "mark counts =1\n", "mark counts given=x\n", "mark counts given=1x\n",
        "mark counts given=18446744073709551616\n"}) {
    std::string arrived = "\x1e" + std::string(text);
    EXPECT_TRUE(has_report(arrived, "mark"));
    EXPECT_TRUE(take_reports(arrived, "mark").empty()) << text;
    EXPECT_EQ(arrived, "") << text;
  }
}

TEST(reports, are_not_what_a_program_prints_of_its_variables) {
  std::string arrived = "REPORT=4:mark\nnext\n";
  EXPECT_TRUE(take_reports(arrived, "mark").empty());
  EXPECT_FALSE(has_report(arrived, "mark"));
  EXPECT_EQ(arrived, "REPORT=4:mark\nnext\n");
}

}  // namespace
