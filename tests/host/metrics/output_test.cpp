// SPDX-License-Identifier: Apache-2.0
// Where metrics are published: a port, a file.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <base/shared/descriptor.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "metrics/http_request.hpp"
#include "shared/metrics.hpp"

namespace {

using namespace sukima::host;
using sukima::descriptor;
namespace fs = std::filesystem;

std::uint16_t port_of(const metrics_output& output) {
  const std::string place = output.place();
  return static_cast<std::uint16_t>(std::stoul(place.substr(place.rfind(':') + 1)));
}

descriptor connected(std::uint16_t port) {
  descriptor one(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(one.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) one.reset();
  return one;
}

void send_text(const descriptor& to, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::send(to.get(), text.data(), text.size(), MSG_NOSIGNAL);
    if (count <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

/// All that comes until the server closes the connection.
std::string all_of(const descriptor& from) {
  std::string text;
  char bytes[4096];
  for (;;) {
    const ssize_t count = ::recv(from.get(), bytes, sizeof bytes, 0);
    if (count <= 0) return text;
    text.append(bytes, static_cast<std::size_t>(count));
  }
}

std::string scraped(std::uint16_t port, std::string_view request) {
  const descriptor one = connected(port);
  send_text(one, request);
  // The server waits for our end before it closes its own.
  ::shutdown(one.get(), SHUT_WR);
  return all_of(one);
}

constexpr const char* scrape = "GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n";

TEST(metrics_server, serves_the_latest_text_at_this_machine_only) {
  const auto output = open_metrics("0");
  EXPECT_TRUE(output->place().starts_with("http://127.0.0.1:")) << output->place();
  EXPECT_EQ(output->publish("a 1\n"), std::nullopt);
  EXPECT_TRUE(scraped(port_of(*output), scrape).ends_with("\r\n\r\na 1\n"));
  EXPECT_EQ(output->publish("a 2\n"), std::nullopt);
  EXPECT_TRUE(scraped(port_of(*output), scrape).ends_with("\r\n\r\na 2\n"));
}

TEST(metrics_server, takes_a_request_in_pieces) {
  const auto output = open_metrics("127.0.0.1:0");
  output->publish("a 1\n");
  const descriptor one = connected(port_of(*output));
  for (const char& c : std::string_view(scrape)) send_text(one, {&c, 1});
  ::shutdown(one.get(), SHUT_WR);
  EXPECT_TRUE(all_of(one).ends_with("a 1\n"));
}

TEST(metrics_server, refuses_what_it_does_not_understand) {
  const auto output = open_metrics("0");
  output->publish("secret\n");
  for (const std::string& request :
       {std::string("nonsense\r\n\r\n"), std::string("POST /metrics HTTP/1.1\r\nHost: h\r\n\r\n"),
        "GET /metrics HTTP/1.1\r\nHost: h\r\nA: " + std::string(longest_request, 'a')}) {
    const std::string response = scraped(port_of(*output), request);
    EXPECT_TRUE(response.starts_with("HTTP/1.1 4")) << response;
    EXPECT_EQ(response.find("secret"), std::string::npos);
  }
  EXPECT_EQ(scraped(port_of(*output), "GET /metrics"), "");
}

TEST(metrics_server, silent_connections_do_not_keep_others_out_for_ever) {
  const auto output = open_metrics("0");
  output->publish("a 1\n");
  std::vector<descriptor> silent;
  for (int k = 0; k < 16; ++k) silent.push_back(connected(port_of(*output)));
  EXPECT_TRUE(scraped(port_of(*output), scrape).ends_with("a 1\n"));
}

TEST(metrics_server, ends_while_connections_are_open) {
  auto output = open_metrics("0");
  const descriptor one = connected(port_of(*output));
  send_text(one, "GET /met");
  output.reset();
  EXPECT_EQ(all_of(one), "");
}

TEST(metrics_server, a_port_in_use_is_a_sentence) {
  const auto first = open_metrics("0");
  for (const std::string& where :
       {std::to_string(port_of(*first)), std::string("70000"), std::string("nowhere:9105"), std::string(":1"),
        std::string("-1"), std::string("127.0.0.1:-1")})
    EXPECT_THROW((void)open_metrics(where), metrics_error) << where;
}

TEST(metrics_file, is_replaced_as_a_whole_and_removed_in_the_end) {
  std::string name = (fs::temp_directory_path() / "sukima-metrics-XXXXXX").string();
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  const fs::path file = fs::path(name) / "sukima.prom";
  auto output = open_metrics(file.string());
  EXPECT_EQ(output->place(), file.string());
  output->publish("a 1\n");
  std::ifstream before(file);
  output->publish("a 2\n");
  // A reader that has opened it still reads all of the old one.
  std::stringstream old, now;
  old << before.rdbuf();
  now << std::ifstream(file).rdbuf();
  EXPECT_EQ(old.str(), "a 1\n");
  EXPECT_EQ(now.str(), "a 2\n");
  struct stat status{};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0644U);
  output.reset();
  EXPECT_TRUE(fs::is_empty(name));
  EXPECT_THROW((void)open_metrics("/proc/nonesuch/sukima.prom"), metrics_error);
  // A place that cannot be replaced leaves nothing beside it.
  fs::create_directory(file);
  EXPECT_THROW((void)open_metrics(file.string()), metrics_error);
  EXPECT_FALSE(fs::exists(file.string() + ".new"));
  fs::remove_all(name);
}

TEST(metrics_file, leaves_nothing_behind_where_it_cannot_be_written) {
  std::string name = (fs::temp_directory_path() / "sukima-metrics-XXXXXX").string();
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  const fs::path place = fs::path(name) / "folder";
  fs::create_directory(place);
  EXPECT_THROW((void)open_metrics(place.string()), metrics_error);
  EXPECT_FALSE(fs::exists(place.string() + ".new"));
  fs::remove_all(name);
}

TEST(metrics_file, has_no_name_that_is_an_address_or_a_url) {
  std::string name = (fs::temp_directory_path() / "sukima-metrics-XXXXXX").string();
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  const fs::path before = fs::current_path();
  fs::current_path(name);
  for (const char* where : {"http://127.0.0.1:9105/metrics", "https://db/metrics", "127.0.0.1:9105/metrics",
                            "db:9105/metrics", "localhost:91o5", "10.0.0.1:http", "[::1]:x"})
    EXPECT_THROW((void)open_metrics(where), metrics_error) << where;
  EXPECT_TRUE(fs::is_empty(name));
  for (const char* where : {"./localhost:x", "./a:1/metrics", "db:metrics", "today/21:00.prom"})
    EXPECT_EQ(open_metrics(where)->place(), where);
  fs::current_path(before);
  fs::remove_all(name);
}

TEST(metrics_file, replaces_only_a_file_of_metrics) {
  std::string name = (fs::temp_directory_path() / "sukima-metrics-XXXXXX").string();
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  const fs::path file = fs::path(name) / "letter", link = fs::path(name) / "link";
  const fs::path pipe = fs::path(name) / "pipe", left = fs::path(name) / "left";
  std::ofstream(file) << "Dear reader,\n";
  fs::create_symlink(file, link);
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const fs::path& one : {file, link, pipe}) {
    const auto before = fs::symlink_status(one).type();
    EXPECT_THROW((void)open_metrics(one.string()), metrics_error) << one;
    EXPECT_EQ(fs::symlink_status(one).type(), before) << one;
  }
  std::stringstream kept;
  kept << std::ifstream(file).rdbuf();
  EXPECT_EQ(kept.str(), "Dear reader,\n");
  // A process that was killed leaves its file.
  for (const std::string& text : {std::string(), metrics_text({})}) {
    std::ofstream(left) << text;
    EXPECT_EQ(open_metrics(left.string())->publish("a 1\n"), std::nullopt);
  }
  fs::remove_all(name);
}

TEST(metrics_file, follows_no_link_that_another_user_made) {
  std::string name = (fs::temp_directory_path() / "sukima-metrics-XXXXXX").string();
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  const fs::path file = fs::path(name) / "sukima.prom", other = fs::path(name) / "other";
  std::ofstream(other) << "precious";
  fs::create_symlink(other, file.string() + ".new");
  const auto output = open_metrics(file.string());
  EXPECT_EQ(output->publish("a 1\n"), std::nullopt);
  std::stringstream left, now;
  left << std::ifstream(other).rdbuf();
  now << std::ifstream(file).rdbuf();
  EXPECT_EQ(left.str(), "precious");
  EXPECT_EQ(now.str(), "a 1\n");
  EXPECT_FALSE(fs::is_symlink(file));
  fs::remove_all(name);
}

}  // namespace
