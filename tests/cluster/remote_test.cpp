// SPDX-License-Identifier: Apache-2.0
// The runtime's remote interface (runtime/shared/remote.hpp), without a cluster: the test is the node.
#include <sukima/sukima.h>
#include <runtime/shared/remote.hpp>
#include <sukima/cluster.hpp>
#include <sukima/search.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <functional>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace sukima::detail;
using sukima::call;

struct test_node final : remote_node {
  std::vector<task*> answers;
  std::vector<std::uint64_t> aborts;
  sukima::resumer giver;
  std::atomic<unsigned> idled{0};
  std::atomic<unsigned> answered_times{0};  ///< by givers that wait
  void answered(task* t) noexcept override { answers.push_back(t); }
  void answered_by_waiting(task& t, sukima::resumer of_giver) noexcept override {
    answers.push_back(&t);
    giver = of_giver;
    answered_times.fetch_add(1);
  }
  void idle() noexcept override { idled.fetch_add(1); }
  unsigned unanswered_looks = 0;
  void unanswered() noexcept override { ++unanswered_looks; }
  void aborted(std::uint64_t id) noexcept override { aborts.push_back(id); }
  void ended(received_task& /*t*/) noexcept override {}
};

class remote : public testing::Test {
 protected:
  remote() { attach_node(runtime, node); }
  ~remote() override { detach_node(runtime); }
  /// As the cluster thread: no worker may ask.
  void ask(giver then = giver::goes_on) {
    std::thread([&] { request_task(runtime, then); }).join();
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

long remote_seven() { return 7; }

TEST_F(remote, answers_a_request_when_no_worker_runs) {
  request_task(runtime);
  EXPECT_EQ(node.answers, std::vector<task*>{nullptr});
}

// sukima_workers_set would free what the node refers to.
TEST(remote_of_the_default_runtime, keeps_it_from_being_replaced) {
  ASSERT_EQ(sukima_workers_set(1), 0);
  test_node node;
  attach_node(sukima::default_runtime(), node);
  EXPECT_EQ(sukima_workers_set(2), EBUSY);
  EXPECT_EQ(sukima_worker_count(), 1);
  detach_node(sukima::default_runtime());
  EXPECT_EQ(sukima_workers_set(2), 0);
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
          static_cast<void>(sukima::fork2(below, remote_seven, remote_seven));  // polls
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
          static_cast<void>(sukima::fork2(below, remote_seven, remote_seven));
          EXPECT_EQ(node.answers.size(), 1u);
          const std::uint64_t id = give_away(runtime, *node.answers.at(0));
          std::vector<std::byte> result;
          put_value(35L, result);
          EXPECT_FALSE(finish(runtime, id + 1, {}));
          EXPECT_TRUE(finish(runtime, id, {result, nullptr, false}));
          EXPECT_FALSE(finish(runtime, id, {result, nullptr, false}));
          return 7L;
        },
        call<remote_seven>());
    return a + b;
  });
  EXPECT_EQ(sum, 42);
  EXPECT_TRUE(node.aborts.empty());
}

TEST_F(remote, tasks_that_stay_run_while_their_fiber_waits_for_a_node) {
  const long sum = runtime.run([&](sukima::context c) {
    const auto waits = [&](sukima::context below) {
      const auto [a, b] = sukima::fork2(
          below,
          [&](sukima::context deeper) {
            ask();
            static_cast<void>(sukima::fork2(deeper, remote_seven, remote_seven));
            return 1L;
          },
          call<remote_seven>());
      return a + b;
    };
    const auto [a, b] = sukima::fork2(c, waits, [&] {
      const std::uint64_t id = give_away(runtime, *node.answers.at(0));
      std::vector<std::byte> result;
      put_value(34L, result);
      EXPECT_TRUE(finish(runtime, id, {result, nullptr, false}));
      return 7L;
    });
    return a + b;
  });
  EXPECT_EQ(sum, 42);
}

