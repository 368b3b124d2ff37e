// SPDX-License-Identifier: Apache-2.0
// What is special about the transports of one process and over TCP; their contract: contract_test.cpp.
#include "transport_support.hpp"

#include "transport/mpi_launch.hpp"
#include "transport/mpi_plugin.hpp"
#include "transport/progress_deadline.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace transport_support;

using variable_list = std::initializer_list<std::pair<const char*, const char*>>;

/// A process's variables.
std::vector<std::pair<std::string, const char*>> known;

const char* known_value(const char* name) {
  for (const auto& [own, value] : known)
    if (own == name) return value;
  return nullptr;
}

std::string mpi_place_of(variable_list variables) {
  known.assign(variables.begin(), variables.end());
  const auto place = started_by_mpi(known_value);
  if (!place) return "none";
  return (place->kind == mpi_kind::mpich ? "mpich " : "openmpi ") + std::to_string(place->node) + "/" +
         std::to_string(place->nodes);
}

TEST(mpi_transport, knows_which_mpi_has_started_the_process) {
  EXPECT_EQ(mpi_place_of({}), "none");
  EXPECT_EQ(mpi_place_of({{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}}), "openmpi 2/4");
  EXPECT_EQ(mpi_place_of({{"PMI_RANK", "0"}, {"PMI_SIZE", "3"}}), "mpich 0/3");
  EXPECT_EQ(mpi_place_of({{"PMI_RANK", "0"},
                          {"PMI_SIZE", "3"},
                          {"OMPI_COMM_WORLD_RANK", "1"},
                          {"OMPI_COMM_WORLD_SIZE", "2"}}),
            "openmpi 1/2");
  EXPECT_EQ(mpi_place_of({{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}}), "none") << "it is alone";
  EXPECT_EQ(mpi_place_of({{"PMI_RANK", "3"}, {"PMI_SIZE", "3"}}), "none");
  EXPECT_EQ(mpi_place_of({{"PMI_RANK", "x"}, {"PMI_SIZE", "3"}}), "none");
  EXPECT_EQ(mpi_place_of({{"PMI_RANK", "0"}}), "none");
}

/// As srun --mpi=pmix starts a step of four tasks.
std::string place_in_step(const char* task, const char* rank, const char* space) {
  return mpi_place_of({{"SLURM_STEP_ID", "0"},
                       {"SLURM_PROCID", task},
                       {"SLURM_STEP_NUM_TASKS", "4"},
                       {"PMIX_RANK", rank},
                       {"PMIX_NAMESPACE", space}});
}

TEST(mpi_transport, knows_that_srun_has_started_an_open_mpi_by_pmix) {
  EXPECT_EQ(place_in_step("3", "3", "slurm.pmix.17.0"), "openmpi 3/4");
  EXPECT_EQ(place_in_step("0", "0", "slurm.pmix.17.0"), "openmpi 0/4");
  EXPECT_EQ(place_in_step("3", "0", "slurm.pmix.17.0"), "none") << "of another launcher inside the step";
  EXPECT_EQ(place_in_step("3", "3", "prterun-17@1"), "none");
  EXPECT_EQ(place_in_step("4", "4", "slurm.pmix.17.0"), "none");
  EXPECT_EQ(mpi_place_of({{"PMIX_RANK", "3"}, {"PMIX_NAMESPACE", "slurm.pmix.17.0"}}), "none");
  EXPECT_EQ(mpi_place_of({{"OMPI_COMM_WORLD_RANK", "0"},
                          {"OMPI_COMM_WORLD_SIZE", "1"},
                          {"SLURM_STEP_ID", "0"},
                          {"SLURM_PROCID", "3"},
                          {"SLURM_STEP_NUM_TASKS", "4"},
                          {"PMIX_RANK", "3"},
                          {"PMIX_NAMESPACE", "slurm.pmix.17.0"}}),
            "none")
      << "an mpirun has started it alone";
}

std::string without_mpi(variable_list variables) {
  known.assign(variables.begin(), variables.end());
  return started_without_mpi(known_value);
}

/// In a job of four tasks.
std::string in_step(const char* step, const char* task, const char* tasks) {
  return without_mpi({{"SLURM_NTASKS", "4"},
                      {"SLURM_STEP_ID", step},
                      {"SLURM_PROCID", task},
                      {"SLURM_STEP_NUM_TASKS", tasks}});
}

