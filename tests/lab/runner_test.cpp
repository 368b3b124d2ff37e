// SPDX-License-Identifier: Apache-2.0
// Running experiments in made-up environments.
#include <gtest/gtest.h>
#include <lab/shared/runner.hpp>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <base/shared/temporary_directory.hpp>
#include "support.hpp"

namespace sukima::lab {
namespace {

/// What happened in all environments of a run.
struct log {
  std::vector<std::string> set_up;
  std::vector<job> jobs;
  int alive = 0, most_alive = 0;
  std::function<std::vector<copy_end>(const job&)> answer;
};

class made_up_stage : public stage {
 public:
  made_up_stage(log& events, const environment& where) : events_(events), copies_(where.copies) {
    events_.set_up.push_back(where.name);
    events_.most_alive = std::max(events_.most_alive, ++events_.alive);
  }
  ~made_up_stage() override { --events_.alive; }
  std::vector<copy_end> run(const job& job, std::chrono::nanoseconds) override {
    events_.jobs.push_back(job);
    if (events_.answer) return events_.answer(job);
    return std::vector<copy_end>(copies_, {9, "{\"seconds\":0.5,\"result\":\"20\"}\n", "", false});
  }

 private:
  log& events_;
  unsigned copies_;
};

class runner : public testing::Test {
 protected:
  run_request request() {
    run_request one;
    one.experiments = {parse_experiment(test::small_experiment)};
    one.folder = folder_.path() + "/runs";
    one.facts.machine = {{"cpu", "made up"}};
    one.facts.bed.cpus = 2;
    one.find = [](const program&) { return "/bin/work"; };
    one.make_stage = [this](const environment& where) {
      return std::make_unique<made_up_stage>(events_, where);
    };
    return one;
  }
  recorded_runs stored() { return read_folder(folder_.path() + "/runs"); }

