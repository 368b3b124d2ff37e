// SPDX-License-Identifier: Apache-2.0
// Publishing a number by a file and by a port.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "fake_machine.hpp"
#include "shared/publish.hpp"
#include "sockets.hpp"

namespace {

using namespace sukima::host;
using sukima::descriptor;
namespace fs = std::filesystem;

std::string number(double usable) { return text_of(host_message{.usable = usable}); }

TEST(file_link, writes_again_every_three_seconds) {
  const guests::folder folder;
  const fs::path file = folder.path / "host";
  const auto link = make_file_link(file);
  link->set_message(host_message{.usable = 1.5, .valid = 999}, 100);
  EXPECT_EQ(guests::text_in(file), number(1.5));
  EXPECT_EQ(fs::status(file).permissions(), fs::perms(0644));
  fs::remove(file);
  link->step(102.9);
  EXPECT_FALSE(fs::exists(file));
  link->step(103);
  EXPECT_EQ(guests::text_in(file), number(1.5));
  // Another number does not wait; the same one does.
  fs::remove(file);
  link->set_message(host_message{.usable = 1.5}, 104);
  EXPECT_FALSE(fs::exists(file));
  link->set_message(host_message{.usable = 2}, 104);
  EXPECT_EQ(guests::text_in(file), number(2));
  // Saying nothing lets the number end by itself.
  fs::remove(file);
  link->set_message(std::nullopt, 105);
  link->step(1000);
  EXPECT_FALSE(fs::exists(file));
}

TEST(file_link, follows_nothing_that_a_hostile_container_leaves) {
  const guests::folder folder, other;
  const fs::path victim = other.path / "victim";
  guests::write(victim, "precious");
  const auto link = make_file_link(folder.path / "host");
  fs::create_symlink(victim, folder.path / "host");
  fs::create_symlink(victim, folder.path / ".host.new");
  link->set_message(host_message{.usable = 1}, 1);
  EXPECT_EQ(guests::text_in(victim), "precious");
  EXPECT_EQ(guests::text_in(folder.path / "host"), number(1));
  EXPECT_FALSE(fs::is_symlink(folder.path / "host"));
  // A pipe must not hold the host up.
  ASSERT_EQ(::mkfifo((folder.path / ".host.new").c_str(), 0600), 0);
  link->set_message(host_message{.usable = 2}, 2);
  EXPECT_EQ(guests::text_in(folder.path / "host"), number(2));
}

TEST(file_link, follows_no_link_on_the_way_to_its_folder) {
  const guests::folder guest, other;
  fs::create_directories(guest.path / "run");
  const auto link = make_file_link(guest.path / "run/sukima/host");
  for (const fs::path place : {"run", "run/sukima"}) {
    SCOPED_TRACE(place);
    const fs::path target = other.path / place;
    guests::write(other.path / "run/sukima/host", "precious");
    guests::write(other.path / "run/host", "precious");
    fs::remove_all(guest.path / place);
    fs::create_directory_symlink(target, guest.path / place);
    link->set_message(host_message{.usable = 1}, 100);
    EXPECT_EQ(guests::text_in(other.path / "run/sukima/host"), "precious");
    EXPECT_EQ(guests::text_in(other.path / "run/host"), "precious");
    fs::remove(guest.path / place);
    fs::create_directories(guest.path / "run");
  }
  const auto complaint = link->complaint(100);
  ASSERT_TRUE(complaint);
  EXPECT_NE(complaint->find("leads through a symbolic link"), std::string::npos) << *complaint;
  // Without the link it is written.
  fs::create_directories(guest.path / "run/sukima");
  link->step(101);
  EXPECT_EQ(guests::text_in(guest.path / "run/sukima/host"), number(1));
}

TEST(file_link, leaves_nothing_behind_in_the_place_of_a_folder) {
  const guests::folder folder;
  fs::create_directory(folder.path / "host");
  const auto link = make_file_link(folder.path / "host");
  link->set_message(host_message{.usable = 1}, 1);
  EXPECT_TRUE(link->complaint(1));
  EXPECT_FALSE(fs::exists(folder.path / ".host.new"));
}

TEST(file_link, says_what_fails_and_tries_again) {
  const guests::folder folder;
  const auto link = make_file_link(folder.path / "missing" / "host");
  link->set_message(host_message{.usable = 1}, 1);
  const auto complaint = link->complaint(1);
  ASSERT_TRUE(complaint);
  EXPECT_NE(complaint->find("cannot be written: No such file"), std::string::npos) << *complaint;
  EXPECT_FALSE(link->complaint(2));
  // Something that the file cannot replace leaves nothing beside it.
  fs::create_directories(folder.path / "missing" / "host");
  link->step(2);
  EXPECT_FALSE(fs::exists(folder.path / "missing" / ".host.new"));
  fs::remove(folder.path / "missing" / "host");
  link->step(3);
  EXPECT_EQ(guests::text_in(folder.path / "missing" / "host"), number(1));
}

TEST(port_link, sends_and_receives) {
  auto [mine, guest] = guests::connected_pair();
  const int number_of = ::dup(mine.get());
  const auto link = make_port_link(number_of);
  EXPECT_EQ(link->readable(), number_of);
  link->set_message(host_message{.usable = 1.5, .vcpus = 2}, 1);
  EXPECT_EQ(guests::received(guest), text_of(host_message{.usable = 1.5, .vcpus = 2}));
  guests::send_to(guest, "sukima-guest 1\nwant 3\nend\nsukima-guest 1\n");
  link->step(1.5);
  const auto got = link->take();
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].want, 3U);
  EXPECT_TRUE(guests::received(guest).empty());
  link->step(4);
  EXPECT_FALSE(guests::received(guest).empty());
}