TEST(mpi_transport, knows_processes_that_nothing_joins) {
  EXPECT_EQ(without_mpi({}), "");
  const std::string by_srun = in_step("0", "3", "4");
  EXPECT_EQ(by_srun.find(
                "srun has started this program 4 times, and Sukima finds no MPI that connects the processes"),
            0u);
  EXPECT_NE(
      by_srun.find("start it with mpirun, srun --mpi=pmi2 (MPICH), srun --mpi=pmix (Open MPI) or sukima "
                   "cluster run"),
      std::string::npos);
  EXPECT_EQ(in_step("0", "0", "4"), by_srun);
  EXPECT_EQ(in_step("0", "0", "1"), "") << "a step with one task";
  EXPECT_EQ(without_mpi({{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}}), "") << "a job's script";
  EXPECT_EQ(in_step("4294967290", "0", "4"), "") << "a job's interactive shell";
  EXPECT_EQ(in_step("0", "4", "4"), "");
  EXPECT_EQ(in_step("0", "x", "4"), "");
  const std::string by_pmix = without_mpi({{"PMIX_RANK", "1"}});
  EXPECT_EQ(by_pmix.find("a PMIx launcher has started this program several times, and Sukima finds no MPI"),
            0u);
  EXPECT_EQ(without_mpi({{"PMIX_RANK", "0"}}), "") << "it may be alone";
}

TEST(mpi_transport, knows_a_process_that_an_mpi_has_started_alone) {
  EXPECT_EQ(without_mpi({{"SLURM_STEP_ID", "0"},
                         {"SLURM_PROCID", "1"},
                         {"SLURM_STEP_NUM_TASKS", "2"},
                         {"OMPI_COMM_WORLD_RANK", "0"},
                         {"OMPI_COMM_WORLD_SIZE", "1"}}),
            "")
      << "srun has started the daemons of mpirun";
  EXPECT_EQ(without_mpi({{"PMIX_RANK", "1"}, {"PMI_RANK", "0"}, {"PMI_SIZE", "1"}}), "");
  EXPECT_NE(without_mpi({{"PMIX_RANK", "1"}, {"PMI_RANK", "0"}}), "");
}

TEST(mpi_transport, looks_for_plug_ins_beside_the_library_and_beside_the_launcher) {
  char folder[] = "/tmp/sukima-plugins-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::filesystem::path prefix(folder);
  std::filesystem::create_directories(prefix / "moved/bin");
  std::filesystem::create_directories(prefix / "links");
  std::ofstream(prefix / "moved/bin/sukima") << "#!/bin/sh\n";
  std::filesystem::permissions(prefix / "moved/bin/sukima", std::filesystem::perms::owner_all);
  std::filesystem::create_symlink(prefix / "moved/bin/sukima", prefix / "links/sukima");
  const std::string path = "/no/such/folder:" + (prefix / "links").string() + ":/usr/bin";
  known = {{"PATH", path.c_str()}};
  const std::vector<std::string> places = places_of_plugin("x.so", known_value);
  const auto begins = [](const std::string& prefix_of) {
    return [=](const std::string& place) { return place.starts_with(prefix_of); };
  };
  EXPECT_TRUE(std::ranges::any_of(places, begins((prefix / "moved/lib").string()))) << places.back();
  EXPECT_TRUE(std::ranges::count(places, "x.so")) << "as the program's own search path says";
  const std::string own = std::filesystem::canonical("/proc/self/exe").parent_path().string();
  EXPECT_TRUE(std::ranges::any_of(places, begins(own + "/sukima/")));
  known.emplace_back("SUKIMA_CLUSTER_PLUGINS", "/here");
  EXPECT_EQ(places_of_plugin("x.so", known_value), std::vector<std::string>{"/here/x.so"});
  std::filesystem::remove_all(prefix);
}

TEST(mpi_transport, names_each_place_of_a_missing_plug_in_and_the_fault_of_one_that_is_there) {
  char folder[] = "/tmp/sukima-plugins-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string first = std::string(folder) + "/first.so", second = std::string(folder) + "/second.so";
  std::string why;
  EXPECT_EQ(load_plugin({first, "no-such-plug-in.so", second}, why), nullptr);
  EXPECT_EQ(why, "there is none of these files: " + first + ", no-such-plug-in.so, " + second);
  std::ofstream(second) << "no library\n";
  EXPECT_EQ(load_plugin({first, second, "no-such-plug-in.so"}, why), nullptr);
  EXPECT_TRUE(why.starts_with(second + ": ")) << why;
  std::filesystem::remove_all(folder);
}

