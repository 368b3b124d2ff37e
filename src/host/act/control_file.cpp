// SPDX-License-Identifier: Apache-2.0
// Sets a control group's cap or weight through its file.
#include <cctype>
#include <cerrno>

#include "shared/act.hpp"
#include "shared/files.hpp"

namespace sukima::host {
namespace {

class control_file final : public actuator {
 public:
  explicit control_file(std::filesystem::path file) : file_(std::move(file)) {}

  std::string target() const override { return file_.string(); }

  feasibility can(const std::string& value) const override {
    if (!present()) return {false, file_.string() + " cannot be read"};
    for (const char c : value)
      if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != ' ' && c != '-')
        return {false, "'" + value + "' is not a value for " + file_.string()};
    if (value.empty()) return {false, "there is no value for " + file_.string()};
    return {true, {}};
  }

  std::optional<std::string> present() const override { return read_small_file(file_); }

  int apply(const std::string& value, double /*now*/) override {
    return write_control_file(file_, value + "\n");
  }

  /// The file shows the value that the kernel accepted.
  proof verify(const std::string& value, double /*now*/) override {
    return present() == value ? proof::proved : proof::failed;
  }

 private:
  std::filesystem::path file_;
};

}  // namespace

std::unique_ptr<actuator> make_control_file(std::filesystem::path file) {
  return std::make_unique<control_file>(std::move(file));
}

}  // namespace sukima::host
