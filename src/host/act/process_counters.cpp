// SPDX-License-Identifier: Apache-2.0
// Counters of a virtual machine whose vCPUs are threads of a process.
#include <fmt/format.h>
#include <unistd.h>
#include <base/shared/assert.hpp>
#include <base/shared/parse_number.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "shared/files.hpp"
#include "shared/steering.hpp"

namespace sukima::host {
namespace {

/// Finds the vCPU threads of a QEMU with debug-threads=on, by the numbers of their vCPUs.
std::map<unsigned, pid_t> find_threads(const std::filesystem::path& process) {
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
  return found;
}

/// The thread of each vCPU; none: the vCPU is not plugged in.
using placed_threads = std::vector<std::optional<pid_t>>;

/// Places each thread at its vCPU's number, because any vCPU may be unplugged, not only the last one. If QEMU
/// uses higher numbers, it places the threads in the order of their numbers.
/// \pre found.size() <= vcpus
placed_threads placed(const std::map<unsigned, pid_t>& found, std::size_t vcpus) {
  SUKIMA_ASSERT(found.size() <= vcpus, "each thread has a place");
  placed_threads places(vcpus);
  const bool by_number = found.empty() || found.rbegin()->first < vcpus;
  std::size_t next = 0;
  for (const auto& [number, thread] : found) places[by_number ? number : next++] = thread;
  return places;
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
  process_counters(std::filesystem::path process, std::filesystem::path proc, placed_threads threads,
                   unsigned long long start)
      : process_(std::move(process)),
        proc_(std::move(proc)),
        threads_(threads.size()),
        files_(threads.size()),
        last_(threads.size(), {.there = false}),
        there_(static_cast<std::size_t>(
            std::ranges::count_if(threads, [](const std::optional<pid_t>& one) { return one.has_value(); }))),
        start_(start) {
    set_threads(std::move(threads));
  }

  std::optional<vm_times> read() override {
    if (start_of(process_) != start_) return std::nullopt;
    vm_times times;
    if (there_ < threads_.size()) look_for_more();
    there_ = 0;
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      const auto numbers =
          threads_[i] ? numbers_in<2>(read_small_file(files_[i]).value_or("")) : std::nullopt;
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
    const auto uptime = numbers_in<1>(read_small_file(proc_ / "uptime").value_or(""));
    times.up = (uptime ? (*uptime)[0] : 0) -
               static_cast<double>(start_) / static_cast<double>(::sysconf(_SC_CLK_TCK));
    return times;
  }

 private:
  /// Looks for the threads of virtual CPUs that were plugged in.
  void look_for_more() {
    const auto now = find_threads(process_);
    if (now.size() <= there_ || now.size() > threads_.size()) return;
    set_threads(placed(now, threads_.size()));
  }

  void set_threads(placed_threads now) {
    for (std::size_t i = 0; i < now.size(); ++i)
      if (now[i] && now[i] != threads_[i])
        files_[i] = process_ / "task" / std::to_string(*now[i]) / "schedstat";
    threads_ = std::move(now);
  }

  std::filesystem::path process_, proc_;
  placed_threads threads_;  ///< of the vCPUs that exist, and of the places for more
  std::vector<std::filesystem::path> files_;  ///< the counter file of each thread
  std::vector<vcpu_time> last_;  ///< the counters of each thread; of an ended thread, its last ones
  std::size_t there_;  ///< how many of these threads existed at the last reading
  unsigned long long start_;
};

}  // namespace

std::unique_ptr<vm_counters> make_process_counters(pid_t process, std::vector<pid_t> threads,
                                                   std::size_t vcpus, std::size_t places,
                                                   const std::filesystem::path& proc) {
  const std::filesystem::path folder = proc / std::to_string(process);
  const auto start = start_of(folder);
  if (!start) throw description_error(fmt::format("pid: there is no process {}", process));
  const auto found = threads.empty() ? find_threads(folder) : std::map<unsigned, pid_t>();
  const std::size_t count = std::max(threads.size(), found.size());
  if (count > vcpus || count + places < vcpus)
    throw description_error(
        fmt::format("pid: {} of {} vCPUs are threads 'CPU N/…' of the process {}; start "
                    "QEMU with -name NAME,debug-threads=on, or give each vCPU its 'thread'",
                    count, vcpus - places, process));
  placed_threads places_of_all = placed(found, vcpus);
  std::ranges::copy(threads, places_of_all.begin());
  auto made = std::make_unique<process_counters>(folder, proc, std::move(places_of_all), *start);
  const auto first = made->read();
  if (!first ||
      std::ranges::count(first->vcpus, true, &vcpu_time::there) < static_cast<std::ptrdiff_t>(count))
    throw description_error(fmt::format("pid: the counters of {} cannot be read", process));
  return made;
}

}  // namespace sukima::host
