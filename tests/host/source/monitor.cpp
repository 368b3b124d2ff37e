// SPDX-License-Identifier: Apache-2.0
// A monitor that plays a recording; see monitor.hpp.
#include "monitor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <stdexcept>

namespace sukima::host {
namespace {

bool send_all(int connection, const std::string& text, std::size_t piece) {
  for (std::size_t at = 0; at < text.size(); at += piece) {
    const std::string part = text.substr(at, piece);
    if (send(connection, part.data(), part.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(part.size()))
      return false;
  }
  return true;
}

}  // namespace

recorded_answers load_answers(const std::filesystem::path& file) {
  std::ifstream in(file);
  recorded_answers answers;
  std::string command, text;
  while (in >> command && std::getline(in, text)) answers[command] = nlohmann::json::parse(text);
  if (answers.empty()) throw std::runtime_error("no recording in " + file.string());
  return answers;
}

monitor::monitor(const std::filesystem::path& socket, recorded_answers answers)
    : answers_(std::move(answers)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = socket.string();
  if (path.size() >= sizeof address.sun_path) throw std::runtime_error("the path is too long: " + path);
  std::memcpy(address.sun_path, path.data(), path.size());
  listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int ends[2];
  if (bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener_, 8) != 0 || pipe2(ends, O_CLOEXEC) != 0)
    throw std::runtime_error("no socket at " + path);
  stop_read_ = ends[0];
  stop_write_ = ends[1];
  thread_ = std::thread([this] { serve(); });
}

monitor::~monitor() {
  close(stop_write_);
  thread_.join();
  close(stop_read_);
  close(listener_);
}

void monitor::answer(const std::string& command, nlohmann::json with) {
  const std::lock_guard lock(mutex_);
  answers_[command] = std::move(with);
}

void monitor::answer_after(const std::string& other, const std::string& command, nlohmann::json with) {
  const std::lock_guard lock(mutex_);
  later_[other][command] = std::move(with);
}

nlohmann::json monitor::answer_to(const std::string& command) {
  const std::lock_guard lock(mutex_);
  nlohmann::json reply = answers_[command];
  const auto changes = later_.find(command);
  if (changes != later_.end())
    for (const auto& [name, with] : changes->second) answers_[name] = with;
  return reply;
}

void monitor::serve() {
  for (;;) {
    pollfd wanted[] = {{listener_, POLLIN, 0}, {stop_read_, POLLIN, 0}};
    poll(wanted, 2, -1);
    if (wanted[1].revents != 0) return;
    const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) continue;
    converse(connection);
    close(connection);
  }
}

void monitor::converse(int connection) {
  recorded_answers answers;
  {
    const std::lock_guard lock(mutex_);
    answers = answers_;
  }
  const manner how = manner_;
  const std::size_t piece = how == manner::in_pieces ? 1 : 1U << 20;
  const int indent = how == manner::pretty ? 4 : -1;
  const auto say = [&](const nlohmann::json& message) {
    return send_all(connection, message.dump(indent) + "\r\n", piece);
  };
  if (how == manner::garbage) send_all(connection, "220 mail.example.org {ready}\r\n", piece);
  if (how == manner::broken_off || how == manner::good || how == manner::in_pieces || how == manner::pretty)
    say(answers["greeting"]);
  if (how == manner::broken_off) return;
  std::string got;
  for (;;) {
    pollfd wanted[] = {{connection, POLLIN, 0}, {stop_read_, POLLIN, 0}};
    poll(wanted, 2, -1);
    if (wanted[1].revents != 0) return;
    char bytes[4096];
    const ssize_t count = recv(connection, bytes, sizeof bytes, 0);
    if (count <= 0) return;
    if (how == manner::silent || how == manner::garbage) continue;
    got.append(bytes, static_cast<std::size_t>(count));
    for (std::size_t end = got.find('\n'); end != std::string::npos; end = got.find('\n')) {
      const nlohmann::json question = nlohmann::json::parse(got.substr(0, end));
      got.erase(0, end + 1);
      nlohmann::json reply = answer_to(question.at("execute").get<std::string>());
      if (reply.is_null()) reply = {{"error", {{"class", "CommandNotFound"}, {"desc", "no such command"}}}};
      reply["id"] = question.at("id");
      // An event comes between any two answers.
      if (!say(answers["event"]) || !say(reply)) return;
    }
  }
}

}  // namespace sukima::host
