// SPDX-License-Identifier: Apache-2.0
// TCP among many nodes: which are connected, how two of them call each other, and how all learn who is gone.
#include "joining_support.hpp"
#include "transport/call_failure.hpp"
#include "transport/calls.hpp"
#include "transport/sparse_graph.hpp"
#include "transport/tcp_address.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <system_error>

namespace {

using namespace joining_support;
using nodes = std::vector<node_id>;

TEST(sparse_graph, lets_each_node_ask_about_twice_the_logarithm_of_their_number) {
  for (const unsigned count : {33u, 64u, 100u, 1024u})
    for (node_id a = 1; a < count; ++a) {
      unsigned partners = 0;
      for (node_id b = 0; b < count; ++b) {
        EXPECT_EQ(ask_each_other(a, b, count), ask_each_other(b, a, count)) << a << " " << b;
        if (a != b && ask_each_other(a, b, count)) ++partners;
      }
      EXPECT_TRUE(ask_each_other(a, 0, count)) << "entries begin there";
      EXPECT_GE(partners, 10u);
      EXPECT_LE(partners, 2u * static_cast<unsigned>(std::bit_width(count - 1)) + 1);
    }
}

TEST(calls_of_nodes, let_the_lower_number_win) {
  calls low(2, 9);
  calls high(7, 9);
  const auto from_low = low.begin(7);
  const auto from_high = high.begin(2);
  EXPECT_EQ(low.answer_to(7), calls::answer::wait);
  EXPECT_TRUE(low.is_current(7, from_low));
  EXPECT_EQ(high.answer_to(2), calls::answer::taken);
  EXPECT_FALSE(high.is_current(2, from_high));
}

TEST(calls_of_nodes, take_one_that_comes_alone) {
  calls low(2, 9);
  EXPECT_EQ(low.answer_to(7), calls::answer::taken);
  calls high(7, 9);
  EXPECT_EQ(high.answer_to(2), calls::answer::taken);
}

TEST(calls_of_nodes, let_the_higher_number_win_between_attempts) {
  calls low(2, 9);
  const auto number = low.begin(7);
  low.pause(7, true);
  EXPECT_EQ(low.answer_to(7), calls::answer::taken);
  EXPECT_FALSE(low.is_current(7, number));
  EXPECT_NE(low.begin(7), 0u);
  EXPECT_EQ(low.answer_to(7), calls::answer::wait) << "the next one is under way";
  low.pause(7, true);
  low.pause(7, false);
  EXPECT_EQ(low.answer_to(7), calls::answer::wait);
}

TEST(calls_of_nodes, wait_for_the_winner_unless_it_may_be_gone) {
  calls high(7, 9);
  EXPECT_NE(high.begin(2), 0u);
  EXPECT_EQ(high.begin(2), 0u) << "one is under way";
  EXPECT_TRUE(high.wait_for(2));
  EXPECT_TRUE(high.is_waiting_for(2));
  EXPECT_EQ(high.begin(2), 0u);
  high.doubt(2);
  EXPECT_NE(high.begin(2), 0u);
  high.doubt(2);  // the news overtakes the answer
  EXPECT_FALSE(high.wait_for(2));
  EXPECT_NE(high.begin(2), 0u);
}

TEST(calls_of_nodes, make_progress_when_an_attempt_gets_further_than_those_before) {
  calls c(7, 9);
  EXPECT_NE(c.begin(2), 0u);
  const auto steps_of_attempt = [&](unsigned arrivals) {
    const auto before = c.steps();
    for (unsigned i = 0; i < arrivals; ++i) c.count_arrival(2);
    c.pause(2, true);
    c.pause(2, false);
    return c.steps() - before;
  };
  EXPECT_EQ(steps_of_attempt(2), 2u);
  EXPECT_EQ(steps_of_attempt(2), 0u)
      << "else a node that closes each attempt would be waited for without end";
  EXPECT_EQ(steps_of_attempt(3), 1u);
  EXPECT_TRUE(c.wait_for(2));
  c.doubt(2);
  EXPECT_NE(c.begin(2), 0u);
  EXPECT_EQ(steps_of_attempt(3), 0u);
  c.end(2);
  EXPECT_EQ(steps_of_attempt(0), 0u);
}

TEST(call_failures, of_one_address_end_no_node_that_may_have_others) {
  namespace error = boost::asio::error;
  const call_failure refused = failure_of(error::connection_refused);
  EXPECT_EQ(refused, call_failure::refused);
  for (const boost::system::error_code e :
       {boost::system::error_code(error::host_unreachable), boost::system::error_code(error::timed_out),
        boost::system::error_code(error::operation_aborted)})
    EXPECT_EQ(std::max(refused, failure_of(e)), call_failure::no_way) << e.message();
  EXPECT_EQ(std::max(refused, failure_of(error::address_family_not_supported)), call_failure::refused);
}

TEST(call_failures, of_this_machine_say_nothing_about_the_other_node) {
  for (const int e : {EMFILE, ENFILE, ENOBUFS, ENOMEM, EADDRNOTAVAIL})
    EXPECT_EQ(failure_of({e, boost::system::system_category()}), call_failure::no_means) << std::strerror(e);
}

unsigned long sockets() {
  unsigned long count = 0;
  for (const auto& descriptor : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code closed;  // that of this folder
    if (std::filesystem::read_symlink(descriptor.path(), closed).string().starts_with("socket:")) ++count;
  }
  return count;
}

/// Nodes in this process that count as many. After the meeting one thread works for all of them.
class crowd {
 public:
  static constexpr unsigned count = 12;
  /// Each is connected to node 0 and to four neighbours, of which node 0 is one for four nodes.
  static constexpr unsigned long first_connections = (count - 1) + 2 * count - 4;

