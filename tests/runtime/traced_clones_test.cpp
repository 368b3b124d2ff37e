// SPDX-License-Identifier: Apache-2.0
// The trace of sequential clones.
#include "clones.hpp"

#include "observe/traced_clones.hpp"

#include <nlohmann/json.hpp>

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

namespace {

using nlohmann::json;
using sukima::fork2;
using sukima::detail::shown_place;

TEST(shown_place, is_the_function_around_a_lambda_as_g_names_it) {
  const std::string fork =
      "constexpr const char* sukima::detail::name_of_place() [with Tag = sukima::detail::fork_place<";
  EXPECT_EQ(
      shown_place(fork +
                  "app::fib<sukima::tracked_context>(sukima::tracked_context, int)::<lambda(auto:2)>, "
                  "app::fib<sukima::tracked_context>(sukima::tracked_context, int)::<lambda(auto:3)> >]"),
      "app::fib(int)");
  EXPECT_EQ(
      shown_place(fork + "named<int, char>, app::solver<std::array<int, 3> >::run(sukima::tracked_context, "
                         "const std::vector<int>&)::<lambda(auto:5)> >]"),
      "app::solver<std::array<int, 3> >::run(const std::vector<int>&)");
}

TEST(shown_place, is_the_place_of_a_lambda_as_clang_names_it) {
  EXPECT_EQ(
      shown_place("const char *sukima::detail::name_of_place() [Tag = sukima::detail::fork_place<(lambda at "
                  "/home/me/fib.cpp:7:49), (lambda at /home/me/fib.cpp:7:75)>]"),
      "fib.cpp:7:49");
}

TEST(shown_place, is_the_whole_name_without_a_lambda) {
  EXPECT_EQ(shown_place("queens"), "queens");
  EXPECT_EQ(shown_place("const char* sukima::detail::name_of_place() [with Tag = fork_place<first, second>]"),
            "fork_place<first, second>");
  EXPECT_EQ(shown_place("name_of_place() [with Tag = " + std::string(500, 'x') + "]").size(), 123u);
}

/// Computes for long at its leaves, if it is to: others then find that nothing older is left.
long traced_tree(auto c, int depth, const std::atomic<bool>& slow) {
  if (depth == 0) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(100);
    while (slow && std::chrono::steady_clock::now() < end) continue;
    return 1;
  }
  auto [a, b] = fork2(
      c, [depth, &slow](auto k) { return traced_tree(k, depth - 1, slow); },
      [depth, &slow](auto k) { return traced_tree(k, depth - 1, slow); });
  return a + b;
}

/// A process of its own runs the program, because the variable is read once.
TEST(traced_clones_death_test, are_counted_by_place_and_depth) {
  GTEST_FLAG_SET(death_test_style, SUKIMA_DEATH_TEST_STYLE);
  constexpr const char* variable = "SUKIMA_TEST_FOLDER";
  if (std::getenv(variable) == nullptr) {
    std::string name = (std::filesystem::temp_directory_path() / "sukima-clones-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    setenv(variable, name.c_str(), 1);
  }
  const std::filesystem::path folder = std::getenv(variable);
  const std::string file = (folder / "trace.json").string();
  EXPECT_EXIT(
      {
        alarm(500);
        setenv("SUKIMA_TRACE", file.c_str(), 1);
        {
          sukima::runtime r(support::with_clones(2, support::second_ns));
          std::atomic<bool> slow{false};
          for (int i = 0; i < 20; ++i) r.run([&](sukima::context c) { return traced_tree(c, 8, slow); });
          slow = true;
          while (r.statistics().clones_left < 5)
            r.run([&](sukima::context c) { return traced_tree(c, 8, slow); });
          std::ofstream(file + ".counts") << r.statistics().clones << ' ' << r.statistics().clones_left;
        }
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
  std::uint64_t clones = 0;
  std::uint64_t left = 0;
  std::ifstream(file + ".counts") >> clones >> left;
  std::ifstream stream(file);
  std::uint64_t traced = 0;
  std::uint64_t traced_left = 0;
  std::set<std::string> places;
  const json trace = json::parse(stream);
  for (const json& e : trace.at("traceEvents")) {
    if (e.at("name") != "clones" && e.at("name") != "clone_polls") continue;
    const json& args = e.at("args");
    places.insert(args.at("place"));
    traced += args.value("clones", 0u);
    traced_left += args.value("left_for_work", 0u);
    EXPECT_GT(args.value("expected_ns", 1u), 0u) << e;
  }
  EXPECT_EQ(traced, clones);
  EXPECT_EQ(traced_left, left);
  ASSERT_EQ(places.size(), 1u);
  EXPECT_TRUE(places.begin()->find("traced_tree(int, const") != std::string::npos ||
              places.begin()->starts_with("traced_clones_test.cpp:"))
      << *places.begin();
  unsetenv(variable);
  std::filesystem::remove_all(folder);
}

}  // namespace
