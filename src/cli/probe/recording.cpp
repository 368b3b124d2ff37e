// SPDX-License-Identifier: Apache-2.0
// Records and replays; see recording.hpp.
#include "probe/recording.hpp"

#include <capacity/shared/file_watch.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <base/shared/read_text.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "shared/console.hpp"

namespace sukima::cli::probe {
namespace {

namespace fs = std::filesystem;

constexpr unsigned sample_count = 25;
constexpr std::chrono::milliseconds between_samples{100};
/// Times count from here, because 0 would mean now.
constexpr std::uint64_t first_time_ns = 1'000'000'000;
constexpr std::uintmax_t largest_file = 1 << 20;
constexpr const char* host_file = "/run/sukima/host";
constexpr const char* override_file = "sukima_cpus";

constexpr const char* explanation =
    R"(This folder is a recording of sukima probe --record. sukima probe --root FOLDER answers from it.

It holds the files behind the answer, for 25 samples in 2.4 seconds:
  proc/self      the process: its control groups, the mounts of control groups, the places of mounts that
                 hide some, its masks of CPUs and memory nodes, its name, nice value and scheduling
                 policy, and its threads' run times
  proc/NUMBER    threads of other programs that used CPU meanwhile: name, mask, nice value, run times
  proc, sys      the machine's CPUs, caches and NUMA domains, load and pressure; limits, weights and use of
                 the control groups on the way to the process's, and beside it, with their names
  sukima_cpus    the value of SUKIMA_CPUS, if it was set
  samples        what changed from sample to sample
Command lines, other variables, users and other mounts are not recorded.
)";

bool starts_with(const std::string& text, std::string_view start) { return text.starts_with(start); }
std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// Returns the lines for which `keep` returns true.
template <class predicate>
std::string filtered(const std::string& content, predicate keep) {
  std::istringstream lines(content);
  std::string kept;
  for (std::string line; std::getline(lines, line);)
    if (keep(line)) kept += line + "\n";
  return kept;
}

/// The line of mountinfo as it is stored; empty: it is left out. Of mounts that may hide control groups only
/// the place is kept.
std::string stored_mount(const std::string& line) {
  if (line.find(" - cgroup") != std::string::npos) return line + "\n";
  std::istringstream words(line);
  std::string number, parent, device, root, point;
  if (!(words >> number >> parent >> device >> root >> point)) return {};
  const bool may_hide = starts_with(point, "/sys/fs/cgroup/") || point == "/sys/fs" ||
                        (point == "/sys" && line.find(" - sysfs ") == std::string::npos);
  return may_hide ? fmt::format("{} {} {} / {} rw - other none rw\n", number, parent, device, point) : "";
}

std::string stored_mounts(const std::string& content) {
  std::istringstream lines(content);
  std::string stored;
  for (std::string line; std::getline(lines, line);) stored += stored_mount(line);
  return stored;
}

/// Of "4711 (name) R 1 2 ...", all numbers but the nice value and the policy become 0.
std::string without_private_fields(const std::string& stat) {
  enum { state_field = 3, nice_field = 19, policy_field = 41 };
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return stat.substr(0, stat.find(' '));
  std::istringstream fields(stat.substr(name_end + 1));
  std::string text = stat.substr(0, name_end + 1);
  std::string field;
  for (int number = state_field; number <= policy_field && fields >> field; ++number) {
    const bool kept = number == state_field || number == nice_field || number == policy_field;
    text += " " + (kept ? field : "0");
  }
  return text + "\n";
}

std::string without_private_parts(const std::string& path, const std::string& content) {
  const std::string name = name_of(path);
  if (name == "mountinfo") return stored_mounts(content);
  if (path == "/proc/stat") return content.substr(0, content.find('\n') + 1);
  if (!starts_with(path, "/proc/")) return content;
  if (name == "status") {
    return filtered(content, [](const std::string& line) {
      return starts_with(line, "Cpus_allowed_list:") || starts_with(line, "Mems_allowed_list:");
    });
  }
  return name == "stat" ? without_private_fields(content) : content;
}

/// Returns N of /proc/N/...; empty for other paths.
std::string process_of(const std::string& path) {
  if (!starts_with(path, "/proc/")) return {};
  const std::string number = path.substr(6, path.find('/', 6) - 6);
  const bool is_number =
      !number.empty() && std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; });
  return is_number ? number : std::string();
}

bool lists_processes(const std::string& path) {
  const std::string name = name_of(path);
  return name == "cgroup.procs" || name == "cgroup.threads" || name == "tasks";
}

// What to do if a file cannot be written, for the user.
constexpr const char* another_folder = "give --record a folder on another disk";
constexpr const char* another_temporary_folder = "set TMPDIR to a folder on another disk";