  /// \param room    how many more may join
  /// \param change  changes the settings of a node
  explicit crowd(
      bool survives_losses, const nodes& living = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, unsigned room = 0,
      const std::function<void(tcp_settings&)>& change = [](tcp_settings&) {})
      : at_first_(sockets() - 1), all(count), to(count) {  // node 0's listens
    for (const node_id n : living) {
      tcp_settings s = settings_of(n, count + room, at);
      s.room = room;
      s.most_meshed = 4;
      s.survives_losses = survives_losses;
      s.heartbeat.period = 500s;
      change(s);
      all[n] = make_tcp_transport(std::move(s));
    }
  }
  void meet() {
    std::vector<std::thread> threads;
    for (node_id n = 0; n < count; ++n)
      if (all[n] != nullptr)
        threads.emplace_back([this, n] {
          to[n].thread = std::this_thread::get_id();
          EXPECT_NO_THROW(all[n]->start(to[n], clock::now() + patience));
        });
    for (std::thread& t : threads) t.join();
    for (listener& l : to) l.thread = std::this_thread::get_id();
  }
  /// Lets these nodes work, or all of them, until that holds.
  template <class Condition> void work_until(Condition holds, const nodes& only = {}) {
    while (!holds())
      for (node_id n = 0; n < count; ++n)
        if (all[n] != nullptr && (only.empty() || std::ranges::find(only, n) != only.end()))
          all[n]->wait(clock::now() + 100us);
  }
  /// Connections, if each has both ends here.
  unsigned long connections() const {
    const auto listening = static_cast<unsigned long>(
        std::ranges::count_if(all, [](const auto& node) { return node != nullptr; }));
    return (sockets() - at_first_ - listening) / 2;
  }
  /// The nodes of which a node has got that kind of letter, in the order of their numbers.
  nodes of_kind(node_id n, const std::string& kind) const {
    nodes found;
    for (const letter& l : to[n].got)
      if (l.kind == kind) found.push_back(l.from);
    std::ranges::sort(found);
    return found;
  }
  bool living_have(const std::string& kind, const nodes& about) const {
    for (node_id n = 0; n < count; ++n)
      if (all[n] != nullptr && of_kind(n, kind) != about) return false;
    return true;
  }
  /// Ends a node as a crash does.
  void kill(node_id n) { all[n].reset(); }
  /// Lets a node leave while these work.
  void leave(node_id n, const nodes& only) {
    std::future<void> left = std::async(std::launch::async, [this, n] {
      to[n].thread = std::this_thread::get_id();
      all[n]->stop(patience);
    });
    work_until([&] { return left.wait_for(0s) == std::future_status::ready; }, only);
    all[n].reset();
  }

  listening at;

 private:
  const unsigned long at_first_;

 public:
  std::vector<std::unique_ptr<transport>> all;
  std::vector<listener> to;
};

/// Node 12 of a crowd with room. Until it has joined, it works by itself.
class newcomer {
 public:
  explicit newcomer(const crowd& c)
      : joined_(std::async(std::launch::async, [this, port = c.at.port] {
          tcp_settings s = asking(port, mode::steals);
          s = joining_support::with_place(s, ask_for_place(s, clock::now() + patience));
          EXPECT_EQ(s.own.node, number);
          s.most_meshed = 4;
          s.heartbeat.period = 500s;
          self = make_tcp_transport(std::move(s));
          to.thread = std::this_thread::get_id();
          EXPECT_NO_THROW(self->start(to, clock::now() + patience));
        })) {}
  bool has_joined() const { return joined_.wait_for(0s) == std::future_status::ready; }

