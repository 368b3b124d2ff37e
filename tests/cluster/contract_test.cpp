// SPDX-License-Identifier: Apache-2.0
// The contract of transports (transport/transport.hpp), for each implementation.
//
// In one process each node is a thread. With CONTRACT_OVER_MPI each node is a process that mpirun has started
// (mpi_test.py), and each runs all of these tests. These nodes exchange words beside their messages by files
// in the folder SUKIMA_CONTRACT_FOLDER.
#include "transport_support.hpp"

#include "transport/mpi_launch.hpp"
#include "transport/mpi_plugin.hpp"

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <random>

#if !defined(CONTRACT_OVER_MPI)
#define CONTRACT_OVER_MPI 0
#endif

namespace {

using namespace transport_support;

class transports : public testing::TestWithParam<std::string> {
 protected:
  static constexpr unsigned count = 3;
  void SetUp() override {
    all.resize(count);
    listeners.resize(count);
    if (GetParam() == "in_process") {
      network_ = std::make_unique<in_process_network>(in_process_network::options{.nodes = count, .seed = 7});
      for (node_id n = 0; n < count; ++n) all[n] = network_->join(n);
    } else if (GetParam() == "tcp") {
      const listening at;
      for (node_id n = 0; n < count; ++n) all[n] = make_tcp_transport(settings_of(n, count, at));
    } else {
      const auto place = started_by_mpi([](const char* name) -> const char* { return std::getenv(name); });
      ASSERT_TRUE(place && place->nodes == count) << "start it with mpirun -n 3";
      only_ = place->node;
      static int begun = 0;
      const bool is_last = ++begun == testing::UnitTest::GetInstance()->test_to_run_count();
      all[*only_] = make_mpi_transport(place->kind, {.nodes = count, .program = "1", .finalizes = is_last},
                                       [](const char* name) -> const char* { return std::getenv(name); });
    }
  }
  /// The nodes of this process.
  std::vector<node_id> here() const { return only_ ? std::vector{*only_} : std::vector<node_id>{0, 1, 2}; }

  /// Each node's thread: start, then main(node), then stop.
  void on_each(const std::function<void(node_id)>& main) {
    const auto run = [&](node_id n) {
      listeners[n].thread = std::this_thread::get_id();
      EXPECT_EQ(all[n]->start(listeners[n], clock::now() + patience), n);
      EXPECT_EQ(all[n]->nodes(), count);
      main(n);
      all[n]->stop(patience);
    };
    if (only_) {  // MPI is called by one thread
      run(*only_);
      return;
    }
    std::vector<std::thread> threads;
    for (node_id n = 0; n < count; ++n) threads.emplace_back(run, n);
    for (std::thread& t : threads) t.join();
  }
  template <class Condition> void wait_until(node_id n, Condition holds) {
    while (!holds()) all[n]->wait(clock::now() + patience);
  }
  /// Wakes the nodes that wait for this, beside the messages.
  void announce() {
    if (only_) std::ofstream(sign()).put('1');
    announced_ = true;
    announced_.notify_all();
  }
  void wait_for_announcement() {
    if (only_)
      while (!std::ifstream(sign()).good()) std::this_thread::sleep_for(1ms);
    else
      announced_.wait(false);
  }

  std::vector<std::unique_ptr<transport>> all;
  std::vector<listener> listeners;

