// SPDX-License-Identifier: Apache-2.0
// Plugging virtual CPUs in: a recorded dialogue with QEMU's monitor (two virtual CPUs become four), by itself
// and over a socket.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

#include "../source/monitor.hpp"
#include "act/plug_dialogue.hpp"
#include "fake_machine.hpp"
#include "shared/act.hpp"
#include "source/threads.hpp"

namespace {

using namespace sukima::host;
using nlohmann::json;

const std::string recording = std::string(SUKIMA_RECORDED) + "/qmp-plug.txt";

/// Plays the recording. \returns the commands, as QEMU got them
std::vector<json> play(plug_dialogue& dialogue, recorded_answers answers, std::size_t piece) {
  std::vector<json> commands;
  const auto receive = [&](json message, const std::string& id) {
    if (!id.empty()) message["id"] = id;
    const std::string text = answers["event"].dump(2) + "\r\n" + message.dump() + "\r\n";
    for (std::size_t at = 0; at < text.size(); at += piece) dialogue.receive(text.substr(at, piece));
  };
  dialogue.receive(answers["greeting"].dump());
  for (std::string text = dialogue.take_commands(); !text.empty(); text = dialogue.take_commands()) {
    commands.push_back(json::parse(text));
    const std::string name = commands.back().at("execute");
    const bool after = name == "query-cpus-fast" && answers.contains("query-cpus-fast-after");
    receive(answers[after ? "query-cpus-fast-after" : name], commands.back().at("id"));
  }
  return commands;
}

std::string failure_of(std::size_t count, const recorded_answers& answers) {
  plug_dialogue dialogue(count);
  play(dialogue, answers, 1000);
  EXPECT_TRUE(dialogue.ended());
  return dialogue.failure();
}

TEST(plug_dialogue, plugs_the_lowest_places_in_one_after_the_other) {
  for (const std::size_t piece : {1U, 7U, 100000U}) {
    plug_dialogue dialogue(4);
    const auto commands = play(dialogue, load_answers(recording), piece);
    ASSERT_EQ(dialogue.failure(), "");
    ASSERT_TRUE(dialogue.ended());
    EXPECT_EQ(dialogue.plugged(), 2U);
    ASSERT_EQ(commands.size(), 5U);
    EXPECT_EQ(commands[0]["execute"], "qmp_capabilities");
    EXPECT_EQ(commands[1]["execute"], "query-hotpluggable-cpus");
    for (int i = 2; i < 4; ++i) {
      EXPECT_EQ(commands[static_cast<std::size_t>(i)]["execute"], "device_add");
      EXPECT_EQ(commands[static_cast<std::size_t>(i)]["arguments"],
                (json{{"driver", "qemu64-x86_64-cpu"},
                      {"id", "sukima-vcpu-0-0-0-0-0-0-0-" + std::to_string(i) + "-0"},
                      {"socket-id", 0},
                      {"core-id", i},
                      {"thread-id", 0}}));
    }
    EXPECT_EQ(commands[4]["execute"], "query-cpus-fast");
    EXPECT_EQ(dialogue.threads().size(), 4U);
    EXPECT_TRUE(std::ranges::is_sorted(dialogue.threads()));
  }
}

TEST(plug_dialogue, distinguishes_places_by_all_their_properties) {
  for (const char* level : {"node-id", "drawer-id", "book-id", "die-id", "cluster-id", "module-id"}) {
    auto answers = load_answers(recording);
    std::int64_t next = 0;
    for (json& place : answers["query-hotpluggable-cpus"]["return"])
      place["props"] = {{"socket-id", 0}, {level, next++}, {"core-id", 0}, {"thread-id", 0}};
    plug_dialogue dialogue(4);
    play(dialogue, answers, 1000);
    EXPECT_EQ(dialogue.failure(), "") << level;
    EXPECT_EQ(dialogue.plugged(), 2U) << level;
  }
}

TEST(plug_dialogue, says_why_it_cannot) {
  auto answers = load_answers(recording);
  EXPECT_EQ(failure_of(5, answers), "it has room for 4 virtual CPUs; start QEMU with -smp 2,maxcpus=5");
  EXPECT_EQ(failure_of(1, answers), "it already has 2 virtual CPUs, and none is unplugged");
  auto refusing = answers;
  refusing["device_add"] = answers["device_add-again"];
  EXPECT_EQ(failure_of(3, refusing), "it refuses device_add: CPU[3] with APIC ID 3 exists");
  auto forgetful = answers;
  forgetful.erase("query-cpus-fast-after");
  EXPECT_EQ(failure_of(4, forgetful), "it ended up with 2 virtual CPUs instead of 4");
  auto odd = answers;
  odd["query-hotpluggable-cpus"]["return"][0]["vcpus-count"] = 8;
  EXPECT_EQ(failure_of(4, odd), "its places for virtual CPUs cannot be used: each must hold one virtual CPU");
  odd["query-hotpluggable-cpus"] = {{"return", 3}};
  EXPECT_EQ(failure_of(4, odd), "its list of places for virtual CPUs is malformed");
  for (const char* text : {"{}", "220 ready {}", "[[[[", "]", "{\"QMP\": 1}]"}) {
    plug_dialogue dialogue(4);
    dialogue.receive(text);
    dialogue.receive(std::string(100, '['));
    EXPECT_TRUE(dialogue.ended()) << text;
    EXPECT_NE(dialogue.failure(), "") << text;
  }
}

/// A thread that stands for a vCPU: it sleeps until it should run.
class vcpu_thread {
 public:
  vcpu_thread() : thread_([this] { live(); }) { id_.wait(0); }
  ~vcpu_thread() {
    ends_ = true;
    runs_ = true;
    runs_.notify_all();
    thread_.join();
  }
  long id() const { return id_; }
  void run() {
    runs_ = true;
    runs_.notify_all();
  }