  static constexpr node_id number = crowd::count;
  std::unique_ptr<transport> self;
  listener to;

 private:
  std::future<void> joined_;
};

/// Node 11, which says only what a test lets it say.
class puppet {
 public:
  static constexpr node_id self = 11;

  /// Begins to meet the others, which then must meet.
  /// \param own  the port where the others call it
  puppet(const crowd& c, bool survives_losses, unsigned room = 0, std::uint16_t own = 9)
      : thread_([this, port = c.at.port, survives_losses, room, own] {
          const auto meet = [&](node_id n, std::uint16_t at) {
            to_[n] = std::make_unique<silent_node>(connect_to(at), handshake::role::connector, self,
                                                   crowd::count + room, own, survives_losses);
            std::optional<frame> f;
            do f = to_[n]->next();
            while (f && f->kind != (n == 0 ? frame_kind::members : frame_kind::answer));
            return f.value_or(frame{}).content;
          };
          const bytes members = meet(0, port);
          if (members.empty()) return;
          const std::vector<member> list = read_members(members, crowd::count + room - 1);
          for (const node_id n : {1u, 9u, 10u}) meet(n, list[n - 1].port);
        }) {}
  ~puppet() { wait_until_met(); }
  void wait_until_met() {
    if (thread_.joinable()) thread_.join();
  }
  silent_node& to(node_id n) { return *to_.at(n); }
  void hang_up(node_id n) { to_.erase(n); }

