// SPDX-License-Identifier: Apache-2.0
// The runtime's remote interface (runtime/shared/remote.hpp), without a cluster: the test is the node.
#include <runtime/shared/remote.hpp>
#include <sukima/cluster.hpp>

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace {

using namespace sukima::detail;
using sukima::call;

struct test_node final : remote_node {
  std::vector<task*> answers;
  std::vector<std::uint64_t> aborts;
  void answered(task* t) noexcept override { answers.push_back(t); }
  void idle() noexcept override {}
  void aborted(std::uint64_t id) noexcept override { aborts.push_back(id); }
  void ended(received_task& /*t*/) noexcept override {}
};

class remote : public testing::Test {
 protected:
  remote() { attach_node(runtime, node); }
  ~remote() override { detach_node(runtime); }
  /// As the cluster thread: no worker may ask.
  void ask() {
    std::thread([&] { request_task(runtime); }).join();
  }
  static sukima::settings one_worker() {
    sukima::settings s;
    s.workers = 1;
    s.elastic = false;
    return s;
  }
  test_node node;
  sukima::runtime runtime{one_worker()};
};

long seven() { return 7; }

TEST_F(remote, answers_a_request_when_nobody_runs) {
  request_task(runtime);
  EXPECT_EQ(node.answers, std::vector<task*>{nullptr});
}

TEST_F(remote, answers_a_request_when_the_worker_ends_without_a_poll) {
  runtime.run([&](sukima::context) { ask(); });
  EXPECT_EQ(node.answers, std::vector<task*>{nullptr});
}

TEST_F(remote, gives_no_work_that_stays) {
  runtime.run([&](sukima::context c) {
    const auto [a, b] = sukima::fork2(
        c,
        [&](sukima::context below) {
          ask();
          static_cast<void>(sukima::fork2(below, seven, seven));  // polls
          return 1;
        },
        [] { return 2; });
    EXPECT_EQ(a + b, 3);
  });
  EXPECT_EQ(node.answers, std::vector<task*>{nullptr});
}

TEST_F(remote, gives_a_call_and_takes_its_result_once) {
  const long sum = runtime.run([&](sukima::context c) {
    const auto [a, b] = sukima::fork2(
        c,
        [&](sukima::context below) {
          ask();
          static_cast<void>(sukima::fork2(below, seven, seven));
          EXPECT_EQ(node.answers.size(), 1u);
          const std::uint64_t id = give_away(runtime, *node.answers.at(0));
          std::vector<std::byte> result;
          put_value(35L, result);
          EXPECT_FALSE(finish(runtime, id + 1, {}));
          EXPECT_TRUE(finish(runtime, id, {result, nullptr, false}));
          EXPECT_FALSE(finish(runtime, id, {result, nullptr, false}));
          return 7L;
        },
        call<seven>());
    return a + b;
  });
  EXPECT_EQ(sum, 42);
  EXPECT_TRUE(node.aborts.empty());
}

TEST_F(remote, tells_an_abort_that_came_before_the_task_was_away) {
  runtime.run([&](sukima::context c) {
    try {
      static_cast<void>(sukima::fork2(
          c,
          [&](sukima::context below) -> long {
            ask();
            static_cast<void>(sukima::fork2(below, seven, seven));
            task& t = *node.answers.at(0);
            t.cancelled.store(true);
            const std::uint64_t id = give_away(runtime, t);
            EXPECT_EQ(node.aborts, std::vector<std::uint64_t>{id});
            finish(runtime, id, {{}, nullptr, true});
            throw std::runtime_error("over");
          },
          call<seven>()));
      ADD_FAILURE();
    } catch (const std::runtime_error&) {
    }
  });
}

}  // namespace