TEST(mpi_transport, says_that_a_plug_in_is_missing) {
  known = {{"SUKIMA_CLUSTER_PLUGINS", "/no/such/folder"}};
  try {
    make_mpi_transport(mpi_kind::mpich, {.nodes = 2, .program = "1", .finalizes = true}, known_value);
    FAIL();
  } catch (const start_failure& failure) {
    EXPECT_NE(std::string(failure.what())
                  .find("this program was started by MPICH, and the plug-in for that cannot be loaded"),
              std::string::npos)
        << failure.what();
    EXPECT_NE(std::string(failure.what()).find("name its folder in SUKIMA_CLUSTER_PLUGINS"),
              std::string::npos);
  }
}

TEST(in_process_transport, loses_a_node_that_is_killed) {
  in_process_network network({.nodes = 2});
  const auto a = network.join(0);
  const auto b = network.join(1);
  listener to_a;
  listener to_b;
  std::thread other([&] { b->start(to_b, clock::now() + patience); });
  a->start(to_a, clock::now() + patience);
  other.join();
  network.kill(1);
  while (to_a.got.empty()) a->wait(clock::now() + patience);
  EXPECT_EQ(to_a.got.front().kind, "lost");
  EXPECT_FALSE(a->send(1, number(1)));
}

/// Starts node 0 of two and another peer of it, and returns node 0's failure, or what it got at first.
struct meeting {
  listening at;
  listener to_0;
  listener to_1;
  std::unique_ptr<transport> node_0;
  std::unique_ptr<transport> node_1;
  std::string failure_0;
  std::string failure_1;
  void hold(
      const std::function<void(tcp_settings&)>& change, std::chrono::milliseconds time,
      const std::function<void(tcp_settings&)>& change_own = [](tcp_settings&) {}) {
    tcp_settings own = settings_of(0, 2, at);
    change_own(own);
    node_0 = make_tcp_transport(std::move(own));
    tcp_settings other = settings_of(1, 2, at);
    change(other);
    node_1 = make_tcp_transport(std::move(other));
    const auto start = [&](transport& t, listener& to, std::string& failure) {
      try {
        t.start(to, clock::now() + time);
      } catch (const start_failure& f) {
        failure = f.what();
      }
    };
    std::thread second([&] { start(*node_1, to_1, failure_1); });
    start(*node_0, to_0, failure_0);
    second.join();
  }
};

TEST(tcp_transport, refuses_another_program) {
  meeting m;
  m.hold([](tcp_settings& s) { s.own.build_id = "123456"; }, 500s);
  EXPECT_NE(m.failure_0.find("another program: build id abcdef… here, 123456… at node 1"), std::string::npos)
      << m.failure_0;
  EXPECT_NE(m.failure_1.find("another program: build id 123456… here, abcdef… at node 0"), std::string::npos)
      << m.failure_1;
}

TEST(tcp_transport, refuses_another_version) {
  meeting m;
  m.hold([](tcp_settings& s) { s.own.version = "2"; }, 500s);
  EXPECT_NE(m.failure_1.find("another version of Sukima: 2 here, 1 at node 0"), std::string::npos)
      << m.failure_1;
}

TEST(tcp_transport, refuses_another_token_and_waits_on) {
  meeting m;
  m.hold([](tcp_settings& s) { s.token = "guessed"; }, 300ms);
  EXPECT_NE(m.failure_1.find("it has another token"), std::string::npos) << m.failure_1;
  EXPECT_NE(m.failure_0.find("not all nodes connected in time: 1 of 2 are missing"), std::string::npos)
      << m.failure_0;
}

/// All that a stranger receives until its connection is closed.
std::size_t received_by(int socket) {
  std::size_t size = 0;
  char chunk[100];
  for (ssize_t got = 0; (got = ::read(socket, chunk, sizeof chunk)) > 0;)
    size += static_cast<std::size_t>(got);
  close(socket);
  return size;
}
constexpr std::size_t challenge_size = 4 + 1 + 16 + 32;

TEST(tcp_transport, closes_the_oldest_of_too_many_strangers) {
  const listening at;
  tcp_settings own = settings_of(0, 2, at);
  own.most_unproved = 1;  // and one for each node
  own.proving_time = std::chrono::hours(1);
  listener to;
  const auto node_0 = make_tcp_transport(std::move(own));
  std::thread first([&] {
    to.thread = std::this_thread::get_id();
    EXPECT_NO_THROW(node_0->start(to, clock::now() + patience));
  });
  std::vector<int> strangers;
  for (int n = 0; n < 5; ++n) strangers.push_back(connect_to(at.port));
  EXPECT_EQ(received_by(strangers[0]), challenge_size);
  EXPECT_EQ(received_by(strangers[1]), challenge_size);
  const silent_node node_1(connect_to(at.port), handshake::role::connector, 1, 2, 9);
  first.join();
  for (const int n : {2, 3, 4})
    EXPECT_EQ(received_by(strangers[static_cast<std::size_t>(n)]), challenge_size);
}

