// SPDX-License-Identifier: Apache-2.0
// The order of the runs, their records, and the folder.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <lab/shared/folder.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include <base/shared/descriptor.hpp>
#include <base/shared/temporary_directory.hpp>
#include "support.hpp"

namespace sukima::lab {
namespace {

record example() {
  record one;
  one.experiment = "small";
  one.program = "work";
  one.setting = "fast";
  one.environment = "two";
  one.round = 3;
  one.seconds = {0.5, std::numeric_limits<double>::infinity()};
  one.wall_seconds = 1.5;
  one.result = "832040";
  return one;
}

TEST(plan, runs_each_cell_once_in_each_round) {
  const experiment small = parse_experiment(test::small_experiment);
  const std::vector<planned_run> runs = plan_runs(small, {});
  ASSERT_EQ(runs.size(), 5u * 2 * 3);
  std::set<std::vector<std::size_t>> seen;
  unsigned round = 0;
  for (const planned_run& one : runs) {
    EXPECT_GE(one.round, round) << "rounds follow each other";
    round = one.round;
    seen.insert({one.cell.setting, one.cell.environment, one.round});
  }
  EXPECT_EQ(seen.size(), runs.size());
}

TEST(plan, keeps_the_runs_of_an_environment_together_within_a_round) {
  const std::vector<planned_run> runs = plan_runs(parse_experiment(test::small_experiment), {});
  std::size_t changes = 0;
  for (std::size_t i = 1; i < runs.size(); ++i)
    changes += runs[i].cell.environment != runs[i - 1].cell.environment || runs[i].round != runs[i - 1].round;
  EXPECT_EQ(changes, 5u * 3 - 1);
}

TEST(plan, is_interleaved_in_changing_orders_that_stay_the_same) {
  const experiment small = parse_experiment(test::small_experiment);
  const std::vector<planned_run> runs = plan_runs(small, {}), again = plan_runs(small, {});
  std::set<std::vector<std::size_t>> orders;
  for (unsigned round = 0; round < 5; ++round) {
    std::vector<std::size_t> order;
    for (const planned_run& one : runs)
      if (one.round == round) order.push_back(one.cell.environment * 10 + one.cell.setting);
    orders.insert(order);
  }
  EXPECT_GE(orders.size(), 3u);
  ASSERT_EQ(runs.size(), again.size());
  for (std::size_t i = 0; i < runs.size(); ++i) EXPECT_EQ(runs[i].cell, again[i].cell);
}

TEST(plan, of_a_quick_run_leaves_out_what_is_not_for_it) {
  const experiment small = parse_experiment(test::small_experiment);
  EXPECT_EQ(plan_runs(small, {.quick = true}).size(), 2u * 2 * 2);
  EXPECT_EQ(plan_runs(small, {.quick = true, .repetitions = 7}).size(), 7u * 2 * 2);
}

TEST(records, are_read_as_they_were_written) {
  const std::string line = record_line(example());
  EXPECT_NE(line.find("\"seconds\":[0.5,null]"), std::string::npos) << line;
  const record read = parse_record(line);
  EXPECT_EQ(read, example());
  EXPECT_EQ(mean_seconds(read), std::numeric_limits<double>::infinity());
}

TEST(records, of_failures_have_no_seconds) {
  record one = example();
  one.failure = "ended with\nexit code 3";
  const record read = parse_record(record_line(one));
  EXPECT_TRUE(read.seconds.empty());
  EXPECT_EQ(read.failure, "ended with exit code 3");
}

TEST(records, of_a_file_end_with_the_last_whole_line) {
  const std::string line = record_line(example());
  EXPECT_EQ(parse_records(line + "\n" + line + "\n" + line.substr(0, 40), "runs").size(), 2u);
  try {
    parse_records(line + "\n{}\n", "runs");
    FAIL();
  } catch (const experiment_error& error) {
    EXPECT_STREQ(error.what(), "runs, line 2: the record: the member 'experiment' is missing");
  }
}

TEST(records, of_a_run_that_failed_and_was_made_again_count_once) {
  experiment small = parse_experiment(test::small_experiment);
  std::vector<record> records;
  record failed = example();
  failed.failure = "ended with exit code 3";
  records.push_back(failed);
  const measured before(small, records);
  EXPECT_EQ(before.failures(), 1u);
  EXPECT_FALSE(before.done("work", "fast", "two", 3));
  EXPECT_EQ(before.failure("work", "fast", "two"), "ended with exit code 3");
  records.push_back(example());
  records.back().seconds = {0.5, 1.5};
  const measured after(small, records);
  EXPECT_EQ(after.failures(), 0u) << "no run is missing";
  EXPECT_EQ(after.failure("work", "fast", "two"), "");
  EXPECT_TRUE(after.done("work", "fast", "two", 3));
  EXPECT_EQ(after.of("work", "fast", "two"), (rounds{{3, 1.0}}));
  EXPECT_TRUE(after.of("work", "slow", "two").empty());
  small.name = "other";
  EXPECT_TRUE(measured(small, records).of("work", "fast", "two").empty());
}

TEST(records, of_stopped_runs_have_the_time_limit_as_the_least) {
  const experiment small = parse_experiment(test::small_experiment);
  const measured runs(small, {example()});
  EXPECT_EQ(runs.of("work", "fast", "two").at(3), std::numeric_limits<double>::infinity());
  EXPECT_DOUBLE_EQ(runs.least_of("work", "fast", "two").at(3), (0.5 + small.limit_seconds) / 2);
}

TEST(records, are_read_again_whatever_a_program_printed) {
  std::string characters, bytes(4000, '\xff');
  for (int i = 0; i < 1400; ++i) characters += "\u3042";
  for (const std::string& text : {characters, bytes, std::string("a\tb\n")}) {
    record one = example();
    one.result = text;
    const record read = parse_record(record_line(one));
    EXPECT_EQ(read.result, on_one_line(text));
    EXPECT_EQ(on_one_line(read.result), read.result) << "what is compared later";
    one.failure = text;
    EXPECT_EQ(parse_record(record_line(one)).failure, on_one_line(text));
  }
  EXPECT_EQ(on_one_line(characters).size(), 3999u) << "whole characters";
}

TEST(folder, goes_on_after_the_last_whole_line) {
  const process::temporary_directory folder("lab-test");
  const std::filesystem::path file = folder.path() + "/runs.jsonl";
  write_text(file, record_line(example()) + "\n{\"experiment\": \"sm");
  {
    record_file(file).append(example());
  }
  const std::string text = read_text(file);
  EXPECT_EQ(text, record_line(example()) + "\n" + record_line(example()) + "\n");
}

TEST(folder, keeps_the_end_of_a_long_line) {
  const process::temporary_directory folder("lab-test");
  const std::filesystem::path file = folder.path() + "/runs.jsonl";
  for (const std::size_t length : {4094, 4095, 4096, 9000}) {
    const std::string line = std::string(length, 'a') + "\n";
    for (const std::string& rest : {std::string(), std::string(1, 'b'), line.substr(0, length)}) {
      write_text(file, line + rest);
      static_cast<void>(record_file(file));
      EXPECT_EQ(read_text(file), line) << length << " and " << rest.size();
    }
  }
}

TEST(folder, keeps_its_runs_if_no_other_file_can_be_opened) {
  const process::temporary_directory folder("lab-test");
  const std::filesystem::path file = folder.path() + "/runs.jsonl";
  const std::string line = record_line(example()) + "\n";
  write_text(file, line);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit narrow = before;
  narrow.rlim_cur = 64;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &narrow), 0);
  std::vector<descriptor> others;
  for (;;) {
    descriptor one(open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!one) break;
    others.push_back(std::move(one));
  }
  ASSERT_FALSE(others.empty());
  others.pop_back();  // leaves one number
  EXPECT_NO_THROW(static_cast<void>(record_file(file)));
  others.clear();
  EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(read_text(file), line);
}

