// SPDX-License-Identifier: Apache-2.0
// The journal of acts: lines of JSON. Each line is on disk before the next step.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <base/shared/assert.hpp>
#include <base/shared/clock.hpp>
#include <base/shared/enum_names.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "shared/act.hpp"

namespace sukima::host {
namespace {

using nlohmann::json;

/// When the journal is longer, it is rewritten without the lines of acts that have ended.
constexpr std::uint64_t size_to_shorten = 1 << 20;
constexpr std::uint64_t longest_journal = 64 << 20;
/// Acts are numbered from 1. A larger number is treated as damage, because after it there might be no next
/// number.
constexpr std::uint64_t largest_number = std::uint64_t{1} << 53;

// Consequences for the user if the journal cannot be used.
constexpr const char* nothing_is_done = "nothing is done without it; give another --journal";
constexpr const char* nothing_is_shown = "its acts are unknown; give another --journal";
constexpr const char* nothing_is_undone = "its acts are not undone; give another --journal";
constexpr const char* act_was_done = "the act was done, and sukima host revert undoes it";
constexpr const char* still_listed =
    "it still lists acts that are no longer in effect; once it can be written, sukima host revert removes "
    "them";

/// What it means for the acts that a journal cannot be used for this purpose.
const char* meaning_of(journal_use use) {
  return use == journal_use::acting    ? nothing_is_done
         : use == journal_use::undoing ? nothing_is_undone
                                       : nothing_is_shown;
}

constexpr enum_names<act_kind, act_kind::plug> kind_names("vcpus", "cap", "weight", "plug");

std::string step_line(std::uint64_t number, const char* outcome) {
  return json({{"act", number}, {"step", outcome}, {"at", wall_seconds()}}).dump() + "\n";
}

}  // namespace

const char* name_of(act_kind kind) { return kind_names.of(kind); }

journal::journal(std::filesystem::path file, journal_use use) : file_(std::move(file)), use_(use) {
  if (use_ == journal_use::looking) {
    open();
    if (out_) read();
    return;
  }
  if (file_.has_parent_path() && !std::filesystem::exists(file_.parent_path())) {
    std::error_code error;
    std::filesystem::create_directories(file_.parent_path(), error);
    if (error) fail("has no folder", error.value());
    std::filesystem::permissions(file_.parent_path(), std::filesystem::perms(0700), error);
  }
  // The lock would stay behind beside a folder or a device such as /dev/null.
  struct stat status{};
  if (::lstat(file_.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) refuse("is not a regular file");
  lock();
  open();
  read();
}

void journal::fail(const char* problem, int error, const char* meaning) const {
  throw journal_error(
      fmt::format("the journal {} {}: {}; {}", file_.string(), problem, std::strerror(error), meaning));
}

void journal::fail(const char* problem, int error) const { fail(problem, error, meaning_of(use_)); }

void journal::refuse(const char* problem) const {
  throw journal_error(fmt::format("the journal {} {}; {}", file_.string(), problem, meaning_of(use_)));
}

/// Takes the lock. It is a separate file because shortening replaces the journal's file.
void journal::lock() {
  const std::string name = file_.string() + ".lock";
  lock_.reset(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  const int error = errno;
  if (!lock_ && use_ == journal_use::undoing) {
    lock_.reset(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    // If the file neither exists nor can be created, no process can be acting.
    if (!lock_ && errno == ENOENT) return;
  }
  if (!lock_) fail("cannot be locked", error);
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) == 0) return;
  if (errno != EWOULDBLOCK) fail("cannot be locked", errno);
  throw journal_error(
      fmt::format("another sukima host acts on this host and has the journal {}; wait until it has ended",
                  file_.string()));
}

bool journal::is_in_use() const {
  const descriptor lock(::open((file_.string() + ".lock").c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  return lock && ::flock(lock.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

void journal::open() {
  constexpr int careful = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  if (use_ == journal_use::looking) {
    out_.reset(::open(file_.c_str(), O_RDONLY | careful));
    unwritable_ = out_ ? EROFS : errno;
    if (unwritable_ == ENOENT) return;
  } else {
    out_.reset(::open(file_.c_str(), O_RDWR | O_APPEND | O_CREAT | careful, 0600));
    unwritable_ = out_ ? 0 : errno;
  }
  if (!out_ && use_ == journal_use::undoing) out_.reset(::open(file_.c_str(), O_RDONLY | careful));
  if (!out_) fail("cannot be opened", unwritable_);
  struct stat status{};
  if (::fstat(out_.get(), &status) != 0) fail("cannot be read", errno);
  // If another user could write the file, that user could decide which files this process writes, and what.
  const bool foreign = status.st_uid != ::geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  if (!S_ISREG(status.st_mode)) refuse("is not a regular file");
  if (foreign) refuse("is not a file that only this user can write");
  size_ = static_cast<std::uint64_t>(status.st_size);
  if (size_ > longest_journal) fail("is too long to be read", EFBIG);
}

void journal::read() {
  std::string text(size_, '\0');
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t count = ::pread(out_.get(), text.data() + at, text.size() - at, static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail("cannot be read", count < 0 ? errno : EIO);
    at += static_cast<std::size_t>(count);
  }
  // A line without an end was not on disk before its act, so that act was never done.
  const std::size_t whole = text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1;
  if (whole != text.size()) drop_torn_line(whole);
  std::size_t number = 0;
  for (std::size_t at = 0; at < whole;) {
    const std::size_t end = text.find('\n', at);
    std::string line = text.substr(at, end - at);
    ++number;
    if (!take(line)) damaged_.push_back({number, std::move(line)});
    at = end + 1;
  }
}

/// Truncates the file after its last complete line. If that fails, no line can be added after the incomplete
/// one.
void journal::drop_torn_line(std::size_t whole) {
  size_ = whole;
  if (unwritable_ != 0) return;
  if (::ftruncate(out_.get(), static_cast<off_t>(whole)) == 0 && ::fdatasync(out_.get()) == 0) return;
  unwritable_ = errno;
  if (use_ == journal_use::acting) fail("cannot be written", unwritable_);
}

/// Processes one line. \returns whether it was understood
bool journal::take(const std::string& line) {
  const json one = json::parse(line, nullptr, false);
  const auto text = [&](const char* name) {
    const auto found = one.find(name);
    return found != one.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  if (!one.is_object() || !one.contains("act") || !one["act"].is_number_unsigned()) return false;
  const auto number = one["act"].get<std::uint64_t>();
  if (number == 0 || number > largest_number) return false;
  const std::string step = text("step");
  last_number_ = std::max(last_number_, number);
  if (step == "begun") {
    const auto kind = kind_names.find(text("kind"));
    if (!kind || text("target").empty()) return false;
    entries_[number] = {{text("vm"), *kind, text("target"), text("before"), text("after")}, "begun"};
  } else if (step == "proved" || step == "failed") {
    if (const auto found = entries_.find(number); found != entries_.end()) found->second.last = step;
  } else if (step == "undone" || step == "left" || step == "gone" || step == "ended") {
    entries_.erase(number);
  } else {
    return false;
  }
  return true;
}

std::string journal::line_of(std::uint64_t number, const act& change) {
  const json line{{"act", number},
                  {"step", "begun"},
                  {"at", wall_seconds()},
                  {"vm", change.vm},
                  {"kind", name_of(change.kind)},
                  {"target", change.target},
                  {"before", change.before},
                  {"after", change.after}};
  return line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

/// Writes a line to disk; on an exception the line is not in the journal. \param meaning  the consequence of
/// a missing line, for the user
void journal::append(const std::string& line, const char* meaning) {
  if (unwritable_ != 0) fail("cannot be written", unwritable_, meaning);
  const ssize_t count = ::write(out_.get(), line.data(), line.size());
  const int error = count < 0 ? errno : ENOSPC;
  if (count == static_cast<ssize_t>(line.size()) && ::fdatasync(out_.get()) == 0) {
    size_ += line.size();
    return;
  }
  const int reason = count == static_cast<ssize_t>(line.size()) ? errno : error;
  // Remove the part that was written. If that fails, too, a line without an end counts for nothing.
  if (::ftruncate(out_.get(), static_cast<off_t>(size_)) != 0) unwritable_ = reason;
  fail("cannot be written", reason, meaning);
}

std::uint64_t journal::begin(const act& change) {
  if (size_ > size_to_shorten) shorten();
  if (last_number_ >= largest_number) fail("has run out of numbers", EOVERFLOW, nothing_is_done);
  const std::uint64_t number = last_number_ + 1;
  append(line_of(number, change), nothing_is_done);
  last_number_ = number;
  entries_[number] = {change, "begun"};
  SUKIMA_ASSERT_VALID(*this);
  return number;
}

void journal::note(std::uint64_t number, const char* outcome) {
  append(step_line(number, outcome), act_was_done);
  if (const auto found = entries_.find(number); found != entries_.end()) found->second.last = outcome;
  SUKIMA_ASSERT_VALID(*this);
}

void journal::close(std::uint64_t number, const char* outcome) {
  append(step_line(number, outcome), still_listed);
  entries_.erase(number);
  SUKIMA_ASSERT_VALID(*this);
}

const char* journal::violated_invariant() const {
  if (!entries_.empty() && entries_.rbegin()->first > last_number_) return "a new act gets a new number";
  for (const auto& [number, one] : entries_) {
    if (number == 0) return "acts are numbered from 1";
    if (one.change.target.empty()) return "an act has a target";
    if (one.last != "begun" && one.last != "proved" && one.last != "failed")
      return "an act in effect was begun, proved or failed last";
  }
  if (!std::ranges::is_sorted(damaged_, {}, &damaged_line::number)) return "lines are read in their order";
  struct stat status{};
  if (out_ && use_ != journal_use::looking && unwritable_ == 0 && ::fstat(out_.get(), &status) == 0 &&
      static_cast<std::uint64_t>(status.st_size) != size_)
    return "only whole lines of this process are added to the file";
  return nullptr;
}

/// Keeps only the lines of acts in effect, with the step that was noted last, and unreadable lines, which may
/// belong to such an act. The old journal remains valid until the new one is complete.
void journal::shorten() {
  const std::string fresh = file_.string() + ".new";
  std::string text;
  for (const damaged_line& one : damaged_) text += one.text + "\n";
  for (const auto& [number, one] : entries_) {
    text += line_of(number, one.change);
    if (one.last != "begun") text += step_line(number, one.last.c_str());
  }
  {
    const descriptor out(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!out) fail("cannot be shortened", errno);
    const ssize_t count = ::write(out.get(), text.data(), text.size());
    int error = count < 0 ? errno : count == static_cast<ssize_t>(text.size()) ? 0 : ENOSPC;
    if (error == 0 && ::fsync(out.get()) != 0) error = errno;
    if (error == 0 && ::rename(fresh.c_str(), file_.c_str()) != 0) error = errno;
    if (error != 0) {
      ::unlink(fresh.c_str());  // it would only use space on a full disk
      fail("cannot be shortened", error);
    }
  }
  const descriptor folder(::open(file_.has_parent_path() ? file_.parent_path().c_str() : ".",
                                 O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder) ::fsync(folder.get());
  open();
}

}  // namespace sukima::host