TEST(port_link, does_not_wait_for_a_guest_that_reads_nothing) {
  auto [mine, guest] = guests::connected_pair();
  const auto link = make_port_link(::dup(mine.get()));
  // Each is another number, so each is due at once; the socket's buffer takes some hundred KiB.
  for (int i = 0; i < 200000; ++i) link->set_message(host_message{.usable = 1.0 + i % 1000}, i * 1e-3);
  link->set_message(host_message{.usable = 7}, 1000);
  // Whole messages come, and after what the buffer held the last number.
  std::string all;
  for (int i = 0; i < 10; ++i) {
    all += guests::received(guest);
    link->step(1001);
  }
  unsigned malformed = 0;
  std::string last;
  message_frames frames("sukima-host 1");
  frames.feed(all, [&](std::string_view text) {
    last = text;
    malformed += !parse_host_message(text);
  });
  EXPECT_EQ(malformed + frames.dropped(), 0U);
  EXPECT_EQ(last, number(7));
}

TEST(port_link, is_not_held_up_by_a_flood) {
  auto [mine, guest] = guests::connected_pair();
  const auto link = make_port_link(::dup(mine.get()));
  const std::string flood = "sukima-guest 1\nturn\nend\n";
  std::size_t sent = 0;
  while (::send(guest.get(), flood.data(), flood.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(flood.size()))
    ++sent;
  ASSERT_GT(sent, 100U);
  link->step(1);
  EXPECT_EQ(link->take().size(), 10U);
  const auto complaint = link->complaint(1);
  ASSERT_TRUE(complaint);
  EXPECT_NE(complaint->find("above 10 a second"), std::string::npos) << *complaint;
}

/// Fills the socket. \returns how many bytes it took
std::size_t fill(const descriptor& guest, std::string_view with) {
  std::size_t all = 0;
  for (ssize_t count = 0; count >= 0; all += static_cast<std::size_t>(count)) {
    count = ::send(guest.get(), with.data(), with.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0) break;
  }
  return all;
}

TEST(port_link, closes_the_port_of_a_guest_that_floods_it_for_a_minute) {
  for (const std::string flood : {"sukima-guest 1\nturn\nend\n", "\n", "x"}) {
    SCOPED_TRACE(flood);
    const guests::folder folder;
    auto listening = guests::listen_at(folder.path / "port");
    const auto link = make_port_link(folder.path / "port");
    double now = 100;
    link->step(now);
    ASSERT_TRUE(link->connected());
    const auto guest = guests::accept_at(listening);
    std::string piece;
    while (piece.size() < 4096) piece += flood;
    std::size_t sent = 0;
    for (; link->connected() && sent < 100'000'000; now += 0.05) {
      sent += fill(guest, piece);
      link->step(now);
    }
    ASSERT_FALSE(link->connected());
    // That is a second's worth for each second, and as much as may gather while the host is stopped.
    EXPECT_LE(sent, 2'000'000U);
    EXPECT_EQ(link->readable(), -1);
    std::string said;
    for (auto one = link->complaint(now); one; one = link->complaint(now)) said += *one;
    EXPECT_NE(said.find("more than 40960 bytes a second; its port is closed for 60 s"), std::string::npos)
        << said;
    link->step(now + 59);
    EXPECT_FALSE(link->connected());
    link->step(now + 60);
    EXPECT_TRUE(link->connected());
  }
}

TEST(port_link, keeps_the_port_of_a_guest_that_the_host_did_not_read_for_long) {
  auto [mine, guest] = guests::connected_pair();
  const auto link = make_port_link(::dup(mine.get()));
  ASSERT_GT(fill(guest, "sukima-guest 1\nprogress 1\nend\n"), 1000U);
  for (double now = 100; now < 101; now += 0.05) link->step(now);
  EXPECT_TRUE(link->connected());
  EXPECT_TRUE(guests::received(mine).empty()) << "all was taken";
}

TEST(port_link, connects_again_when_the_machine_has_gone) {
  const guests::folder folder;
  const fs::path path = folder.path / "port";
  const auto link = make_port_link(path);
  link->set_message(host_message{.usable = 1}, 1);
  EXPECT_FALSE(link->connected());
  ASSERT_TRUE(link->complaint(1));
  link->step(1.5);
  EXPECT_FALSE(link->complaint(1.5));
  auto listening = guests::listen_at(path);
  link->step(1.9);  // too early for another attempt
  EXPECT_FALSE(link->connected());
  link->step(2);
  ASSERT_TRUE(link->connected());
  {
    const auto guest = guests::accept_at(listening);
    EXPECT_EQ(guests::received(guest), number(1));
    guests::send_to(guest, "sukima-guest 1\nwant 2\n");
  }
  link->step(2.5);
  EXPECT_FALSE(link->connected());
  EXPECT_EQ(link->readable(), -1);
  link->step(3);
  ASSERT_TRUE(link->connected());
  const auto guest = guests::accept_at(listening);
  EXPECT_EQ(guests::received(guest), number(1));
  guests::send_to(guest, "end\n");  // the rest of a message of the former connection
  link->step(3.5);
  EXPECT_TRUE(link->take().empty());
}

}  // namespace
