// SPDX-License-Identifier: Apache-2.0
// Two real virtual machines of QEMU: `sukima host optimise` sends them their numbers, a program that uses
// Sukima follows them, and what was set ends when the host is killed.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <list>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include <lab/shared/guest.hpp>
#include "fake_machine.hpp"

namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using sukima::lab::guest;
using sukima::lab::guest_plan;

constexpr auto patience = 300s;  // other tests run beside this one
constexpr unsigned vcpus = 2;
/// Seconds for which a number counts.
constexpr double lease = 10;

/// A guest that runs the service and the follower.
struct machine {
  machine(const std::filesystem::path& image, const std::filesystem::path& folder, const std::string& named)
      : name(named),
        inside(
            guest_plan{
                .image = image, .name = named, .vcpus = vcpus, .memory_mib = 256, .service_port = true},
            folder),
        port(folder / (named + ".service")) {}

  /// The next line of the follower.
  json line() {
    for (;;) {
      const auto text = inside.read_line(patience);
      if (!text) throw std::runtime_error(name + ": the follower has ended");
      const json one = json::parse(*text, nullptr, false);
      if (one.is_object() && one.contains("workers")) return one;
      std::cout << name << ": " << *text << "\n";
    }
  }
  /// Lines until one is so.
  json until(const std::function<bool(const json&)>& so) {
    for (;;)
      if (const json one = line(); so(one)) {
        std::cout << name << ": " << one.dump() << "\n";
        return one;
      }
  }

  std::string name;
  guest inside;
  std::filesystem::path port;
};

/// What needs the image of a guest.
class with_image : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("command -v qemu-system-x86_64 >/dev/null") != 0)
      GTEST_SKIP() << "sukima-guests: there is no qemu-system-x86_64 here";
    const std::string build = std::string("flock '" SUKIMA_IMAGE ".lock' " SUKIMA_IMAGE_SCRIPT
                                          " '" SUKIMA_IMAGE "' '" SUKIMA_GUEST "' '") +
                              SUKIMA_FOLLOWER "'";
    const int status = std::system(build.c_str());
    if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "the kernel of a guest cannot be fetched";
    ASSERT_EQ(status, 0);
  }
};

class machines : public with_image {
 protected:
  void SetUp() override {
    with_image::SetUp();
    if (IsSkipped() || HasFailure()) return;
    for (const char* name : {"a", "b"}) all.emplace_back(SUKIMA_IMAGE, folder.path, name);
    for (machine& one : all) one.inside.wait_until_up(patience);
    for (machine& one : all) one.inside.run("sukima-guest & sukima-follower");
    for (machine& one : all) one.until([](const json& now) { return now["workers"] == vcpus; });
  }

  /// The description: two pCPUs, for both.
  void describe(const std::string& act) {
    json description{{"sukima-host", 1}, {"pcpus", {{{"id", 0}}, {{"id", 1}}}}, {"vms", json::array()}};
    for (machine& one : all) {
      json vm{{"name", one.name},
              {"weight_of", "vm"},
              {"act", {act}},
              {"pid", one.inside.process()},
              {"port", one.port.string()}};
      unsigned id = 0;
      for (const pid_t thread : one.inside.vcpu_threads())
        vm["vcpus"].push_back({{"id", id++}, {"thread", thread}});
      description["vms"].push_back(vm);
    }
    std::ofstream(config()) << description;
  }
  std::string config() const { return folder.path / "host.json"; }
  std::string log() const { return folder.path / "log"; }

  /// Starts `sukima host optimise`.
  void optimise() {
    host.emplace(
        sukima::process::child_request{.arguments = {SUKIMA_PROGRAM, "host", "optimise", "--json", "--config",
                                                     config(), "--journal", folder.path / "journal"},
                                       .environment = {},
                                       .input = {},
                                       .output_file = log()});
  }
  void wait_for_log(const std::string& part) {
    while (guests::text_in(log()).find(part) == std::string::npos) {
      for (machine& one : all) one.line();  // their ports must not fill up
    }
  }

  guests::folder folder;
  std::list<machine> all;
  std::optional<sukima::process::background_child> host;
};

TEST_F(machines, follow_their_numbers_within_the_lease_and_no_longer) {
  describe("threads");
  optimise();
  for (machine& one : all) {
    const json got_number = one.until([](const json& now) { return now["number"] == 1.0; });
    const json follows = one.until([](const json& now) { return now["workers"] == 1; });
    EXPECT_LT(follows["seconds"].get<double>() - got_number["seconds"].get<double>(), lease);
  }
  // With progress of its programs a machine is optimised, once it has been up for half a minute.
  wait_for_log(R"("verdict":"opened")");
  host.reset();  // killed
  for (machine& one : all) {
    one.until([](const json& now) { return now["number"].is_null(); });
    one.until([](const json& now) { return now["workers"] == vcpus; });
  }
}

