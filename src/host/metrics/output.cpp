// SPDX-License-Identifier: Apache-2.0
// The places where metrics are published: a port or a file.
#include <fmt/format.h>
#include <unistd.h>
#include <base/shared/parse_number.hpp>

#include <algorithm>
#include <cstring>
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