/// \throws std::runtime_error  its message ends with the advice
void write_file(const fs::path& path, const std::string& content, const char* advice) {
  std::error_code failed;
  fs::create_directories(path.parent_path(), failed);
  errno = failed.value();
  std::ofstream stream;
  if (!failed) stream.open(path, std::ios::binary);
  stream << content;
  if (failed || !stream.flush())
    throw std::runtime_error(fmt::format("cannot write '{}': {}; {}", path.string(),
                                         std::strerror(errno != 0 ? errno : EIO), advice));
}

std::string read_file(const fs::path& path) { return read_file_text(path).value_or(""); }

std::string sample_name(std::size_t index) { return fmt::format("{:04}", index + 1); }

/// Copies the regular files of a folder. It overwrites existing files in place, because other processes may
/// have them open.
void copy_files(const fs::path& from, const fs::path& to, const fs::path& left_out = {}) {
  if (!fs::is_directory(from)) return;
  for (auto entry = fs::recursive_directory_iterator(from); entry != fs::recursive_directory_iterator();
       ++entry) {
    if (entry->path() == left_out) {
      entry.disable_recursion_pending();
    } else if (entry->is_directory() && !entry->is_symlink()) {
      std::error_code reported_by_the_files_below;
      fs::create_directories(to / entry->path().lexically_relative(from), reported_by_the_files_below);
    } else if (entry->is_regular_file() && !entry->is_symlink() && entry->file_size() <= largest_file) {
      write_file(to / entry->path().lexically_relative(from), read_file(entry->path()),
                 another_temporary_folder);
    }
  }
}

}  // namespace

void recorded_samples::add(const std::string& path, const std::string& content) {
  if (samples_.empty() || !(starts_with(path, "/proc/") || starts_with(path, "/sys/"))) return;
  const std::string kept = without_private_parts(path, content);
  const auto before = latest_.find(path);
  if (before != latest_.end() && before->second == kept) return;
  latest_[path] = kept;
  samples_.back().changed[path] = kept;
}

void recorded_samples::add_name(const std::string& path) {
  if (!latest_.contains(path)) add(path, {});
}

void recorded_samples::remove_idle_processes() {
  std::set<std::string> active;
  std::set<std::string> seen;
  for (const sample& one : samples_) {
    for (const auto& [path, content] : one.changed) {
      const std::string number = process_of(path);
      if (name_of(path) == "schedstat" && !number.empty() && !seen.insert(number).second)
        active.insert(number);
      if (starts_with(path, "/proc/self/task/")) active.insert(path.substr(16, path.find('/', 16) - 16));
      if (path == "/proc/self/stat") active.insert(content.substr(0, content.find(' ')));
    }
  }
  for (sample& one : samples_) {
    std::erase_if(one.changed, [&](const auto& file) {
      const std::string number = process_of(file.first);
      return !number.empty() && !active.contains(number);
    });
    for (auto& [path, content] : one.changed)
      if (lists_processes(path))
        content = filtered(content, [&](const std::string& line) { return active.contains(line); });
  }
}

/// Receives the file contents that the capacity library reads.
struct recording::watching {
  recorded_samples& samples;
  std::string own_folder;  ///< of the observed process, "/proc/4711/"
  std::map<int, std::string> paths{};
  std::map<int, std::string> contents{};
  cap_file_watcher watcher{this, opened, was_read, exists};

  watching(recorded_samples& to, pid_t process)
      : samples(to), own_folder(process == 0 ? std::string() : fmt::format("/proc/{}/", process)) {
    cap_file_watch(&watcher);
  }
  ~watching() { cap_file_watch(nullptr); }
  watching(const watching&) = delete;
  watching& operator=(const watching&) = delete;

  /// Returns the path under the root, where the observed process is /proc/self.
  std::string recorded_path(std::string path) const {
    if (starts_with(path, CAP_ROOT_OF_FILES)) path.erase(0, std::strlen(CAP_ROOT_OF_FILES));
    if (!own_folder.empty() && starts_with(path, own_folder))
      path.replace(0, own_folder.size(), "/proc/self/");
    return path;
  }
  static void opened(void* owner, const char* path, int descriptor) {
    auto* const self = static_cast<watching*>(owner);
    self->paths[descriptor] = self->recorded_path(path);
    self->contents[descriptor].clear();
  }
  static void was_read(void* owner, int descriptor, std::size_t offset, const char* bytes,
                       std::size_t length) {
    auto* const self = static_cast<watching*>(owner);
    std::string& content = self->contents[descriptor];
    content.resize(std::min(offset, content.size()));
    content.append(bytes, length);
    self->samples.add(self->paths[descriptor], content);
  }
  static void exists(void* owner, const char* path) {
    auto* const self = static_cast<watching*>(owner);
    std::error_code ignored;
    if (!fs::is_directory(path, ignored)) self->samples.add_name(self->recorded_path(path));
  }
};