TEST_F(machines, give_virtual_cpus_up_and_get_them_back_when_the_host_is_killed) {
  describe("vcpus");
  optimise();
  for (machine& one : all) one.until([](const json& now) { return now["online"] == 1; });
  // The host's own counters prove it.
  while (guests::text_in(folder.path / "journal").find(R"("step":"proved")") == std::string::npos)
    for (machine& one : all) one.line();
  host.reset();
  for (machine& one : all) one.until([](const json& now) { return now["online"] == vcpus; });
  const std::string revert =
      std::string(SUKIMA_PROGRAM " host revert --journal '") + (folder.path / "journal").string() + "'";
  EXPECT_EQ(std::system(revert.c_str()), 0);
}

using monitor = with_image;

/// `sukima host act` plugs a virtual CPU into a machine that was started with room for one.
TEST_F(monitor, gives_a_machine_one_virtual_cpu_more) {
  const guests::folder folder;
  guest inside(guest_plan{.image = SUKIMA_IMAGE,
                          .name = "a",
                          .vcpus = 1,
                          .most_vcpus = 2,
                          .memory_mib = 256,
                          .free_monitor = true},
               folder.path);
  inside.wait_until_up(patience);
  // This guest has no udev, which would switch on what was plugged in.
  inside.run(
      "while sleep 1; do for one in /sys/devices/system/cpu/cpu*/online; do grep -q 1 $one || echo 1 >$one; "
      "done; done & sukima-follower");
  const auto wait_for = [&](int online) {
    for (;;) {
      const auto text = inside.read_line(patience);
      ASSERT_TRUE(text);
      const json one = json::parse(*text, nullptr, false);
      if (one.is_object() && one.value("online", 0) == online) return;
    }
  };
  wait_for(1);
  std::ofstream(folder.path / "host.json")
      << json{{"sukima-host", 1},
              {"pcpus", {{{"id", 0}}, {{"id", 1}}}},
              {"vms",
               {{{"name", "a"},
                 {"weight_of", "vm"},
                 {"act", {"plug"}},
                 {"monitor", (folder.path / "a.qmp").string()},
                 {"vcpus", {{{"id", 0}}, {{"id", 1}, {"online", false}}}}}}}};
  const std::string act = std::string(SUKIMA_PROGRAM) + " host act a plug 2 --config '" +
                          (folder.path / "host.json").string() + "' --journal '" +
                          (folder.path / "journal").string() + "'";
  EXPECT_EQ(std::system(act.c_str()), 0);
  wait_for(2);
  EXPECT_NE(guests::text_in(folder.path / "journal").find(R"("step":"proved")"), std::string::npos);
}

/// `sukima host optimise` plugs one in, the guest service switches it on, and off again when the host is
/// killed.
TEST_F(monitor, of_a_machine_that_is_optimised_raises_its_ceiling) {
  const guests::folder folder;
  guest inside(guest_plan{.image = SUKIMA_IMAGE,
                          .name = "a",
                          .vcpus = 1,
                          .most_vcpus = 2,
                          .memory_mib = 256,
                          .service_port = true,
                          .free_monitor = true},
               folder.path);
  inside.wait_until_up(patience);
  inside.run("sukima-guest & sukima-follower");
  const auto wait_for = [&](int online) {
    for (;;) {
      const auto text = inside.read_line(patience);
      ASSERT_TRUE(text);
      const json one = json::parse(*text, nullptr, false);
      if (one.is_object() && one.value("online", 0) == online) return;
    }
  };
  wait_for(1);
  std::ofstream(folder.path / "host.json")
      << json{{"sukima-host", 1},
              {"pcpus", {{{"id", 0}}, {{"id", 1}}}},
              {"vms",
               {{{"name", "a"},
                 {"weight_of", "vm"},
                 {"act", {"vcpus", "plug"}},
                 {"pid", inside.process()},
                 {"port", (folder.path / "a.service").string()},
                 {"monitor", (folder.path / "a.qmp").string()},
                 {"vcpus", {{{"id", 0}}, {{"id", 1}, {"online", false}}}}}}}};
  std::optional<sukima::process::background_child> host;
  host.emplace(sukima::process::child_request{
      .arguments = {SUKIMA_PROGRAM, "host", "optimise", "--config", folder.path / "host.json", "--journal",
                    folder.path / "journal"},
      .environment = {},
      .input = {},
      .output_file = folder.path / "log"});
  wait_for(2);
  const auto written = [&] { return guests::text_in(folder.path / "journal"); };
  const std::string log = guests::text_in(folder.path / "log");
  EXPECT_NE(log.find("a: it has 2 virtual CPUs now"), std::string::npos) << log;
  EXPECT_NE(written().find(R"("kind":"plug")"), std::string::npos) << written();
  host.reset();  // killed
  wait_for(1);
}

}  // namespace
