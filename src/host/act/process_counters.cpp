// SPDX-License-Identifier: Apache-2.0
// Counters of a virtual machine whose vCPUs are threads of a process.
#include <fmt/format.h>
#include <unistd.h>
#include <base/shared/parse_number.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "shared/files.hpp"
#include "shared/steering.hpp"

namespace sukima::host {
namespace {

/// Finds the vCPU threads of a QEMU with debug-threads=on. \returns them in the order of their vCPUs' numbers
std::vector<pid_t> find_threads(const std::filesystem::path& process) {
  std::map<unsigned, pid_t> found;
  std::error_code error;
  for (const auto& one : std::filesystem::directory_iterator(process / "task", error)) {
    const std::string name = read_small_file(one.path() / "comm").value_or("");
    const auto thread = parse_number<unsigned>(one.path().filename().string());
    const std::size_t slash = name.find('/');
    if (!thread || !name.starts_with("CPU ") || slash == std::string::npos) continue;
    if (const auto number = parse_number<unsigned>(std::string_view(name).substr(4, slash - 4)))
      found[*number] = static_cast<pid_t>(*thread);
  }
  std::vector<pid_t> threads;
  for (const auto& [number, thread] : found) threads.push_back(thread);
  return threads;
}

/// Parses the first numbers of a text, separated by blanks; nothing if the text begins with fewer.
template <std::size_t count>
std::optional<std::array<double, count>> numbers_in(std::string_view text) {
  std::array<double, count> numbers{};
  for (double& one : numbers) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), one);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  }
  return numbers;
}

/// The time at which the process started, in clock ticks since the machine started. It differs for another
/// process that gets the same number.
std::optional<unsigned long long> start_of(const std::filesystem::path& process) {
  const auto text = read_small_file(process / "stat");
  if (!text) return std::nullopt;
  const std::size_t name_end = text->rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::size_t at = name_end + 1;
  for (int field = 3; field < 22 && at != std::string::npos; ++field) at = text->find(' ', at + 1);
  if (at == std::string::npos) return std::nullopt;
  unsigned long long ticks = 0;
  const char* const end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data() + at + 1, end, ticks);
  return error == std::errc() && stop != text->data() + at + 1 ? std::optional(ticks) : std::nullopt;
}

class process_counters final : public vm_counters {
 public:
  process_counters(std::filesystem::path process, std::filesystem::path proc, std::vector<pid_t> threads,
                   std::size_t vcpus, unsigned long long start)
      : process_(std::move(process)),
        proc_(std::move(proc)),
        threads_(std::move(threads)),
        there_(threads_.size()),
        vcpus_(vcpus),
        start_(start) {}

  std::optional<vm_times> read() override {
    if (start_of(process_) != start_) return std::nullopt;
    vm_times times;
    if (there_ < vcpus_) look_for_more();
    last_.resize(threads_.size());
    for (std::size_t i = files_.size(); i < threads_.size(); ++i)
      files_.push_back(process_ / "task" / std::to_string(threads_[i]) / "schedstat");
    there_ = 0;
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      const auto numbers = numbers_in<2>(read_small_file(files_[i]).value_or(""));
      // A missing thread means that the vCPU was unplugged: its last counters stay, and the machine
      // continues.
      last_[i].there = numbers.has_value();
      if (!numbers) continue;
      last_[i].ran = (*numbers)[0] * 1e-9;
      last_[i].waited = (*numbers)[1] * 1e-9;
      ++there_;
    }
    if (there_ == 0) return std::nullopt;
    times.vcpus = last_;
    times.vcpus.resize(vcpus_, {.there = false});
    const auto uptime = numbers_in<1>(read_small_file(proc_ / "uptime").value_or(""));
    times.up = (uptime ? (*uptime)[0] : 0) -
               static_cast<double>(start_) / static_cast<double>(::sysconf(_SC_CLK_TCK));
    return times;
  }

 private:
  /// Looks for the threads of virtual CPUs that were plugged in.
  void look_for_more() {
    auto now = find_threads(process_);
    if (now.size() <= there_ || now.size() > vcpus_) return;
    threads_ = std::move(now);
    files_.clear();
  }

  std::filesystem::path process_, proc_;
  std::vector<pid_t> threads_;
  std::vector<std::filesystem::path> files_;  ///< the counter files of these threads
  std::size_t there_;  ///< how many of these threads existed at the last reading
  std::vector<vcpu_time> last_;  ///< the counters of these threads; of an ended thread, its last ones
  std::size_t vcpus_;  ///< the vCPUs that exist, and the places for more
  unsigned long long start_;
};

}  // namespace

std::unique_ptr<vm_counters> make_process_counters(pid_t process, std::vector<pid_t> threads,
                                                   std::size_t vcpus, std::size_t places,
                                                   const std::filesystem::path& proc) {
  const std::filesystem::path folder = proc / std::to_string(process);
  const auto start = start_of(folder);
  if (!start) throw description_error(fmt::format("pid: there is no process {}", process));
  if (threads.empty()) threads = find_threads(folder);
  if (threads.size() > vcpus || threads.size() + places < vcpus)
    throw description_error(
        fmt::format("pid: {} of {} vCPUs are threads 'CPU N/…' of the process {}; start "
                    "QEMU with -name NAME,debug-threads=on, or give each vCPU its 'thread'",
                    threads.size(), vcpus - places, process));
  const auto count = static_cast<std::ptrdiff_t>(threads.size());
  auto made = std::make_unique<process_counters>(folder, proc, std::move(threads), vcpus, *start);
  const auto first = made->read();
  if (!first || std::ranges::count(first->vcpus, true, &vcpu_time::there) < count)
    throw description_error(fmt::format("pid: the counters of {} cannot be read", process));
  return made;
}

}  // namespace sukima::host