TEST_F(remote, offers_a_task_that_cannot_travel_once) {
  const long sum = runtime.run([&](sukima::context c) {
    const auto [a, b] = sukima::fork2(
        c,
        [&](sukima::context below) {
          ask();
          static_cast<void>(sukima::fork2(below, remote_seven, remote_seven));
          EXPECT_EQ(node.answers.size(), 1u);
          keep_here(runtime, *node.answers.at(0));
          ask();
          static_cast<void>(sukima::fork2(below, remote_seven, remote_seven));
          EXPECT_EQ(node.answers.size(), 2u);
          EXPECT_EQ(node.answers.at(1), nullptr);
          return 35L;
        },
        call<remote_seven>());
    return a + b;
  });
  EXPECT_EQ(sum, 42);
}

// Its worker has nothing to do in the meantime, and reports that.
TEST_F(remote, lets_the_giver_wait) {
  std::atomic<bool> goes_on{false};
  std::thread other([&] {
    while (node.idled.load() == 0) std::this_thread::yield();
    EXPECT_FALSE(goes_on.load());
    ASSERT_EQ(node.answers.size(), 1u);
    const std::uint64_t id = give_away(runtime, *node.answers.at(0));
    node.giver.resume();
    while (!goes_on.load()) std::this_thread::yield();
    std::vector<std::byte> result;
    put_value(35L, result);
    EXPECT_TRUE(finish(runtime, id, {result, nullptr, false}));
  });
  const long sum = runtime.run([&](sukima::context c) {
    const auto [a, b] = sukima::fork2(
        c,
        [&](sukima::context below) {
          ask(giver::waits);
          static_cast<void>(sukima::fork2(below, remote_seven, remote_seven));
          goes_on = true;
          return 7L;
        },
        call<remote_seven>());
    return a + b;
  });
  other.join();
  EXPECT_EQ(sum, 42);
}

TEST_F(remote, goes_on_if_it_has_no_task_to_give_although_asked_to_wait) {
  runtime.run([&](sukima::context c) {
    ask(giver::waits);
    const auto [a, b] = sukima::fork2(c, [] { return 1; }, [] { return 2; });
    EXPECT_EQ(a + b, 3);
  });
  EXPECT_EQ(node.answers, std::vector<task*>{nullptr});
}

TEST_F(remote, answers_a_request_that_stands_when_there_is_work) {
  request_task(runtime, giver::goes_on, request_kind::standing);
  runtime.run(
      [](sukima::context c) { static_cast<void>(sukima::fork2(c, [] { return 1; }, [] { return 2; })); });
  EXPECT_TRUE(node.answers.empty()) << "there was none";
  EXPECT_GE(node.unanswered_looks, 1u);
  const long sum = runtime.run([&](sukima::context c) {
    const auto [a, b] = sukima::fork2(
        c,
        [&](sukima::context below) {
          static_cast<void>(sukima::fork2(below, remote_seven, call<remote_seven>()));
          EXPECT_EQ(node.answers.size(), 1u) << "once";
          give_back(runtime, *node.answers.at(0));
          return 35L;
        },
        call<remote_seven>());
    return a + b;
  });
  EXPECT_EQ(sum, 42);
  EXPECT_EQ(node.answers.size(), 1u);
  request_task(runtime);
  ASSERT_EQ(node.answers.size(), 2u) << "the next one does not stand";
  EXPECT_EQ(node.answers[1], nullptr);
  EXPECT_FALSE(withdraw_request(runtime)) << "it was answered";
}

TEST_F(remote, looks_again_when_it_is_reminded) {
  const auto from_outside = [&](auto body) { std::thread(body).join(); };
  const long sum = runtime.run([&](sukima::context c) {
    from_outside([&] { request_task(runtime, giver::goes_on, request_kind::standing); });
    static_cast<void>(sukima::fork2(c, remote_seven, remote_seven));
    EXPECT_GE(node.unanswered_looks, 1u);
    EXPECT_TRUE(node.answers.empty());
    from_outside([&] { remind_of_request(runtime); });
    const auto [a, b] = sukima::fork2(
        c,
        [&](sukima::context) {
          EXPECT_EQ(node.answers.size(), 1u);
          give_back(runtime, *node.answers.at(0));
          return 35L;
        },
        call<remote_seven>());
    return a + b;
  });
  EXPECT_EQ(sum, 42);
}

