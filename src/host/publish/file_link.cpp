// SPDX-License-Identifier: Apache-2.0
// Publishes through a file.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <base/shared/descriptor.hpp>

#include <cerrno>
#include <cstring>

#include "shared/publish.hpp"

namespace sukima::host {
namespace {

/// Opens a folder without following symbolic links anywhere in its path, because a container that owns a
/// folder of the path could redirect it. openat2 does the same in one call, but older kernels and sandboxes
/// refuse it.
/// \returns an invalid descriptor, with errno set (ELOOP: a symbolic link), if that fails
descriptor open_folder(const std::filesystem::path& folder) {
  descriptor at(::open(folder.is_absolute() ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (const std::filesystem::path& part : folder.relative_path()) {
    if (!at) break;
    if (part.empty()) continue;
    descriptor next(::openat(at.get(), part.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat status{};
    int error = next ? 0 : errno;
    if (error == 0 && ::fstat(next.get(), &status) != 0) error = errno;
    if (error == 0 && !S_ISDIR(status.st_mode)) error = S_ISLNK(status.st_mode) ? ELOOP : ENOTDIR;
    at = std::move(next);
    if (error == 0) continue;
    at.reset();
    errno = error;
  }
  return at;
}

class file_link final : public guest_link {
 public:
  explicit file_link(std::filesystem::path file) : file_(std::move(file)) {}

  void step(double now) override {
    const auto text = due(now);
    if (!text) return;
    if (const int error = replace(*text); error != 0) {
      trouble_ =
          "its file " + file_.string() + " cannot be written: " +
          (error == ELOOP ? "its path leads through a symbolic link, which a guest might have made; give the "
                            "path without links"
                          : std::strerror(error));
      not_sent();
    } else {
      trouble_.clear();
    }
  }

  std::optional<std::string> complaint(double now) override {
    if (trouble_.empty() || (reported_at_ && now - *reported_at_ < 60)) return std::nullopt;
    reported_at_ = now;
    return trouble_;
  }

 private:
  /// \returns 0, or an errno
  int replace(const std::string& text) const {
    const std::string name = file_.filename().string(), fresh = "." + name + ".new";
    const descriptor in = open_folder(file_.parent_path());
    if (!in) return errno;
    // A container may own the folder, so do not follow links in it and do not write to existing files.
    ::unlinkat(in.get(), fresh.c_str(), 0);
    const descriptor out(
        ::openat(in.get(), fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
    if (!out) return errno;
    ::fchmod(out.get(), 0644);  // independent of the umask: every program of the guest may read it
    const ssize_t written = ::write(out.get(), text.data(), text.size());
    if (written != static_cast<ssize_t>(text.size())) {
      const int error = written < 0 ? errno : ENOSPC;
      ::unlinkat(in.get(), fresh.c_str(), 0);
      return error;
    }
    if (::renameat(in.get(), fresh.c_str(), in.get(), name.c_str()) == 0) return 0;
    const int error = errno;
    ::unlinkat(in.get(), fresh.c_str(), 0);
    return error;
  }

  std::filesystem::path file_;
  std::string trouble_;
  std::optional<double> reported_at_;
};

}  // namespace

std::unique_ptr<guest_link> make_file_link(std::filesystem::path file) {
  return std::make_unique<file_link>(std::move(file));
}

}  // namespace sukima::host
