// SPDX-License-Identifier: Apache-2.0
// SUKIMA_OBJECTS=FILE: programs run as a plan says, and plans that are refused.
#include "support.hpp"

#include <sukima/capacity.h>

#include <array>
#include <fstream>

namespace {

using namespace support;

/// The text after the machine in the plan of the program below.
const std::string groups = R"("groups": [["a", "c"], ["b"]])";
const std::string capacities = R"("capacities": {"one": 5, "two": 1})";

class plan : public testing::Test {
 protected:
  void write(const std::string& model, const std::string& rest,
             std::uint64_t machine = sukima_capacity_machine(nullptr)) {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(machine));
    std::ofstream(path_) << R"({"sukima-objects-plan": 1, "program": "p", "machine": ")" << text
                         << R"(", "cpus": 2, "predicted_ns": 1, "model": ")" << model << "\", " << rest
                         << "}";
  }

  /// Runs three objects in a row. \returns how many messages the first stream took before it was full
  int run() {
    const model_chosen chosen(path_);
    program p(runtime_);
    const auto one = p.stream<int>("one", capacity{64}), two = p.stream<int>("two", capacity{64});
    int room = 0;
    p.object(
        "a",
        [&](out<int> to) {
          threads_[0] = std::this_thread::get_id();
          while (to.try_send(room) == send_result::sent) ++room;
        },
        one.out());
    p.object(
        "b",
        [&](in<int> from, out<int> to) {
          threads_[1] = std::this_thread::get_id();
          while (!from.is_closed() && !may_go_.load()) std::this_thread::sleep_for(1ms);
          for (const int i : from) to.send(i);
        },
        one.in(), two.out());
    p.object(
        "c",
        [&](in<int> from) {
          may_go_.store(true);
          threads_[2] = std::this_thread::get_id();
          for (int next = 0; const auto i = from.receive(); ++next) EXPECT_EQ(*i, next);
        },
        two.in());
    p.run();
    return room;
  }
  std::string refusal() {
    try {
      run();
    } catch (const sukima::bad_setting& error) {
      return error.what();
    }
    return "accepted";
  }
  void expect_refusal(const std::string& part) {
    const std::string text = refusal();
    EXPECT_EQ(text.find("SUKIMA_OBJECTS=" + path_ + ": "), 0u) << text;
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }

  const own_folder folder_;
  const std::string path_ = folder_.file("plan");
  sukima::runtime runtime_{with_workers(2)};
  std::array<std::thread::id, 3> threads_;  ///< of a, b and c
  std::atomic<bool> may_go_{false};
};

TEST_F(plan, decides_about_groups_and_capacities) {
  write("threads:simulated", groups + ", " + capacities);
  EXPECT_EQ(run(), 8) << "five, rounded up";
  EXPECT_EQ(threads_[0], threads_[2]);
  EXPECT_NE(threads_[0], threads_[1]);
}

TEST_F(plan, of_a_second_run_leaves_the_messages_of_the_first_one_alone) {
  const auto token = std::make_shared<int>(7);
  {
    const model_chosen chosen(path_);
    program p(runtime_);
    const auto one = p.stream<std::shared_ptr<int>>("one", capacity{8});
    p.object(
        "a",
        [&](out<std::shared_ptr<int>> to) {
          for (int i = 0; i < 5; ++i) to.send(token);
        },
        one.out());
    p.object("b", [](const in<std::shared_ptr<int>>&) {}, one.in());
    write("simulated", R"("groups": [["a", "b"]], "capacities": {"one": 8})");
    p.run();
    write("simulated", R"("groups": [["a", "b"]], "capacities": {"one": 64})");
    EXPECT_THROW(p.run(), sukima::usage_error);
  }
  EXPECT_EQ(token.use_count(), 1);
}

TEST_F(plan, may_be_for_any_model_that_can_run) {
  const std::string rest = groups + ", " + capacities;
  for (const char* model : {"simulated", "workers:simulated", "threads"}) {
    may_go_.store(true);
    write(model, rest);
    EXPECT_GE(run(), 8) << model;
  }
}

TEST_F(plan, of_something_else_is_refused) {
  expect_refusal("a plan file that can be read");
  write("simulated", groups + ", " + capacities, 1);
  expect_refusal("the plan: it was made for another machine: make a new plan");
  write("magic", groups + ", " + capacities);
  expect_refusal("model: there is no such model");
  write("simulated", R"("groups": [["a", "c"], ["b", "d"]], )" + capacities);
  expect_refusal("the plan is for another program, which has an object 'd'; make a plan for this one");
  write("simulated", R"("groups": [["a", "c"]], )" + capacities);
  expect_refusal("which has no object 'b'");
  write("simulated", groups + R"(, "capacities": {"one": 5})");
  expect_refusal("which has no stream 'two'");
  write("simulated", groups + R"(, "capacities": {"one": 5, "two": 2, "three": 3})");
  expect_refusal("which has a stream 'three'");
  write("simulated", groups + R"(, "capacities": {"one": 0, "two": 2})");
  expect_refusal("capacities.one: must be a whole number from 1 to ");
  std::ofstream(path_) << "nothing";
  expect_refusal("the plan is not JSON");
}

TEST(plan_file, a_device_without_an_end_is_refused) {
  const model_chosen chosen("/dev/zero");
  program p;
  p.object("a", [] {});
  try {
    p.run();
    FAIL();
  } catch (const sukima::bad_setting& e) {
    EXPECT_STREQ(e.what(), "SUKIMA_OBJECTS=/dev/zero: the file is longer than 64 MiB, so it is not a plan");
  }
}

TEST_F(plan, the_time_of_the_first_run_is_written) {
  const std::string file = folder_.file("time");
  setenv("SUKIMA_OBJECTS_TIME", file.c_str(), 1);
  const auto read = [&file] {
    double time_ns = 0;
    std::ifstream(file) >> time_ns;
    return time_ns;
  };
  const auto sleep = [this](std::chrono::milliseconds time) {
    program p(runtime_);
    p.object("a", [time] { std::this_thread::sleep_for(time); });
    p.run();
  };
  const auto before = std::chrono::steady_clock::now();
  sleep(20ms);
  const std::chrono::duration<double, std::nano> all = std::chrono::steady_clock::now() - before;
  const double first = read();
  EXPECT_GE(first, 20e6);
  EXPECT_LE(first, all.count());
  sleep(1ms);
  EXPECT_EQ(read(), first);
  unsetenv("SUKIMA_OBJECTS_TIME");
}

TEST_F(plan, in_a_folder_is_refused) {
  const model_chosen chosen(std::filesystem::temp_directory_path());
  program p(runtime_);
  p.object("a", [] {});
  EXPECT_THROW(p.run(), sukima::bad_setting);
}

}  // namespace