TEST(tcp_transport, closes_a_stranger_that_proves_nothing_in_time) {
  const listening at;
  tcp_settings own = settings_of(0, 2, at);
  own.proving_time = 200ms;
  listener to;
  const auto node_0 = make_tcp_transport(std::move(own));
  std::thread first([&] {
    to.thread = std::this_thread::get_id();
    EXPECT_THROW(node_0->start(to, clock::now() + patience), start_failure);
  });
  EXPECT_EQ(received_by(connect_to(at.port)), challenge_size);
  tcp_settings other = settings_of(1, 2, at);
  other.own.build_id = "123456";  // which ends the meeting
  listener to_1;
  EXPECT_THROW(make_tcp_transport(std::move(other))->start(to_1, clock::now() + patience), start_failure);
  first.join();
}

// As where it comes when its connection is the oldest of too many.
TEST(tcp_transport, tries_again_where_its_connection_is_closed_before_anything_is_proved) {
  const listening at;
  std::thread rude([&] { close(::accept(at.socket, nullptr, nullptr)); });
  listener to_1;
  std::thread second([&] {
    to_1.thread = std::this_thread::get_id();
    EXPECT_NO_THROW(make_tcp_transport(settings_of(1, 2, at))->start(to_1, clock::now() + patience));
  });
  rude.join();
  listener to_0;
  to_0.thread = std::this_thread::get_id();
  const auto node_0 = make_tcp_transport(settings_of(0, 2, at));
  EXPECT_NO_THROW(node_0->start(to_0, clock::now() + patience));
  second.join();
}

TEST(tcp_transport, has_only_the_loopback_device_without_a_token) {
  tcp_settings s;
  s.own = {.version = "1", .build_id = "a", .nodes = 2, .node = 0};
  s.host = "0.0.0.0";
  listener to;
  const auto t = make_tcp_transport(s);
  EXPECT_THROW(t->start(to, clock::now() + patience), start_failure);
}

TEST(tcp_transport, reaches_each_node_at_its_address) {
  // Node 2 finds node 1 where the addresses say, and not where node 0 sees that it comes from.
  const listening at;
  const auto start = [&](node_id node) {
    tcp_settings s = settings_of(node, 3, at);
    s.addresses = {"127.0.0.1", "127.0.0.2", "localhost"};
    listener to;
    to.thread = std::this_thread::get_id();
    const auto t = make_tcp_transport(std::move(s));
    t->start(to, clock::now() + patience);
    if (node == 2) {
      EXPECT_TRUE(t->send(1, number(7)));
    }
    while (node == 1 && to.count("message") == 0) t->wait(clock::now() + patience);
    t->stop(patience);
  };
  std::thread first(start, 1);
  std::thread second(start, 2);
  start(0);
  first.join();
  second.join();
}

TEST(tcp_transport, has_only_the_loopback_device_without_a_token_for_any_address) {
  tcp_settings s;
  s.own = {.version = "1", .build_id = "a", .nodes = 2, .node = 0};
  s.host = "127.0.0.1";
  s.addresses = {"0.0.0.0", "0.0.0.0"};
  listener to;
  const auto t = make_tcp_transport(s);
  EXPECT_THROW(t->start(to, clock::now() + patience), start_failure);
}

TEST(tcp_transport, says_which_port_is_taken) {
  const listening taken;
  tcp_settings s;
  s.own = {.version = "1", .build_id = "a", .nodes = 2, .node = 0};
  s.host = "127.0.0.1";
  s.port = taken.port;
  s.token = "secret";
  listener to;
  const auto t = make_tcp_transport(s);
  try {
    t->start(to, clock::now() + patience);
    FAIL();
  } catch (const start_failure& failure) {
    EXPECT_NE(std::string(failure.what()).find("cannot listen on port " + std::to_string(taken.port)),
              std::string::npos)
        << failure.what();
  }
  close(taken.socket);
}

TEST(tcp_transport, is_not_disturbed_by_strangers) {
  meeting m;
  // A peer that says nothing, one that sends garbage, one that goes at once; then the right one comes.
  const int silent = connect_to(m.at.port);
  const int noisy = connect_to(m.at.port);
  const std::string garbage(3000, '\xa5');
  EXPECT_EQ(write(noisy, garbage.data(), garbage.size()), static_cast<ssize_t>(garbage.size()));
  close(connect_to(m.at.port));
  m.hold([](tcp_settings&) {}, 500s);
  EXPECT_EQ(m.failure_0 + m.failure_1, "");
  EXPECT_LE(received_by(noisy), challenge_size) << "the connection was closed";
  EXPECT_LE(received_by(silent), challenge_size);
}