TEST(folder, is_written_by_one_process_at_a_time) {
  const process::temporary_directory folder("lab-test");
  const record_file first(folder.path() + "/runs.jsonl");
  EXPECT_THROW(record_file(folder.path() + "/runs.jsonl"), experiment_error);
}

TEST(folder, says_that_the_disk_is_full) {
  record_file file("/dev/full");
  EXPECT_THROW(file.append(example()), std::system_error);
}

TEST(folder, knows_its_machine) {
  run_facts facts;
  facts.machine = {{"cpu", "a"}, {"kernel", "Linux 6.1"}, {"date", "today"}};
  facts.versions = {{"sukima", "0.1"}};
  facts.bed = {2, "tcg", {{"cap", "no root"}}};
  facts.choice = {true, 7};
  const run_facts read = parse_facts(facts_text(facts));
  EXPECT_EQ(facts_text(read), facts_text(facts));
  EXPECT_EQ(difference(facts, read), "");
  run_facts other = facts;
  other.machine[2].second = "tomorrow";
  EXPECT_EQ(difference(facts, other), "");
  other.machine[0].second = "b";
  EXPECT_EQ(difference(facts, other), "its cpu is 'a', here it is 'b'");
  other = facts;
  other.bed.cpus = 4;
  EXPECT_EQ(difference(facts, other), "it has runs on 2 CPUs, here are 4");
  other = facts;
  other.choice.quick = false;
  EXPECT_EQ(difference(facts, other), "it has quick runs: give --quick");
}

}  // namespace
}  // namespace sukima::lab
