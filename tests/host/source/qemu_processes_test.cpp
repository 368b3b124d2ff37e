// SPDX-License-Identifier: Apache-2.0
// Command lines of QEMU say where its monitor is.
#include "source/qemu_processes.hpp"

#include <gtest/gtest.h>

namespace sukima::host {
namespace {

using list = std::vector<std::string>;

list monitors_of(list arguments) {
  arguments.insert(arguments.begin(), "/usr/bin/qemu-system-x86_64");
  return read_command_line(arguments).value().monitors;
}

TEST(qemu_command_line, of_each_way_to_name_a_monitor) {
  EXPECT_EQ(monitors_of({"-qmp", "unix:/run/a,server=on,wait=off"}), list{"/run/a"});
  EXPECT_EQ(monitors_of({"-qmp", "unix:/run/a,server,nowait"}), list{"/run/a"});
  EXPECT_EQ(monitors_of({"--qmp-pretty", "unix:/run/a,,b,server=on"}), list{"/run/a,b"});
  EXPECT_EQ(monitors_of(
                {"-chardev", "socket,id=m,path=/run/a,server=on,wait=off", "-mon", "chardev=m,mode=control"}),
            list{"/run/a"});
  EXPECT_EQ(monitors_of({"-mon", "m,mode=control", "-chardev", "socket,path=/run/a,id=m,server=on"}),
            list{"/run/a"});
}

TEST(qemu_command_line, other_sockets_are_ignored) {
  EXPECT_EQ(monitors_of({"-qmp", "tcp:localhost:4444,server=on"}), list{});
  EXPECT_EQ(monitors_of({"-qmp", "unix:/run/a,server=off"}), list{});
  EXPECT_EQ(monitors_of({"-qmp", "unix:/run/a"}), list{});
  EXPECT_EQ(monitors_of({"-chardev", "socket,id=m,path=/run/a,server=on", "-mon", "chardev=m,mode=readline"}),
            list{});
  EXPECT_EQ(monitors_of({"-qmp"}), list{});
  EXPECT_EQ(monitors_of({}), list{});
}

TEST(qemu_command_line, names_and_uuids) {
  const auto one = read_command_line({"kvm", "-name", "a,debug-threads=on", "-uuid", "u-1", "-daemonize",
                                      "-qmp", "unix:m,server=on"})
                       .value();
  EXPECT_EQ(one.name, "a");
  EXPECT_EQ(one.uuid, "u-1");
  EXPECT_EQ(one.monitors, list{"m"});
  EXPECT_EQ(read_command_line({"qemu-kvm", "-name", "guest=b,debug-threads=on"}).value().name, "b");
}

TEST(qemu_command_line, of_libvirt_is_known) {
  const auto one = read_command_line({"/usr/bin/qemu-system-x86_64", "-name", "guest=sk1,debug-threads=on",
                                      "-chardev", "socket,id=charmonitor,fd=28,server=on,wait=off", "-mon",
                                      "chardev=charmonitor,id=monitor,mode=control"})
                       .value();
  EXPECT_TRUE(one.of_libvirt);
  EXPECT_TRUE(one.monitors.empty());
}

TEST(qemu_command_line, other_programs_are_refused) {
  for (const char* program : {"bash", "/usr/bin/qemu-img", "qemu-aarch64-static", "", "kvm-nested"})
    EXPECT_FALSE(read_command_line({program, "-qmp", "unix:/run/a,server=on"})) << program;
  EXPECT_FALSE(read_command_line({}));
}

}  // namespace
}  // namespace sukima::host