// The node of a planned start: the next request is there before the fiber continues.
TEST_F(remote, gets_the_next_task_at_the_poll_at_which_a_giver_continues) {
  std::thread other;
  const long sum = runtime.run([&](sukima::context c) {
    sukima::suspend(c, [&](sukima::resumer begins) {
      other = std::thread([this, begins] {
        request_task(runtime, giver::waits, request_kind::standing);
        begins.resume();
        while (node.answered_times.load() < 1) std::this_thread::yield();
        task& first = *node.answers.at(0);
        const sukima::resumer of_first = std::exchange(node.giver, {});
        request_task(runtime, giver::waits, request_kind::standing);
        of_first.resume();
        while (node.answered_times.load() < 2) std::this_thread::yield();
        give_back(runtime, first);
        give_back(runtime, *node.answers.at(1));
        node.giver.resume();
      });
    });
    const auto [a, b] = sukima::fork2(
        c,
        [&](sukima::context below) {
          const auto [d, e] = sukima::fork2(
              below,
              [&](sukima::context deeper) {
                static_cast<void>(sukima::fork2(deeper, seven, seven));
                EXPECT_EQ(node.answers.size(), 2u);
                return 14L;
              },
              call<seven>());
          return d + e;
        },
        call<seven>());
    return a + b;
  });
  other.join();
  EXPECT_EQ(sum, 28);
}

TEST_F(remote, keeps_a_request_for_which_the_giver_waits_for_some_polls) {
  runtime.run([&](sukima::context c) {
    std::thread([&] { request_task(runtime, giver::waits, request_kind::standing); }).join();
    const auto poll = [&] { static_cast<void>(sukima::fork2(c, seven, seven)); };
    poll();
    poll();
    EXPECT_EQ(node.unanswered_looks, 0u);
    for (unsigned i = 0; i < polls_before_unanswered; ++i) poll();
    EXPECT_GE(node.unanswered_looks, 1u);
  });
  EXPECT_TRUE(node.answers.empty());
  EXPECT_TRUE(withdraw_request(runtime));
}

std::function<void()> at_each_leaf;
std::function<void(int)> after_poll;
long at_iteration(sukima::context c, int i) {
  at_each_leaf();
  static_cast<void>(sukima::fork2(c, remote_seven, remote_seven));  // polls
  after_poll(i);
  return i;
}
TEST_F(remote, gets_pieces_whose_ends_do_not_depend_on_where_a_loop_stands) {
  struct piece {
    int asked_at;
    std::int64_t from;
  };
  for (const auto [asked_at, from] : {piece{0, 8}, {2, 8}, {3, 8}, {6, 12}, {9, 12}, {11, 14}, {13, 15}}) {
    node.answers.clear();
    int begun = 0;
    at_each_leaf = [&, at = asked_at] {
      if (begun++ == at) ask();
    };
    after_poll = [&, at = asked_at, first = from](int i) {
      if (i != at) return;
      task& t = *node.answers.at(0);
      std::vector<std::byte> bytes;
      t.kind->travel->put(t, bytes);
      std::int64_t ends[2];
      ASSERT_GE(bytes.size(), sizeof ends);
      std::memcpy(ends, bytes.data(), sizeof ends);
      EXPECT_EQ(ends[0], first) << "asked at " << at;
      EXPECT_EQ(ends[1], 16);
      give_back(runtime, t);
    };
    EXPECT_EQ(runtime.run([](sukima::context c) {
      return sukima::parallel_reduce(c, 0, 16, 0L, call<at_iteration>(), std::plus{});
    }),
              120);
  }
}