TEST(tcp_transport, loses_a_node_that_is_silent) {
  meeting m;
  m.hold([](tcp_settings&) {}, 500s, [](tcp_settings& s) { s.heartbeat.period = 10ms; });
  EXPECT_EQ(m.failure_0 + m.failure_1, "");
  m.to_0.thread = std::this_thread::get_id();
  // No thread is in node 1's wait(): it sends nothing, and its connection stays.
  while (m.to_0.got.empty()) m.node_0->wait(clock::now() + patience);
  EXPECT_EQ(m.to_0.got.front().kind, "lost");
  EXPECT_EQ(m.to_0.got.front().from, 1u);
  // When it goes on, it learns that the others have lost it.
  m.to_1.thread = std::this_thread::get_id();
  while (m.to_1.got.empty()) m.node_1->wait(clock::now() + patience);
  EXPECT_EQ(m.to_1.got.front().kind, "lost");
  EXPECT_EQ(m.to_1.got.front().from, 1u);
}

// An event loop inside a handler would end only after the warning.
TEST(tcp_transport, goes_on_while_it_warns_others_of_a_silent_node) {
  meeting m;
  m.hold([](tcp_settings& s) { s.heartbeat.silent_beats = 0; }, 500s,
         [](tcp_settings& s) {
           s.heartbeat.period = 10ms;
           s.warning_time = 1h;
         });
  EXPECT_EQ(m.failure_0 + m.failure_1, "");
  m.to_0.thread = m.to_1.thread = std::this_thread::get_id();
  const auto both_wait_for = [&](const std::vector<letter>& got) {
    while (got.empty()) {
      m.node_0->wait(clock::now() + 10ms);
      m.node_1->wait(clock::now() + 10ms);
    }
  };
  both_wait_for(m.to_1.got);  // it sends no heartbeats
  EXPECT_EQ(m.to_1.got.front().kind, "lost");
  EXPECT_TRUE(m.to_0.got.empty()) << "the others may not have read the report yet";
  ASSERT_TRUE(m.node_1->send(0, bytes(3)));
  both_wait_for(m.to_0.got);
  EXPECT_EQ(m.to_0.got.front().kind, "message");
}

TEST(tcp_transport, counts_the_parts_sent_of_a_large_message) {
  meeting m;
  m.hold([](tcp_settings&) {}, 500s, [](tcp_settings& s) { s.heartbeat.period = 1h; });
  EXPECT_EQ(m.failure_0 + m.failure_1, "");
  m.to_0.thread = std::this_thread::get_id();
  // The other side does not read, so the system takes a part only.
  constexpr std::size_t size = std::size_t{64} << 20;
  const std::uint64_t before = m.node_0->taken_by(1);
  ASSERT_TRUE(m.node_0->send(1, bytes(size)));
  while (m.node_0->taken_by(1) < before + 20000) m.node_0->wait(clock::now() + 10ms);
  EXPECT_LT(m.node_0->taken_by(1), before + size);
}

TEST(tcp_transport, names_addresses_as_machines_without_ipv6_know_them) {
  const auto shown = [](const char* text) { return text_of(boost::asio::ip::make_address(text)); };
  EXPECT_EQ(shown("::ffff:192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(shown("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(shown("2001:db8::7"), "2001:db8::7");
}

TEST(progress_deadline, is_a_time_after_the_last_step) {
  progress_deadline end(2s);
  const clock::time_point start{};
  EXPECT_EQ(end.after(7, start), start + 2s);
  EXPECT_EQ(end.after(7, start + 1s), start + 2s);
  EXPECT_EQ(end.after(8, start + 1900ms), start + 3900ms) << "a step";
  EXPECT_EQ(end.after(8, start + 5s), start + 3900ms);
}

TEST(tcp_transport, loses_a_node_whose_connection_ends) {
  meeting m;
  m.hold([](tcp_settings&) {}, 500s);
  EXPECT_EQ(m.failure_0 + m.failure_1, "");
  m.to_0.thread = std::this_thread::get_id();
  m.node_1.reset();  // without stop
  while (m.to_0.got.empty()) m.node_0->wait(clock::now() + patience);
  EXPECT_EQ(m.to_0.got.front().kind, "lost");
}

}  // namespace
