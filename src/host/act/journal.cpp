// SPDX-License-Identifier: Apache-2.0
// The journal of acts: lines of JSON, each on disk before the next thing is done.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "shared/act.hpp"

namespace sukima::host {
namespace {

using nlohmann::json;

/// Beyond this the lines of acts that have ended are thrown away.
constexpr std::uint64_t size_to_shorten = 1 << 20;
constexpr std::uint64_t longest_journal = 64 << 20;

[[noreturn]] void fail(const std::filesystem::path& file, const char* what, int error) {
  throw journal_error(fmt::format("the journal {} {}: {}; nothing is done without it, give another --journal",
                                  file.string(), what, std::strerror(error)));
}

std::optional<act_kind> kind_of(const std::string& name) {
  for (const act_kind kind : {act_kind::vcpus, act_kind::cap, act_kind::weight, act_kind::plug})
    if (name == name_of(kind)) return kind;
  return std::nullopt;
}

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

const char* name_of(act_kind kind) {
  switch (kind) {
    case act_kind::vcpus:
      return "vcpus";
    case act_kind::cap:
      return "cap";
    case act_kind::plug:
      return "plug";
    case act_kind::weight:
      break;
  }
  return "weight";
}

journal::journal(std::filesystem::path file) : file_(std::move(file)) {
  if (file_.has_parent_path() && !std::filesystem::exists(file_.parent_path())) {
    std::error_code error;
    std::filesystem::create_directories(file_.parent_path(), error);
    if (error) fail(file_, "has no folder", error.value());
    std::filesystem::permissions(file_.parent_path(), std::filesystem::perms(0700), error);
  }
  // The lock is a file of its own, because the journal is replaced when it becomes long.
  const std::string lock = file_.string() + ".lock";
  lock_.reset(::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock_) fail(file_, "cannot be locked", errno);
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) fail(file_, "cannot be locked", errno);
    throw journal_error(
        fmt::format("another sukima host acts on this host and has the journal {}; wait until it has ended",
                    file_.string()));
  }
  open();
  read();
}

void journal::open() {
  out_.reset(::open(file_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (!out_) fail(file_, "cannot be opened", errno);
  struct stat status{};
  if (::fstat(out_.get(), &status) != 0) fail(file_, "cannot be read", errno);
  // Whoever can write it decides what is written where, with this process's rights.
  const bool foreign = status.st_uid != ::geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  if (!S_ISREG(status.st_mode) || foreign) fail(file_, "is no file that only this user can write", EPERM);
  size_ = static_cast<std::uint64_t>(status.st_size);
  if (size_ > longest_journal) fail(file_, "is too long to be read", EFBIG);
}

void journal::read() {
  std::string text(size_, '\0');
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t count = ::pread(out_.get(), text.data() + at, text.size() - at, static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail(file_, "cannot be read", count < 0 ? errno : EIO);
    at += static_cast<std::size_t>(count);
  }
  // A line without an end was not on disk before its act: that act was never done.
  const std::size_t whole = text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1;
  if (whole != text.size()) {
    if (::ftruncate(out_.get(), static_cast<off_t>(whole)) != 0 || ::fdatasync(out_.get()) != 0)
      fail(file_, "cannot be written", errno);
    size_ = whole;
  }
  for (std::size_t at = 0; at < whole;) {
    const std::size_t end = text.find('\n', at);
    take(text.substr(at, end - at));
    at = end + 1;
  }
}

/// Understands one line.
void journal::take(const std::string& line) {
  const json one = json::parse(line, nullptr, false);
  const auto text = [&](const char* name) {
    const auto found = one.find(name);
    return found != one.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  if (!one.is_object() || !one.contains("act") || !one["act"].is_number_unsigned()) {
    ++unreadable_;
    return;
  }
  const auto number = one["act"].get<std::uint64_t>();
  const std::string step = text("step");
  last_number_ = std::max(last_number_, number);
  if (step == "begun") {
    const auto kind = kind_of(text("kind"));
    if (kind && !text("target").empty())
      entries_[number] = {{text("vm"), *kind, text("target"), text("before"), text("after")}, "begun"};
    else
      ++unreadable_;
  } else if (step == "proved" || step == "failed") {
    if (const auto found = entries_.find(number); found != entries_.end()) found->second.last = step;
  } else if (step == "undone" || step == "left" || step == "gone" || step == "ended") {
    entries_.erase(number);
  } else {
    ++unreadable_;
  }
}

std::string journal::line_of(std::uint64_t number, const act& what) {
  const json line{{"act", number},
                  {"step", "begun"},
                  {"at", seconds_since_1970()},
                  {"vm", what.vm},
                  {"kind", name_of(what.kind)},
                  {"target", what.target},
                  {"before", what.before},
                  {"after", what.after}};
  return line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

/// Puts a line on disk, or throws and leaves none.
void journal::append(const std::string& line) {
  const ssize_t count = ::write(out_.get(), line.data(), line.size());
  const int error = count < 0 ? errno : ENOSPC;
  if (count == static_cast<ssize_t>(line.size()) && ::fdatasync(out_.get()) == 0) {
    size_ += line.size();
    return;
  }
  const int reason = count == static_cast<ssize_t>(line.size()) ? errno : error;
  // What was written of it is taken away; if that fails, too, a line without an end counts for nothing.
  if (::ftruncate(out_.get(), static_cast<off_t>(size_)) != 0) out_.reset();
  fail(file_, "cannot be written", reason);
}

std::uint64_t journal::begin(const act& what) {
  if (!out_) fail(file_, "cannot be written", EIO);
  if (size_ > size_to_shorten) shorten();
  const std::uint64_t number = last_number_ + 1;
  append(line_of(number, what));
  last_number_ = number;
  entries_[number] = {what, "begun"};
  return number;
}

void journal::note(std::uint64_t number, const char* outcome) {
  if (!out_) fail(file_, "cannot be written", EIO);
  append(json({{"act", number}, {"step", outcome}, {"at", seconds_since_1970()}}).dump() + "\n");
  if (const auto found = entries_.find(number); found != entries_.end()) found->second.last = outcome;
}

void journal::close(std::uint64_t number, const char* outcome) {
  note(number, outcome);
  entries_.erase(number);
}

/// Keeps only the lines of acts in effect. The old journal counts until the new one is complete.
void journal::shorten() {
  const std::string fresh = file_.string() + ".new";
  std::string text;
  for (const auto& [number, one] : entries_) text += line_of(number, one.what);
  {
    const descriptor out(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!out) fail(file_, "cannot be shortened", errno);
    if (::write(out.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
        ::fsync(out.get()) != 0)
      fail(file_, "cannot be shortened", errno);
  }
  if (::rename(fresh.c_str(), file_.c_str()) != 0) fail(file_, "cannot be shortened", errno);
  const descriptor folder(::open(file_.has_parent_path() ? file_.parent_path().c_str() : ".",
                                 O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder) ::fsync(folder.get());
  open();
}

}  // namespace sukima::host