 private:
  static std::string sign() {
    return std::string(std::getenv("SUKIMA_CONTRACT_FOLDER")) + "/line_" +
           std::to_string(testing::UnitTest::GetInstance()->current_test_info()->line());
  }
  std::unique_ptr<in_process_network> network_;
  std::optional<node_id> only_;  ///< this process's node; nothing: all of them are here
  std::atomic<bool> announced_{false};
};

TEST_P(transports, deliver_each_pairs_messages_once_and_in_order) {
  constexpr std::uint32_t messages = 300;
  on_each([&](node_id self) {
    std::mt19937 draws(self);
    for (std::uint32_t i = 0; i < messages; ++i)
      for (node_id to = 0; to < count; ++to) {
        if (to == self) continue;
        const std::size_t size = draws() % 50 == 0 ? 30000 : sizeof i + draws() % 100;
        while (true) {
          bytes m = number(i, size);
          if (all[self]->send(to, std::move(m))) break;
          all[self]->wait(clock::now() + 1ms);
        }
      }
    wait_until(self, [&] { return listeners[self].count("message") == messages * (count - 1); });
  });
  for (const node_id self : here()) {
    std::vector<std::uint32_t> next(count, 0);
    for (const letter& l : listeners[self].got)
      if (l.kind == "message") {
        EXPECT_EQ(number_in(l.content), next[l.from]++);
      }
    for (node_id from = 0; from < count; ++from) EXPECT_EQ(next[from], from == self ? 0 : messages);
  }
}

TEST_P(transports, count_what_others_have_taken) {
  constexpr std::size_t size = 1000;
  on_each([&](node_id self) {
    for (node_id to = 0; to < count; ++to)
      if (to != self) {
        EXPECT_TRUE(all[self]->send(to, bytes(size)));
      }
    wait_until(self, [&] { return listeners[self].count("message") == count - 1; });
    // Of a node that has left it is not known.
    const auto has_left = [&](node_id to) {
      const auto& got = listeners[self].got;
      return std::any_of(got.begin(), got.end(),
                         [to](const letter& l) { return l.kind == "left" && l.from == to; });
    };
    for (node_id to = 0; to < count; ++to)
      while (to != self && all[self]->taken_by(to) < size && !has_left(to))
        all[self]->wait(clock::now() + 1ms);
  });
}

TEST_P(transports, report_that_a_node_left_after_all_that_it_sent) {
  on_each([&](node_id self) {
    if (self == 2) {
      for (std::uint32_t i = 0; i < 50; ++i)
        for (node_id to : {0u, 1u}) EXPECT_TRUE(all[2]->send(to, number(i, 5000)));
      return;
    }
    wait_until(self, [&] { return listeners[self].count("left") >= 1; });
    const auto& got = listeners[self].got;
    const auto left = std::find_if(got.begin(), got.end(), [](const letter& l) { return l.kind == "left"; });
    if (left->from == 2) {
      EXPECT_EQ(std::count_if(got.begin(), left, [](const letter& l) { return l.from == 2; }), 50);
    }
  });
  EXPECT_EQ(listeners[0].count("lost") + listeners[1].count("lost"), 0u);
}

TEST_P(transports, end_a_wait_by_a_ring) {
  std::atomic<bool> rung{false};
  on_each([&](node_id self) {
    if (self != 0) return;
    std::thread other([&] {
      rung = true;
      all[0]->ring();
    });
    while (!rung) all[0]->wait(clock::now() + patience);
    other.join();
    all[0]->ring();  // before the wait
    all[0]->wait(clock::now() + patience);
  });
}

TEST_P(transports, take_messages_of_any_thread_and_of_the_receiver) {
  constexpr unsigned each = 100;
  on_each([&](node_id self) {
    const node_id next = (self + 1) % count;
    listeners[self].answer = [&, self](node_id from, byte_view m) {
      if (m.size() == sizeof(std::uint32_t)) {
        EXPECT_TRUE(all[self]->send(from, number(number_in(m), 8)));
      }
    };
    std::vector<std::thread> senders;
    for (unsigned t = 0; t < 3; ++t)
      senders.emplace_back([&] {
        for (std::uint32_t i = 0; i < each; ++i) EXPECT_TRUE(all[self]->send(next, number(i)));
      });
    wait_until(self, [&] { return listeners[self].count("message") == 6 * each; });
    for (std::thread& t : senders) t.join();
  });
}

TEST_P(transports, refuse_what_would_fill_the_memory) {
  on_each([&](node_id self) {
    if (self == 0) {
      bool refused = false;
      while (!refused) {  // node 2 does not read in the meantime
        bytes large(most_queued / 4);
        refused = !all[0]->send(2, std::move(large));
        EXPECT_EQ(large.size(), refused ? most_queued / 4 : large.size()) << "it stays with its sender";
      }
      announce();
      EXPECT_TRUE(all[0]->send(1, number(1))) << "others are not concerned";
    }
    if (self == 1) wait_until(1, [&] { return listeners[1].count("message") == 1; });
    if (self == 2) {
      wait_for_announcement();
      wait_until(2, [&] { return listeners[2].count("left") == 2; });
    }
  });
}

#if CONTRACT_OVER_MPI
INSTANTIATE_TEST_SUITE_P(all, transports, testing::Values("mpi"), [](const auto& of) { return of.param; });
#else
INSTANTIATE_TEST_SUITE_P(all, transports, testing::Values("in_process", "tcp"),
                         [](const auto& of) { return of.param; });
#endif

}  // namespace
