// SPDX-License-Identifier: Apache-2.0
// A node that sends a task a second time while the first one runs: the other one ends with a sentence.
#include "support.hpp"

#include "entry/forms.hpp"

#include <cstdio>
#include <cstdlib>

namespace {

using namespace cluster_support;
using namespace sukima::cluster;
using sukima::call;

long runs_for_ever(sukima::context c) {
  for (;;) {
    static_cast<void>(sukima::fork2(c, [] { return 0; }, [] { return 0; }));
    std::this_thread::yield();
  }
}

/// Node 0, which answers each request by the same task.
class repeats_itself final : public receiver {
 public:
  explicit repeats_itself(in_process_network& network) : transport_(network.join(0)) {}
  void meet() { transport_->start(*this, clock::now() + 500s); }
  [[noreturn]] void serve() {
    for (;;) transport_->wait(clock::now() + 500s);
  }
  void on_message(node_id from, byte_view bytes_of_message) override {
    const auto m = read_message(bytes_of_message);
    if (!m || (m->kind != message_kind::request && m->kind != message_kind::lifeline)) return;
    const auto number =
        form_table().number_of(sukima::detail::travels<decltype(call<runs_for_ever>())>::form).value();
    transport_->send(from, write_message({.kind = message_kind::task,
                                          .entry = m->entry,
                                          .function = number,
                                          .id = 7,
                                          .request = m->request}));
  }
  void on_left(node_id /*node*/) override {}
  void on_lost(node_id /*node*/, const std::string& /*why*/) override {}

 private:
  std::unique_ptr<transport> transport_;
};

long entry(sukima::context c) {
  const auto [a, b] = sukima::fork2(c, call<runs_for_ever>(), call<runs_for_ever>());
  return a + b;
}

void gets_a_task_twice() {
  in_process_network network({.nodes = 2});
  repeats_itself other(network);
  std::thread meets([&] {
    other.meet();
    other.serve();
  });
  sukima::runtime workers(settings_of({.workers = 3}));
  node_options options;
  options.on_failure = [](const run_failure& why) {
    std::fprintf(stderr, "%s\n", why.sentence.c_str());
    std::_Exit(why.status);
  };
  node tested(workers, network.join(1), std::move(options));
  sukima::detail::cluster_entry_of called(call<entry>());
  tested.run(called);
}

TEST(twice_death_test, a_task_that_is_here_already_ends_the_node) {
  GTEST_FLAG_SET(death_test_style, SUKIMA_DEATH_TEST_STYLE);
  EXPECT_EXIT(gets_a_task_twice(), testing::ExitedWithCode(75), "node 0 sent a task twice");
}

}  // namespace