// A part of a part that came from elsewhere has the name that its owner gives it.
TEST_F(remote, gets_pieces_of_one_form_from_a_loop_and_from_its_pieces) {
  const auto whole = [](sukima::context c) {
    EXPECT_EQ(sukima::parallel_reduce(c, 0, 16, 0L, call<at_iteration>(), std::plus{}), 120);
  };
  const travel_form* form = nullptr;
  std::vector<std::byte> bytes;
  const auto split_at = [&](int iteration, const auto& loop) {
    node.answers.clear();
    bytes.clear();
    at_each_leaf = [] {};
    after_poll = [&](int i) {
      if (i == iteration) ask();
      if (i != iteration + 1) return;
      task& t = *node.answers.at(0);
      form = t.kind->travel->form;
      t.kind->travel->put(t, bytes);
      give_back(runtime, t);
    };
    runtime.run(loop);
  };
  split_at(9, whole);
  const travel_form* const of_whole = form;
  const std::vector<std::byte> part_of_whole = bytes;
  split_at(0, whole);
  received_task* const piece = form->make(*form, bytes);
  split_at(9, [&](sukima::context c) { piece->run(piece, c); });
  piece->destroy(piece);
  EXPECT_EQ(form, of_whole);
  EXPECT_EQ(bytes, part_of_whole);
}

// No join would wait for a task that is split off from it then.
TEST_F(remote, gets_nothing_from_a_loop_that_an_exception_leaves) {
  at_each_leaf = [&] { ask(); };
  after_poll = [&](int) {
    const std::uint64_t id = give_away(runtime, *node.answers.at(0));
    EXPECT_TRUE(finish(runtime, id, {{}, nullptr, true}));
    throw std::runtime_error("over");
  };
  const auto loop = [](sukima::context c) {
    return sukima::parallel_reduce(c, 0, 16, 0L, call<at_iteration>(), std::plus{});
  };
  const std::uint64_t before = runtime.statistics().promotions;
  EXPECT_THROW(static_cast<void>(runtime.run(loop)), std::runtime_error);
  EXPECT_EQ(runtime.statistics().promotions - before, 1u);
}

// A clone has no choice points, but ends for a request that does not stand.
struct path {
  int left = 0;
};
template <class C> long ends_below(C c, path& p) {
  if (p.left == 0) {
    at_each_leaf();
    return 1;
  }
  return sukima::search(
      c, p, std::views::iota(0, 3),
      [](path& w, int) {
        --w.left;
        return true;
      },
      [](path& w, int) { ++w.left; }, [](auto below, path& w, int) { return ends_below(below, w); },
      std::plus{});
}
// At its join the last choice is undone: no worker that goes back to an older fork may undo it once more.
bool undone_twice = false;
TEST_F(remote, does_not_go_back_over_a_search_that_waits_at_its_join) {
  undone_twice = false;
  at_each_leaf = [&] {
    if (node.answers.empty()) ask();
  };
  const auto searches = [](sukima::context below) {
    path p{1};
    const long ends = sukima::search(
        below, p, std::views::iota(0, 2), [](path& w, int) { --w.left; },
        [](path& w, int) {
          if (++w.left > 1) undone_twice = true;
        },
        [](sukima::context deeper, path&, int) {
          at_each_leaf();
          static_cast<void>(sukima::fork2(deeper, remote_seven, remote_seven));  // polls
          return 1L;
        },
        std::plus{});
    EXPECT_EQ(p.left, 1);
    return ends;
  };
  const long sum = runtime.run([&](sukima::context c) {
    const auto [a, b] = sukima::fork2(c, searches, [&] {
      const std::uint64_t id = give_away(runtime, *node.answers.at(0));
      std::vector<std::byte> result;
      put_optional(std::optional<long>(1), result);
      EXPECT_TRUE(finish(runtime, id, {result, nullptr, false}));
      return 40L;
    });
    return a + b;
  });
  EXPECT_EQ(sum, 42);
  EXPECT_FALSE(undone_twice);
}
TEST_F(remote, ends_a_clone_for_a_request) {
  constexpr unsigned rounds = 400;  // soon each is one clone
  unsigned begun = 0;
  bool is_given = false;
  at_each_leaf = [&] {
    if (++begun == (rounds - 1) * 243 + 100) ask();
    if (node.answers.size() == 1 && node.answers[0] != nullptr) {
      give_back(runtime, *std::exchange(node.answers[0], nullptr));
      is_given = true;
    }
  };
  long ends = 0;
  runtime.run([&](sukima::context c) {
    path p{5};
    for (unsigned i = 0; i < rounds; ++i) ends += ends_below(c, p);
  });
  EXPECT_EQ(ends, 243L * rounds);
  EXPECT_EQ(node.answers.size(), 1u);
  EXPECT_TRUE(is_given);
  EXPECT_EQ(runtime.statistics().clones == 0, sukima::detail::checks::on);  // checked code runs none
}

