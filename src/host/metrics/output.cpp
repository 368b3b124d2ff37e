// SPDX-License-Identifier: Apache-2.0
// The places where metrics are published: a port or a file.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <base/shared/descriptor.hpp>
#include <base/shared/parse_number.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <utility>

#include "metrics/server.hpp"
#include "shared/files.hpp"
#include "shared/metrics.hpp"

namespace sukima::host {
namespace {

/// A file for the textfile collector of node_exporter, which reads *.prom. The destructor removes the file:
/// otherwise the numbers of a process that has ended would look current.
class metrics_file final : public metrics_output {
 public:
  explicit metrics_file(std::string path) : path_(std::move(path)) {}
  ~metrics_file() override {
    if (is_written_) ::unlink(path_.c_str());
  }

  std::optional<std::string> publish(const std::string& text) override {
    const int error = replace_file(path_, text, 0644);
    if (error == 0) is_written_ = true;
    if (std::exchange(error_, error) == error || error == 0) return std::nullopt;
    return fmt::format("the metrics cannot be written to '{}': {}", path_, std::strerror(error));
  }

  std::string place() const override { return path_; }

 private:
  std::string path_;
  bool is_written_ = false;
  int error_ = 0;  ///< errno of the latest publication
};

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// Refuses a file that each publication would replace, and the end remove, although it is something else: a
/// device such as /dev/null, a link, or a file of another program.
/// \throws metrics_error
void refuse_foreign_file(const std::string& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0 || S_ISDIR(status.st_mode))
    return;  // publishing reports the folder
  if (!S_ISREG(status.st_mode))
    throw metrics_error(
        fmt::format("'{}' is not a regular file, so metrics must not replace it; choose another file", path));
  constexpr std::string_view begin = "# HELP sukima_";
  std::array<char, begin.size()> head{};
  const descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  const ssize_t count = file ? ::read(file.get(), head.data(), head.size()) : -1;
  // A process that was killed before its first publication left an empty file.
  if (count == 0 || (count == std::ssize(head) && std::ranges::equal(head, begin))) return;
  throw metrics_error(fmt::format(
      "'{}' does not hold metrics of sukima, so it was not replaced; choose another file, or remove it",
      path));
}

/// Refuses an address without a port, and a URL. They would become names of folders and files.
/// \throws metrics_error
void refuse_address_as_file(const std::string& where) {
  const std::string first = where.substr(0, where.find('/'));
  const std::size_t colon = first.rfind(':');
  if (colon == std::string::npos) return;
  const std::string host = first.substr(0, colon);
  const bool is_address = host == "localhost" || host.starts_with('[') ||
                          (!host.empty() && host.find_first_not_of("0123456789.") == std::string::npos);
  const bool is_url =
      (host == "http" || host == "https" || is_number(first.substr(colon + 1))) && first != where;
  if (is_address || is_url)
    throw metrics_error(
        fmt::format("'{}' is neither an address with a port nor a file; give a port, such as 9105, or "
                    "ADDRESS:PORT, or write "
                    "./ before the name of a file",
                    where));
}

[[noreturn]] void refuse_port(const std::string& text) {
  throw metrics_error(fmt::format("'{}' is not a port: choose one from 0 to 65535", text));
}

}  // namespace

std::unique_ptr<metrics_output> open_metrics(const std::string& where) {
  const std::size_t colon = where.find('/') == std::string::npos ? where.rfind(':') : std::string::npos;
  const std::string last = colon == std::string::npos ? where : where.substr(colon + 1);
  // A user can name a file called "-1" as ./-1.
  if (last.starts_with('-') && is_number(last.substr(1))) refuse_port(last);
  if (!is_number(last)) {
    refuse_address_as_file(where);
    refuse_foreign_file(where);
    auto file = std::make_unique<metrics_file>(where);
    if (const auto failed = file->publish("")) throw metrics_error(*failed + "; choose another file");
    return file;
  }
  const auto port = parse_number<std::uint16_t>(last);
  if (!port) refuse_port(last);
  std::string address = colon == std::string::npos ? "127.0.0.1" : where.substr(0, colon);
  if (address.starts_with('[') && address.ends_with(']')) address = address.substr(1, address.size() - 2);
  return serve_metrics(address == "localhost" ? "127.0.0.1" : address, *port);
}

}  // namespace sukima::host