 private:
  std::map<node_id, std::unique_ptr<silent_node>> to_;
  std::thread thread_;
};
const nodes without_puppet{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

TEST(many_nodes_by_tcp, are_connected_to_node_0_and_their_neighbours_first) {
  crowd c(false);
  c.meet();
  EXPECT_EQ(c.connections(), crowd::first_connections);
}

TEST(many_nodes_by_tcp, connect_for_the_first_message) {
  crowd c(false);
  c.meet();
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_TRUE(c.all[2]->send(8, number(i)));
  c.to[8].answer = [&](node_id from, byte_view m) {
    EXPECT_TRUE(c.all[8]->send(from, number(number_in(m))));
  };
  c.work_until([&] { return c.to[2].got.size() == 3; });
  for (const node_id n : {2u, 8u})
    for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(number_in(c.to[n].got[i].content), i) << n;
  EXPECT_EQ(c.connections(), crowd::first_connections + 1);
}

TEST(many_nodes_by_tcp, keep_one_connection_of_two_that_call_each_other) {
  for (const bool survives : {false, true}) {
    crowd c(survives);
    c.meet();
    for (std::uint32_t i = 0; i < 20; ++i)
      for (node_id a = 0; a < crowd::count; ++a)
        for (node_id b = 0; b < crowd::count; ++b)
          if (a != b) {
            EXPECT_TRUE(c.all[a]->send(b, number(i)));
          }
    const auto has_all = [&](const listener& l) { return l.count("message") >= 20 * (crowd::count - 1); };
    c.work_until([&] { return std::ranges::all_of(c.to, has_all); });
    c.work_until([&] { return c.connections() == crowd::count * (crowd::count - 1) / 2; });
    for (node_id n = 0; n < crowd::count; ++n) {
      EXPECT_EQ(c.to[n].got.size(), 20 * (crowd::count - 1)) << "none is lost";
      std::vector<std::uint32_t> next(crowd::count, 0);
      for (const letter& l : c.to[n].got) EXPECT_EQ(number_in(l.content), next[l.from]++);
    }
  }
}

TEST(many_nodes_by_tcp, learn_of_a_death_without_a_connection) {
  crowd c(true);
  c.meet();
  EXPECT_TRUE(c.all[2]->send(7, number(1)));  // on the way to it
  c.kill(7);
  c.work_until([&] { return c.living_have("lost", {7}); });
  EXPECT_FALSE(c.all[3]->send(7, number(1)));
}

// All neighbours of node 7 die with it, and node 0, which all are connected to.
TEST(many_nodes_by_tcp, learn_of_many_deaths_at_once) {
  crowd c(true);
  c.meet();
  for (const node_id n : {0u, 5u, 6u, 7u, 8u, 9u}) c.kill(n);
  c.work_until([&] { return c.living_have("lost", {0, 5, 6, 7, 8, 9}); });
  EXPECT_TRUE(c.all[4]->send(11, number(1)));
  c.work_until([&] { return c.to[11].count("message") == 1; });
}

TEST(many_nodes_by_tcp, end_their_run_at_a_death_if_they_steal) {
  crowd c(false);
  c.meet();
  c.kill(7);
  c.work_until([&] { return c.of_kind(0, "lost") == nodes{7}; });  // which ends node 0
  c.kill(0);
  c.work_until([&] { return c.of_kind(3, "lost") == nodes{0}; });
}

TEST(many_nodes_by_tcp, learn_that_a_node_without_a_connection_left) {
  for (const bool survives : {false, true}) {
    crowd c(survives);
    c.meet();
    c.leave(7, {0, 1, 3, 4, 5, 6, 8, 9, 10, 11});
    EXPECT_TRUE(c.all[2]->send(7, number(1))) << "it does not know yet";
    if (survives)
      c.work_until([&] { return c.of_kind(2, "left").size() + c.of_kind(2, "lost").size() == 1; });
    else
      c.work_until([&] { return c.living_have("left", {7}); });
    EXPECT_FALSE(c.all[2]->send(7, number(1)));
  }
}

TEST(many_nodes_by_tcp, send_all_before_they_leave) {
  crowd c(false);
  c.meet();
  EXPECT_TRUE(c.all[8]->send(2, number(3)));
  c.leave(8, {0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11});
  c.work_until([&] { return c.of_kind(2, "left") == nodes{8}; });
  EXPECT_EQ(c.of_kind(2, "message"), nodes{8});
  EXPECT_EQ(c.to[2].got.back().kind, "left");
}

// Node 11 reports the loss of node 5 to node 9, which has no connection to it.
TEST(many_nodes_by_tcp, do_not_believe_that_a_living_node_is_lost) {
  crowd c(true, without_puppet);
  puppet liar(c, true);
  c.meet();
  liar.wait_until_met();
  const unsigned long before = sockets();
  bytes news = number(5);
  news.push_back(std::byte{0});
  liar.to(9).say({frame_kind::gone, news});
  c.work_until([&] { return sockets() == before + 2; });
  EXPECT_TRUE(c.all[9]->send(5, number(1)));
  c.work_until([&] { return c.to[5].count("message") == 1; });
  EXPECT_TRUE(c.living_have("lost", {}));
}

// Node 12, which joins, does not work any more. Only its neighbours notice that it is silent, and node 0
// passes that on.
TEST(many_nodes_by_tcp, learn_that_a_newcomer_is_silent) {
  crowd c(false, without_puppet, 1);
  puppet neighbour(c, false, 1);
  c.meet();
  neighbour.wait_until_met();
  const newcomer frozen(c);
  c.work_until([&] { return frozen.has_joined(); });
  neighbour.to(0).say({frame_kind::lost, number(newcomer::number)});
  c.work_until([&] { return c.living_have("lost", {newcomer::number}); });
}

TEST(many_nodes_by_tcp, take_a_newcomer_while_they_call_each_other) {
  crowd c(false, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 1);
  c.meet();
  newcomer late(c);
  for (node_id a = 0; a < crowd::count; ++a)
    for (node_id b = 0; b < crowd::count; ++b)
      if (a != b) {
        EXPECT_TRUE(c.all[a]->send(b, number(a)));
      }
  c.work_until([&] { return late.has_joined(); });
  late.to.thread = std::this_thread::get_id();
  for (node_id n = 0; n < crowd::count; ++n) {
    EXPECT_TRUE(c.all[n]->send(late.number, number(n)));
    EXPECT_TRUE(late.self->send(n, number(late.number)));
  }
  const auto has_all = [](const listener& l) { return l.count("message") >= crowd::count; };
  c.work_until([&] {
    late.self->wait(clock::now() + 100us);
    return has_all(late.to) && std::ranges::all_of(c.to, has_all);
  });
  EXPECT_EQ(late.to.count("message"), crowd::count) << "none is lost";
  for (const listener& l : c.to) EXPECT_EQ(l.count("message"), crowd::count) << "or comes twice";
}

// Node 9 cannot leave before node 4, which does not work, has taken its call. Until then its neighbour gets
// heartbeats.
TEST(many_nodes_by_tcp, send_heartbeats_until_they_have_left) {
  crowd c(false, without_puppet, 0, [](tcp_settings& s) {
    if (s.own.node == 9) s.heartbeat = {.period = 1ms, .silent_beats = 1'000'000'000};
  });
  puppet neighbour(c, false);
  c.meet();
  neighbour.wait_until_met();
  EXPECT_TRUE(c.all[9]->send(4, number(1)));
  std::atomic<bool> leaves = false;
  std::future<void> left = std::async(std::launch::async, [&] {
    c.to[9].thread = std::this_thread::get_id();
    leaves.store(true, std::memory_order_relaxed);  // partner: the loop below
    c.all[9]->stop(60s);
  });
  // Some that were sent before may come after that.
  for (unsigned beats = 0; beats < 1000;) {
    const auto f = neighbour.to(9).next();
    ASSERT_TRUE(f && f->kind != frame_kind::leave) << "it leaves after " << beats;
    if (f->kind == frame_kind::alive && leaves.load(std::memory_order_relaxed)) ++beats;
  }
  neighbour.hang_up(9);  // which waits for that when it leaves
  nodes others = without_puppet;
  std::erase(others, 9);
  c.work_until([&] { return left.wait_for(0s) == std::future_status::ready; }, others);
  c.work_until([&] { return c.of_kind(4, "message") == nodes{9}; }, others);
}

// Node 4 does not work, but node 9 has a message for it.
TEST(many_nodes_by_tcp, leave_without_a_node_that_is_silent) {
  crowd c(true, without_puppet);
  puppet neighbour(c, true);
  c.meet();
  neighbour.wait_until_met();
  EXPECT_TRUE(c.all[9]->send(4, number(1)));
  std::future<void> left = std::async(std::launch::async, [&] {
    c.to[9].thread = std::this_thread::get_id();
    c.all[9]->stop(patience);
  });
  neighbour.to(9).say({frame_kind::lost, number(4)});
  std::optional<frame> f;
  do f = neighbour.to(9).next();
  while (f && f->kind != frame_kind::leave);
  ASSERT_TRUE(f);
  neighbour.hang_up(9);
  c.work_until([&] { return left.wait_for(0s) == std::future_status::ready; }, {0, 1, 2, 3, 5, 6, 7, 8, 10});
}

/// Node 5 calls node 11, which proves who it is. Then node 11 leaves, and node 5 gets that news from node 0.
class called_leaver {
 public:
  called_leaver() {
    c.meet();
    meets_.wait_until_met();
    EXPECT_TRUE(c.all[5]->send(puppet::self, number(1)));
    std::future<void> called = std::async(std::launch::async, [this] {
      call = std::make_unique<silent_node>(accept(own_.socket, nullptr, nullptr), handshake::role::acceptor,
                                           puppet::self, crowd::count, own_.port);
    });
    c.work_until([&] { return called.wait_for(0s) == std::future_status::ready; });
    meets_.to(0).say({frame_kind::leave, {}});
    c.work_until([&] { return c.of_kind(0, "left") == nodes{puppet::self}; });
    EXPECT_TRUE(c.all[0]->send(5, number(2)));  // behind the news
    c.work_until([&] { return c.of_kind(5, "message") == nodes{0}; });
  }

  crowd c{false, without_puppet};
  std::unique_ptr<silent_node> call;

 private:
  const listening own_;
  puppet meets_{c, false, 0, own_.port};
};

TEST(many_nodes_by_tcp, receive_what_a_node_has_sent_that_left_while_they_called_it) {
  called_leaver t;
  t.call->say({frame_kind::answer, {static_cast<std::byte>(calls::answer::taken)}});
  t.call->say({frame_kind::data, number(3)});
  t.call->say({frame_kind::leave, {}});
  t.c.work_until([&] { return t.c.of_kind(5, "left") == nodes{puppet::self}; });
  EXPECT_EQ(t.c.of_kind(5, "message"), (nodes{0, puppet::self}));
}

TEST(many_nodes_by_tcp, end_a_call_with_its_connection_to_a_node_that_left) {
  called_leaver t;
  t.call.reset();
  t.c.work_until([&] { return t.c.of_kind(5, "left") == nodes{puppet::self}; });
}

TEST(many_nodes_by_tcp, are_more_than_32_with_those_that_may_join) {
  const listening at;
  for (const unsigned room : {0u, 3u})
    for (const unsigned count : {32u, 33u}) {
      tcp_settings s = settings_of(1, count, at);
      s.room = room;
      EXPECT_EQ(make_tcp_transport(s)->can().is_sparse, count == 33);
    }
}

}  // namespace