recording::recording(const fs::path& folder, pid_t process) : folder_(folder), process_(process) {
  std::error_code error;
  const bool is_new = fs::create_directories(folder_, error);
  if (error)
    throw process::usage_error(fmt::format("the folder '{}' cannot be made: {}; give another one to --record",
                                           folder_.string(), error.message()));
  // Two recordings that begin at once would both find it empty. A file system without locks must do without.
  lock_.reset(open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock_ && flock(lock_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw process::usage_error(fmt::format(
        "another sukima probe records into the folder '{}': give --record a new one", folder_.string()));
  if (!fs::is_empty(folder_, error) || error)
    throw process::usage_error(
        fmt::format("the folder '{}' is not empty: give --record a new one", folder_.string()));
  if (is_new) cleanup_.emplace(folder_.string());
  samples_.begin(first_time_ns);
  watching_ = std::make_unique<watching>(samples_, process_);
}

recording::~recording() = default;

meter_place recording::place() const { return {.process = process_, .root = CAP_ROOT_OF_FILES}; }

void recording::measure(capacity_meter& meter) {
  const auto begin = std::chrono::steady_clock::now();
  for (unsigned i = 0; i < sample_count; ++i) {
    std::this_thread::sleep_until(begin + i * between_samples);
    const std::chrono::nanoseconds passed = std::chrono::steady_clock::now() - begin;
    if (i != 0) samples_.begin(first_time_ns + static_cast<std::uint64_t>(passed.count()));
    meter.sample_at(samples_.all().back().time_ns);
  }
}

void recording::store(const capacity_meter& meter) {
  watching_.reset();
  samples_.remove_idle_processes();
  // A part of a recording would pass for a plain copy of /proc and /sys.
  cleanup_.emplace(folder_.string(), process::directory_contents::tree);
  try {
    write_files(meter);
  } catch (...) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder_, ignored)) fs::remove_all(entry.path(), ignored);
    throw;
  }
  cleanup_.reset();
}

void recording::write_files(const capacity_meter& meter) const {
  const auto write = [](const fs::path& path, const std::string& content) {
    write_file(path, content, another_folder);
  };
  write(folder_ / "README", explanation);
  std::string times;
  for (std::size_t i = 0; i < samples_.all().size(); ++i) {
    const recorded_samples::sample& one = samples_.all()[i];
    times += fmt::format("{}\n", one.time_ns);
    const fs::path root = i == 0 ? folder_ : folder_ / "samples" / sample_name(i);
    for (const auto& [path, content] : one.changed) write(root / path.substr(1), content);
  }
  write(folder_ / "samples" / "times", times);
  if (const double cpus = meter.load().host_cpus; std::isfinite(cpus))
    write(folder_ / std::string(host_file).substr(1),
          fmt::format("sukima-host 1\nusable {:.6f}\nvalid 86400\nend\n", cpus));
  const char* const user = std::getenv("SUKIMA_CPUS");
  if (user != nullptr && *user != '\0') write(folder_ / override_file, user);
}

recorded_tree::recorded_tree(const fs::path& folder) : folder_(fs::absolute(folder).lexically_normal()) {
  std::error_code ignored;
  if (!fs::is_directory(folder_ / "proc", ignored))
    throw process::usage_error(
        fmt::format("'{}' holds no recorded tree: give a folder with copies of proc and sys, such as one "
                    "of sukima probe --record",
                    folder.string()));
  const fs::path list = folder_ / "samples" / "times";
  if (!fs::exists(list, ignored)) return;
  const std::string text = read_file(list);
  times_.resize(cap_most_samples);
  times_.resize(cap_parse_sample_times(text.data(), text.size(), times_.data()));
  if (times_.empty())
    throw process::usage_error(
        fmt::format("'{}' does not hold the times of samples: the recording is damaged", list.string()));
  moving_.emplace("root");
  cleanup_.emplace(moving_->path(), process::directory_contents::tree);
  copy_files(folder_, moving_->path(), folder_ / "samples");
}

meter_place recorded_tree::place(pid_t process) const {
  std::error_code ignored;
  if (process != 0 && !fs::is_directory(folder_ / "proc" / std::to_string(process), ignored))
    throw process::usage_error(fmt::format(
        "'{}' holds no process {}: give the number of one, or leave out --pid for the process that "
        "was recorded",
        folder_.string(), process));
  const fs::path given = folder_ / override_file;
  std::string user = fs::exists(given, ignored) ? read_file(given) : std::string();
  return {.process = process,
          .root = moving_ ? moving_->path() : folder_.string(),
          .is_recorded = true,
          .override_text = std::move(user)};
}

void recorded_tree::apply(std::size_t sample) const {
  if (moving_) copy_files(folder_ / "samples" / sample_name(sample), moving_->path());
}

void recorded_tree::replay(capacity_meter& meter) const {
  if (times_.empty()) return meter.sample_at(first_time_ns);
  for (std::size_t i = 0; i < times_.size(); ++i) {
    if (i != 0) apply(i);
    meter.sample_at(times_[i]);
  }
}

}  // namespace sukima::cli::probe