  process::temporary_directory folder_{"lab-test"};
  log events_;
};

TEST_F(runner, stores_every_run_with_the_experiment_and_the_machine) {
  run_request all = request();
  const run_summary summary = run_experiments(all);
  EXPECT_EQ(summary.ran, 30u);
  EXPECT_EQ(summary.failed, 0u);
  const recorded_runs runs = stored();
  ASSERT_EQ(runs.records.size(), 30u);
  EXPECT_EQ(runs.experiments.front().name, "small");
  EXPECT_EQ(runs.facts.machine.front().second, "made up");
  const measured times(runs.experiments.front(), runs.records);
  EXPECT_EQ(times.of("work", "slow", "four"), (rounds{{0, 0.5}, {1, 0.5}, {2, 0.5}, {3, 0.5}, {4, 0.5}}));
}

TEST_F(runner, has_one_environment_at_a_time_and_a_fresh_one_each_round) {
  run_request all = request();
  run_experiments(all);
  EXPECT_EQ(events_.most_alive, 1);
  EXPECT_EQ(events_.alive, 0);
  EXPECT_EQ(events_.set_up.size(), 5u * 3);
}

TEST_F(runner, goes_on_where_it_was_interrupted) {
  run_request all = request();
  all.facts.choice.repetitions = 2;
  run_experiments(all);
  events_.jobs.clear();
  run_request again = request();
  std::vector<std::size_t> done;
  again.observe = [&](const run_position& at) { done.push_back(at.done); };
  const run_summary summary = run_experiments(again);
  EXPECT_EQ(summary.ran, 30u - 12);
  EXPECT_EQ(events_.jobs.size(), 30u - 12);
  EXPECT_EQ(done.front(), 12u);
  EXPECT_EQ(done.back(), 29u);
  EXPECT_EQ(stored().records.size(), 30u);
}

TEST_F(runner, estimates_the_time_left_from_the_runs_so_far) {
  run_request all = request();
  std::vector<double> left;
  all.observe = [&](const run_position& at) { left.push_back(at.seconds_left); };
  run_experiments(all);
  ASSERT_EQ(left.size(), 30u);
  EXPECT_GE(left.front(), 30 * all.experiments.front().limit_seconds) << "nothing else is known";
  EXPECT_LT(left.back(), all.experiments.front().limit_seconds / 2) << "the runs of this cell took no time";
}

TEST_F(runner, makes_failed_runs_again) {
  int calls = 0;
  events_.answer = [&](const job&) {
    return std::vector<copy_end>{
        {1, "{\"seconds\":0.5}", ++calls == 1 ? "ended with exit code 3" : "", false}};
  };
  run_request all = request();
  EXPECT_EQ(run_experiments(all).failed, 1u);
  EXPECT_EQ(events_.set_up.size(), 5u * 3 + 1) << "after a failure the environment is made anew";
  run_request again = request();
  const run_summary summary = run_experiments(again);
  EXPECT_EQ(summary.ran, 1u);
  EXPECT_EQ(summary.failed, 0u);
}

TEST_F(runner, goes_on_after_an_environment_that_broke_in_a_run) {
  int calls = 0;
  events_.answer = [&](const job&) -> std::vector<copy_end> {
    if (++calls == 1) throw std::runtime_error("vm2 ended while a program ran in it:\nKernel panic");
    return {{1, "{\"seconds\":0.5}", "", false}};
  };
  run_request all = request();
  const run_summary summary = run_experiments(all);
  EXPECT_EQ(summary.ran, 30u);
  EXPECT_EQ(summary.failed, 1u);
  EXPECT_EQ(calls, 30) << "the later runs are made";
  EXPECT_EQ(events_.set_up.size(), 5u * 3 + 1) << "in a fresh environment";
  EXPECT_EQ(events_.alive, 0);
  EXPECT_TRUE(stored().facts.bed.obstacles.empty()) << "a failed run is not recorded as an obstacle";
  const std::vector<record> records = stored().records;
  EXPECT_EQ(records[0].failure, "vm2 ended while a program ran in it: Kernel panic");
  run_request again = request();
  EXPECT_EQ(run_experiments(again).ran, 1u) << "the same request makes it again";
  EXPECT_EQ(calls, 31);
}

TEST_F(runner, leaves_out_what_this_machine_cannot_set_up) {
  run_request all = request();
  int tries = 0;
  const stage_maker others = all.make_stage;
  all.make_stage = [&](const environment& where) {
    if (where.kind == environment_kind::vms && ++tries > 0) throw obstacle("there is no QEMU");
    return others(where);
  };
  const run_summary summary = run_experiments(all);
  EXPECT_EQ(summary.ran, 20u);
  EXPECT_EQ(summary.left_out, 10u);
  EXPECT_EQ(tries, 1);
  EXPECT_EQ(stored().facts.bed.obstacles.at("vms"), "there is no QEMU");
}

TEST_F(runner, gives_up_an_environment_that_fails_three_times_in_a_row) {
  run_request all = request();
  int tries = 0;
  const stage_maker others = all.make_stage;
  all.make_stage = [&](const environment& where) {
    if (where.kind == environment_kind::vms && ++tries > 0) throw std::runtime_error("it did not come up");
    return others(where);
  };
  const run_summary summary = run_experiments(all);
  EXPECT_EQ(tries, 3) << "though others were set up in between";
  EXPECT_EQ(summary.failed, 3u);
  EXPECT_EQ(summary.left_out, 7u);
  EXPECT_EQ(events_.alive, 0);
}

TEST_F(runner, gives_up_an_environment_for_which_no_process_can_be_started) {
  run_request all = request();
  const stage_maker others = all.make_stage;
  all.make_stage = [&](const environment& where) {
    if (where.kind == environment_kind::vms) throw std::system_error(EAGAIN, std::generic_category(), "fork");
    return others(where);
  };
  const run_summary summary = run_experiments(all);
  EXPECT_EQ(summary.failed, 3u);
  EXPECT_EQ(summary.left_out, 7u);
}

TEST_F(runner, ends_where_the_disk_is_full) {
  run_request full = request();
  full.make_stage = [](const environment&) -> std::unique_ptr<stage> {
    throw std::system_error(ENOSPC, std::generic_category(), "a file");
  };
  EXPECT_THROW(run_experiments(full), std::system_error);
}

TEST_F(runner, gives_up_only_the_environment_that_fails) {
  run_request all = request();
  environment more = all.experiments.front().environments.back();
  ASSERT_EQ(more.kind, environment_kind::vms);
  more.name = "too-many";
  more.copies = 16;
  all.experiments.front().environments.push_back(more);
  const stage_maker others = all.make_stage;
  all.make_stage = [&](const environment& where) {
    if (where.name == "too-many") throw std::runtime_error("there is no memory for it");
    return others(where);
  };
  const run_summary summary = run_experiments(all);
  EXPECT_EQ(summary.ran, 30u + 3);
  EXPECT_EQ(summary.failed, 3u);
  const recorded_runs runs = stored();
  EXPECT_EQ(runs.facts.bed.obstacles.size(), 1u);
  EXPECT_EQ(runs.facts.bed.obstacles.at("small/too-many"),
            "the environment could not be set up: there is no memory for it");
}

TEST_F(runner, does_not_touch_runs_of_which_nothing_is_known) {
  run_request all = request();
  std::filesystem::create_directories(all.folder);
  write_text(all.folder / "runs.jsonl", "another program's file, with half a line");
  EXPECT_THROW(run_experiments(all), experiment_error);
  EXPECT_EQ(read_text(all.folder / "runs.jsonl"), "another program's file, with half a line");
}

TEST_F(runner, stores_variables_that_it_can_read_again) {
  const std::string long_one = "SUKIMA_LONG=" + std::string(1985, 'x') + "\xc3\xa4\xc3\xa4\xc3\xa4",
                    broken = "SUKIMA_B=\xff";
  for (const std::string& one : {long_one, broken}) {
    const char* const variables[] = {one.c_str(), nullptr};
    run_facts facts;
    facts.machine.emplace_back(variables_fact, variables_text(variables));
    EXPECT_EQ(parse_facts(facts_text(facts)).machine.front().second, variables_text(variables));
  }
}

TEST_F(runner, refuses_a_folder_of_another_machine_or_experiment) {
  run_request all = request();
  all.facts.choice.repetitions = 1;
  run_experiments(all);
  run_request moved = request();
  moved.facts.bed.cpus = 4;
  EXPECT_THROW(run_experiments(moved), experiment_error);
  run_request changed = request();
  changed.experiments.front().programs.front().size = 31;
  EXPECT_THROW(run_experiments(changed), experiment_error);
}

TEST_F(runner, refuses_runs_of_an_experiment_that_is_gone) {
  run_request first = request();
  first.facts.choice.repetitions = 1;
  run_experiments(first);
  std::filesystem::remove(first.folder / "experiments" / "small.json");
  run_request changed = request();
  changed.experiments.front().programs.front().size = 31;
  EXPECT_THROW(run_experiments(changed), experiment_error);
}

TEST_F(runner, judges_runs_that_there_are_by_other_claims) {
  run_request first = request();
  run_experiments(first);
  run_request changed = request();
  changed.experiments.front().claims.front().bound = 7;
  EXPECT_EQ(run_experiments(changed).ran, 0u);
  EXPECT_EQ(stored().experiments.front().claims.front().bound, 7);
}

TEST_F(runner, refuses_to_mix_what_differs) {
  setenv("SUKIMA_A_TEST", "7", 1);
  EXPECT_NE(variables_text(environ).find("SUKIMA_A_TEST=7"), std::string::npos);
  unsetenv("SUKIMA_A_TEST");
  EXPECT_EQ(variables_text(environ).find("SUKIMA_A_TEST"), std::string::npos);
  run_request first = request();
  first.facts.machine.emplace_back(variables_fact, "SUKIMA_X=7");
  first.facts.versions["sukima"] = "0.1.0";
  learn(first.facts, "tcg", {{"QEMU", "7.2"}});
  run_experiments(first);
  const auto why = [&](auto change) {
    run_request other = request();
    other.facts.machine.emplace_back(variables_fact, "SUKIMA_X=7");
    change(other.facts);
    try {
      earlier_runs(other);
    } catch (const experiment_error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(why([](run_facts&) {}), "");
  EXPECT_NE(why([](run_facts& facts) { facts.machine.pop_back(); }).find("here it is not set"),
            std::string::npos);
  EXPECT_NE(why([](run_facts& facts) { facts.versions["sukima"] = "0.2.0"; }).find("version of sukima"),
            std::string::npos);
  run_facts stored_facts = stored().facts;
  EXPECT_THROW(learn(stored_facts, "kvm", {}), experiment_error);
  EXPECT_THROW(learn(stored_facts, "tcg", {{"QEMU", "8.0"}}), experiment_error);
}

TEST_F(runner, keeps_what_could_not_be_set_up_until_it_can) {
  run_request first = request();
  const auto make = first.make_stage;
  first.make_stage = [&](const environment& where) {
    if (where.kind == environment_kind::vms) throw obstacle("there is no QEMU");
    return make(where);
  };
  run_experiments(first);
  ASSERT_EQ(stored().facts.bed.obstacles.size(), 1u);
  run_request none = request();
  none.experiments.clear();
  run_experiments(none);
  EXPECT_EQ(stored().facts.bed.obstacles.at("vms"), "there is no QEMU");
  run_request again = request();
  EXPECT_EQ(run_experiments(again).ran, 10u);
  EXPECT_TRUE(stored().facts.bed.obstacles.empty());
}

TEST_F(runner, leaves_nothing_in_a_folder_that_another_process_writes_to) {
  run_request first = request();
  first.experiments.clear();
  run_experiments(first);
  const record_file theirs(first.folder / "runs.jsonl");
  run_request second = request();
  EXPECT_THROW(run_experiments(second), experiment_error);
  EXPECT_TRUE(stored().experiments.empty());
}

TEST_F(runner, refuses_impossible_times) {
  EXPECT_EQ(record_of({{1, "{\"seconds\": 2500000000}", "", false}}, true, "").failure,
            "its 'seconds' are above 1000000000");
  EXPECT_EQ(record_of({{1, "{\"seconds\": 0}", "", false}}, true, "").failure, "its 'seconds' are 0");
}

TEST_F(runner, stores_the_use_where_it_is_known_of_all_copies) {
  EXPECT_EQ(record_of({{1, "", "", false, 0.5}, {2, "", "", false, 1.5}}, false, "").use,
            (std::vector{0.5, 1.5}));
  EXPECT_TRUE(record_of({{1, "", "", false, 0.5}, {2, "", "", true}}, false, "").use.empty());
  EXPECT_TRUE(record_of({{1, "", "", false, 0.5}, {2, "", "", false}}, false, "").use.empty());
  EXPECT_TRUE(record_of({{1, "", "it ended with exit code 3", false, 0.5}}, false, "").use.empty());
}

TEST_F(runner, finds_wrong_results) {
  int calls = 0;
  events_.answer = [&](const job&) {
    return std::vector<copy_end>{
        {1, ++calls == 7 ? "{\"seconds\":0.5,\"result\":\"21\"}" : "{\"seconds\":0.5,\"result\":\"20\"}", "",
         false}};
  };
  run_request all = request();
  EXPECT_EQ(run_experiments(all).failed, 1u);
  const std::vector<record> records = stored().records;
  const auto wrong = std::ranges::find_if(records, [](const record& one) { return !one.failure.empty(); });
  ASSERT_NE(wrong, records.end());
  EXPECT_EQ(wrong->failure, "it gave the result '21', and '20' before");
}

std::filesystem::path at_bin_work(const program& program) {
  return program.command.empty() ? "/bin/work" : "/bin/" + program.command.front();
}

TEST(job, has_the_size_the_workers_and_the_variables) {
  const experiment small = parse_experiment(test::small_experiment);
  const job one = job_of(small.programs[0], small.settings[0], small.environments[2], 2, false, at_bin_work);
  EXPECT_EQ(one.arguments, (std::vector<std::string>{"/bin/work", "fib", "--size", "30", "--workers", "3",
                                                     "--repetitions", "1"}));
  EXPECT_EQ(one.variables, (std::vector<std::pair<std::string, std::string>>{{"OMP_NUM_THREADS", "3"},
                                                                             {"SUKIMA_WAIT", "block"}}));
  EXPECT_TRUE(one.prints_seconds);
  const job quick = job_of(small.programs[0], small.settings[1], small.environments[0], 2, true, at_bin_work);
  EXPECT_EQ(quick.arguments[3], "20");
  EXPECT_EQ(quick.arguments[5], "4");
}

TEST(job, of_a_command_has_its_arguments) {
  program work;
  work.command = {"work", "-n", "x{workers}x{workers}"};
  const job one = job_of(work, {}, {}, 8, false, at_bin_work);
  EXPECT_EQ(one.arguments, (std::vector<std::string>{"/bin/work", "-n", "x8x8"}));
  EXPECT_FALSE(one.prints_seconds);
}

TEST(output, is_read_from_the_last_line_that_is_an_object) {
  const printed read = read_output("noise\n{\"seconds\":1}\n{\"seconds\":2.5,\"result\":7}\nmore noise 3\n");
  EXPECT_EQ(read.seconds, 2.5);
  EXPECT_EQ(read.result, "7");
  EXPECT_FALSE(read_output("12\n[1]\n").seconds);
  EXPECT_FALSE(read_output("{\"seconds\":-1}").seconds);
}

TEST(output, of_copies_gives_the_seconds_of_each) {
  const record two = record_of({{9, "{\"seconds\":1}", "", false}, {9, "", "", true}}, true, "");
  ASSERT_EQ(two.seconds.size(), 2u);
  EXPECT_EQ(two.seconds[0], 1);
  EXPECT_GT(two.seconds[1], 1e300) << "stopped at the time limit";
  EXPECT_EQ(record_of({{9, "", "", false}}, false, "").seconds, std::vector<double>{9}) << "by the clock";
  EXPECT_EQ(record_of({{9, "", "", false}}, true, "").failure,
            "it printed no line of JSON with its 'seconds'");
  EXPECT_EQ(record_of({}, false, "").failure, "no copy was started");
}

TEST(jobs, are_started_by_what_the_setting_has) {
  const experiment small = parse_experiment(test::small_experiment);
  setting how;
  EXPECT_FALSE(starter_of(how));
  how.through = {"starter", "run", "--"};
  const job one = job_of(small.programs[0], how, small.environments[0], 2, false, at_bin_work);
  ASSERT_GE(one.arguments.size(), 5u);
  EXPECT_EQ(std::vector(one.arguments.begin(), one.arguments.begin() + 5),
            (std::vector<std::string>{"/bin/starter", "run", "--", "/bin/work", "fib"}));
}

TEST(jobs, have_the_settings_arguments_after_those_of_the_program) {
  experiment small = parse_experiment(test::small_experiment);
  setting how;
  how.arguments = {"--clients", "{workers}"};
  small.programs[0].benchmark.clear();
  small.programs[0].command = {"work", "once"};
  const job one = job_of(small.programs[0], how, small.environments[0], 3, false, at_bin_work);
  EXPECT_EQ(one.arguments, (std::vector<std::string>{"/bin/work", "once", "--clients", "3"}));
}

}  // namespace
}  // namespace sukima::lab