 private:
  void live() {
    id_ = ::syscall(SYS_gettid);
    id_.notify_all();
    runs_.wait(false);
    while (!ends_) {
    }
  }

  std::atomic<long> id_ = 0;
  std::atomic<bool> runs_ = false, ends_ = false;
  std::thread thread_;
};

/// A monitor whose machine has the threads of this process as vCPUs; two of them are plugged in by an act.
class plugging : public testing::Test {
 protected:
  plugging() : player(folder.path / "monitor", load_answers(recording)) {
    for (std::size_t i = 0; i < 4; ++i)
      after["return"][i]["thread-id"] = i < 2 ? static_cast<long>(::getpid()) : threads[i - 2].id();
  }
  /// The machine's answer once the journal has the act.
  std::function<void(const char*)> plugs_in() {
    return [this](const char* step) {
      if (std::string(step) != "begun") return;
      // Only the last question of the act itself sees the new ones; before it comes a look at the old ones.
      player.answer_after("device_add", "query-cpus-fast", after);
    };
  }

  guests::folder folder;
  recorded_answers answers = load_answers(recording);
  json after = answers["query-cpus-fast-after"];
  std::array<vcpu_thread, 2> threads;
  monitor player;
  journal written{folder.path / "journal"};
};

/// Far longer than any dialogue, so that no verdict depends on the load.
constexpr std::chrono::milliseconds patience{600'000};

TEST_F(plugging, is_proved_when_the_new_ones_run_and_stays) {
  actor one(written, plugs_in());
  const auto by = make_qmp_vcpus(folder.path / "monitor", patience);
  const receipt done = one.apply(*by, "a", act_kind::plug, "4", 10);
  EXPECT_EQ(done.change.before, "2");
  EXPECT_EQ(by->present(), "4");
  EXPECT_EQ(one.verify(*by, done, 10), proof::waiting);
  threads[0].run();
  while (read_thread("", threads[0].id())->ran < 0.01) ::usleep(1000);
  EXPECT_EQ(one.verify(*by, done, 10), proof::waiting);  // one of two is not all
  threads[1].run();
  while (one.verify(*by, done, 10) == proof::waiting) ::usleep(1000);
  EXPECT_EQ(written.in_effect().at(done.number).last, "proved");
  const auto all = revert(written);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].outcome, "left");
  EXPECT_TRUE(written.in_effect().empty());
}

TEST_F(plugging, fails_without_proof_and_does_nothing_that_it_cannot_do) {
  actor one(written, plugs_in());
  const auto by = make_qmp_vcpus(folder.path / "monitor", patience);
  for (const char* value : {"5", "1", "0", "two", ""})
    EXPECT_THROW(one.apply(*by, "a", act_kind::plug, value, 10), act_error) << value;
  EXPECT_TRUE(written.in_effect().empty());
  const receipt done = one.apply(*by, "a", act_kind::plug, "4", 10);
  EXPECT_EQ(one.verify(*by, done, 15), proof::failed);
}

TEST_F(plugging, does_nothing_if_it_cannot_tell_old_from_new) {
  // The old threads are not known, though the act itself would succeed.
  actor one(written, [this](const char* step) {
    if (std::string(step) != "begun") return;
    player.answer("query-cpus-fast", answers["device_add-again"]);
    player.answer_after("device_add", "query-cpus-fast", after);
  });
  const auto by = make_qmp_vcpus(folder.path / "monitor", patience);
  try {
    one.apply(*by, "a", act_kind::plug, "4", 10);
    FAIL() << "all virtual CPUs counted as new";
  } catch (const act_error& error) {
    EXPECT_NE(std::string(error.what()).find("it refuses query-cpus-fast"), std::string::npos)
        << error.what();
  }
}

TEST_F(plugging, says_what_the_monitor_refuses) {
  player.answer("device_add", answers["device_add-again"]);
  actor one(written);
  const auto by = make_qmp_vcpus(folder.path / "monitor", patience);
  try {
    one.apply(*by, "a", act_kind::plug, "4", 10);
    FAIL() << "it was not refused";
  } catch (const act_error& error) {
    EXPECT_NE(std::string(error.what()).find("it refuses device_add: CPU[3] with APIC ID 3 exists"),
              std::string::npos)
        << error.what();
  }
  EXPECT_TRUE(written.in_effect().empty());
  EXPECT_THROW(one.apply(*make_qmp_vcpus(folder.path / "none"), "a", act_kind::plug, "4", 10), act_error);
}

}  // namespace