// Work of a fiber that is ready and does not run is visible to no worker.
struct ready_and_running final : received_task {
  std::function<void(sukima::context)> body;
};
class ready_fibers : public remote {
 protected:
  /// Lets the root run while a received task polls that has nothing to give. \pre `ask_for_it` asks once
  template <class Ask, class Then> void run_while_another_polls(Ask ask_for_it, Then in_root) {
    sukima::resumer root;
    bool root_ran = false;
    ready_and_running t;
    t.run = [](task* self, sukima::context c) { static_cast<ready_and_running*>(self)->body(c); };
    t.destroy = [](task*) noexcept {};
    t.body = [&](sukima::context c) {
      root.resume();
      ask_for_it();
      for (int i = 0; i < 1000 && !root_ran; ++i)
        static_cast<void>(sukima::fork2(c, remote_seven, remote_seven));  // polls
      EXPECT_TRUE(root_ran);
      root.resume();
    };
    runtime.run([&](sukima::context c) {
      const auto wait = [&](auto then) {
        sukima::suspend(c, [&](sukima::resumer r) {
          root = r;
          then();
        });
      };
      wait([&] { std::thread([&] { deliver(runtime, t); }).join(); });
      root_ran = true;
      in_root();
      wait([] {});
    });
  }
};
TEST_F(ready_fibers, run_where_the_running_one_has_nothing) {
  run_while_another_polls([&] { ask(); }, [] {});
  EXPECT_EQ(node.answers, std::vector<task*>{nullptr});
}

// Otherwise no worker would look again for a request that stands.
TEST_F(ready_fibers, run_after_the_node_got_the_answer_that_there_is_nothing) {
  run_while_another_polls(
      [&] { std::thread([&] { request_task(runtime, giver::goes_on, request_kind::standing); }).join(); },
      [&] { EXPECT_EQ(node.unanswered_looks, 1u); });
  EXPECT_TRUE(node.answers.empty());
  EXPECT_TRUE(withdraw_request(runtime));
}

TEST_F(remote, forgets_a_request_that_was_withdrawn) {
  request_task(runtime, giver::goes_on, request_kind::standing);
  EXPECT_TRUE(withdraw_request(runtime));
  EXPECT_FALSE(withdraw_request(runtime));
  const long sum = runtime.run([&](sukima::context c) {
    const auto [a, b] = sukima::fork2(
        c,
        [&](sukima::context below) {
          static_cast<void>(sukima::fork2(below, remote_seven, remote_seven));
          return 35L;
        },
        call<remote_seven>());
    return a + b;
  });
  EXPECT_EQ(sum, 42);
  EXPECT_TRUE(node.answers.empty());
  request_task(runtime);
  EXPECT_EQ(node.answers, std::vector<task*>{nullptr}) << "the next one does not stand";
}

TEST_F(remote, sends_an_abort_that_came_before_the_task_was_sent) {
  runtime.run([&](sukima::context c) {
    try {
      static_cast<void>(sukima::fork2(
          c,
          [&](sukima::context below) -> long {
            ask();
            static_cast<void>(sukima::fork2(below, remote_seven, remote_seven));
            task& t = *node.answers.at(0);
            t.cancelled.store(true);
            const std::uint64_t id = give_away(runtime, t);
            EXPECT_EQ(node.aborts, std::vector<std::uint64_t>{id});
            finish(runtime, id, {{}, nullptr, true});
            throw std::runtime_error("over");
          },
          call<remote_seven>()));
      ADD_FAILURE();
    } catch (const std::runtime_error&) {
    }
  });
}

}  // namespace
