// SPDX-License-Identifier: Apache-2.0
// Finding the machines that can be optimised, and the port of a guest in the XML of its domain.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <host/shared/discovery.hpp>
#include <host/shared/steering.hpp>

#include "source/domain_channel.hpp"

namespace sukima::host {
namespace {

namespace fs = std::filesystem;

TEST(domain_channel, is_the_one_of_the_guest_service) {
  const std::string xml =
      "<domain type='qemu' id='7'><name>db</name><devices>"
      "<channel type='unix'><source mode='bind' path='/run/agent.sock'/>"
      "<target type='virtio' name='org.qemu.guest_agent.0' state='connected'/></channel>"
      "<channel type='unix'>\n  <source mode='bind' path='/run/a&amp;b&apos;s/org.sukima.guest.0'/>\n"
      "  <target type='virtio' name='org.sukima.guest.0' state='disconnected'/>\n"
      "  <alias name='channel1'/></channel></devices></domain>";
  EXPECT_EQ(channel_path(xml), "/run/a&b's/org.sukima.guest.0");
}

TEST(domain_channel, is_empty_without_a_socket) {
  for (const char* xml :
       {"", "<channel ", "<channel type='unix'>", "<channel type='unix'></channel>",
        "<channel type='unix'><source path='/x'/><target name='org.sukima.guest.1'/></channel>",
        "<channel type='pty'><target name='org.sukima.guest.0'/></channel>",
        "<channel type='unix'><source path='x'/><target name='org.sukima.guest.0'/></channel>",
        "<channel type='unix'><source path='/x\ny'/><target name='org.sukima.guest.0'/></channel>",
        "<channel type='unix'><source path='/x/><target name='org.sukima.guest.0'/></channel>",
        "<channel type='unix'><source no-path='/x'/><target name='org.sukima.guest.0'/></channel>"})
    EXPECT_EQ(channel_path(xml), "") << xml;
}

/// A source whose answer a test writes.
class written_source final : public source {
 public:
  explicit written_source(snapshot& from) : from_(from) {}
  snapshot read(deadline) override {
    ++from_.clock;
    for (observed_vm& one : from_.vms) one.read_at = from_.clock;
    return from_;
  }
  capabilities can() const override { return {.name = "written"}; }

 private:
  snapshot& from_;
};

class discovered : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "sukima-discovery-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
    host_.pcpus.resize(1);
    finder_.emplace(std::make_unique<written_source>(host_), root_.string());
  }
  void TearDown() override { fs::remove_all(root_); }

  /// A domain with two virtual CPUs, of which the second one can be plugged in.
  void add(const std::string& name, bool has_port) {
    observed_vm& one = host_.vms.emplace_back();
    one.now.name = name;
    one.now.id = "id-" + name;
    one.now.weight_of = weight_owner::vm;
    one.now.vcpus.resize(2);
    one.now.vcpus[0].ran = 1;
    one.now.vcpus[1].id = 1;
    one.now.vcpus[1].online = false;
    if (has_port) one.now.unknown = R"({"port": "/run/)" + name + R"(.sock"})";
  }
  /// \param more  arguments after the UUID
  void start(const std::string& name, int process, const std::vector<std::string>& more = {}) {
    fs::create_directories(root_ / "proc" / std::to_string(process));
    std::ofstream command(root_ / "proc" / std::to_string(process) / "cmdline");
    command << "qemu-system-x86_64" << '\0' << "-uuid" << '\0' << "id-" << name << '\0';
    for (const std::string& word : more) command << word << '\0';
  }
  std::optional<description> look() { return finder_->look({}); }

  fs::path root_;
  snapshot host_;
  std::optional<discovery> finder_;
};

TEST_F(discovered, machines_with_a_port_and_a_process_can_be_optimised) {
  add("web", false);
  add("db", true);
  start("db", 4711);
  start("web", 4712);
  const auto found = look();
  ASSERT_TRUE(found);
  ASSERT_EQ(found->vms.size(), 2U);
  EXPECT_EQ(found->vms[0].name, "db");
  const auto how = steering_of(*found);
  EXPECT_TRUE(how[0].threads);
  EXPECT_EQ(how[0].port, "/run/db.sock");
  EXPECT_EQ(how[0].process, 4711);
  EXPECT_EQ(found->vms[0].vcpus.size(), 1U);  // the other one is not there
  // A neighbour without a port is measured only.
  EXPECT_FALSE(how[1].threads);
  EXPECT_EQ(how[1].process, 4712);
}

TEST_F(discovered, only_what_a_session_depends_on_is_a_change) {
  add("db", true);
  start("db", 4711);
  EXPECT_TRUE(look());
  host_.vms[0].now.vcpus[0].ran = 5;
  EXPECT_FALSE(look());
  host_.vms[0].now.weight = 512;
  EXPECT_TRUE(look());
  EXPECT_FALSE(look());
  finder_->look_again();
  EXPECT_TRUE(look());
  // Another process is another run.
  fs::remove_all(root_ / "proc/4711");
  start("db", 4713);
  EXPECT_EQ(steering_of(look().value())[0].process, 4713);
  host_.vms.clear();
  EXPECT_TRUE(look().value().vms.empty());
}

TEST_F(discovered, a_domain_without_its_process_waits) {
  add("db", true);
  EXPECT_FALSE(steering_of(look().value())[0].threads);
  start("db", 4711);
  EXPECT_TRUE(steering_of(look().value())[0].threads);
}

TEST_F(discovered, a_foreign_process_with_the_uuid_of_a_domain_is_not_taken) {
  add("db", true);
  start("db", 4711, {"-chardev", "socket,id=charmonitor,fd=28,server=on,wait=off"});
  start("db", 4999);
  EXPECT_EQ(steering_of(look().value())[0].process, 4711) << "libvirt started this one";
  EXPECT_TRUE(finder_->take_notes().empty());
}

TEST_F(discovered, of_two_processes_with_the_uuid_of_a_domain_none_is_taken) {
  add("db", true);
  start("db", 4711);
  start("db", 4999);
  EXPECT_FALSE(steering_of(look().value())[0].threads);
  const auto notes = finder_->take_notes();
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("4711 and 4999"), std::string::npos) << notes[0];
  fs::remove_all(root_ / "proc/4999");
  EXPECT_EQ(steering_of(look().value())[0].process, 4711);
}

TEST_F(discovered, notes_come_once) {
  host_.notes = {"libvirt is slow"};
  look();
  EXPECT_EQ(finder_->take_notes().size(), 1U);
  look();
  EXPECT_TRUE(finder_->take_notes().empty());
}

}  // namespace
}  // namespace sukima::host
