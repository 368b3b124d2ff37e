// SPDX-License-Identifier: Apache-2.0
// Virtual machines as environments; see environment.hpp.
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <list>
#include <memory>
#include <system_error>

#include <base/shared/child.hpp>
#include <base/shared/executable.hpp>
#include <base/shared/interruption.hpp>
#include <base/shared/temporary_directory.hpp>
#include "shared/environment.hpp"
#include "shared/guest.hpp"

namespace sukima::lab {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

/// Sixteen emulated machines on two CPUs need half a minute.
constexpr auto patience_with_guests = 180s;
/// A guest under a working KVM is up in two seconds, and under a broken one never.
constexpr auto patience_with_kvm = 8s;
constexpr auto patience_with_script = 600s;
/// The stored part of a program's output, as for a program without a guest.
constexpr std::size_t most_output = std::size_t{1} << 20;
constexpr int most_lines_at_once = 1000;

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

/// The shell's command of a job; its program is in the guest's /bin.
std::string command_of(const job& job) {
  std::string text = "env LC_ALL=C";
  for (const auto& [name, value] : job.variables)
    text.append(" ").append(quoted(fmt::format("{}={}", name, value)));
  text += " /bin/" + quoted(std::filesystem::path(job.arguments.front()).filename().string());
  for (std::size_t i = 1; i < job.arguments.size(); ++i) text.append(" ").append(quoted(job.arguments[i]));
  return text;
}

class guest_stage : public stage {
 public:
  guest_stage(const environment& where, unsigned vcpus, const std::string& accelerator,
              const std::filesystem::path& image) {
    for (unsigned i = 0; i < where.copies; ++i) {
      guest_plan plan;
      plan.image = image;
      plan.name = fmt::format("vm{}", i + 1);
      plan.vcpus = vcpus;
      plan.memory_mib = where.memory_mib;
      plan.accelerator = accelerator;
      guests_.emplace_back(plan, folder_.path());
    }
    const auto end = clock::now() + patience_with_guests;
    for (guest& one : guests_)
      one.wait_until_up(
          std::max(1ms, std::chrono::duration_cast<std::chrono::milliseconds>(end - clock::now())));
  }

  std::vector<copy_end> run(const job& job, std::chrono::nanoseconds limit) override {
    const std::string command = command_of(job);
    const auto start = clock::now();
    for (guest& one : guests_) one.run(command);
    std::vector<copy_end> ends(guests_.size());
    std::vector<char> ended(guests_.size(), 0);
    for (std::size_t left = guests_.size(); left > 0;) {
      std::size_t number = 0;
      for (guest& one : guests_) {
        if (ended[number] == 0 && listen(one, ends[number], start)) {
          ended[number] = 1;
          --left;
        }
        ++number;
      }
      if (clock::now() - start < limit) continue;
      for (std::size_t i = 0; i < ends.size(); ++i) ends[i].stopped = ended[i] == 0;
      usable_ = left == 0;
      break;
    }
    return ends;
  }
  bool usable() const override { return usable_; }

 private:
  /// Reads some lines of a guest's output. A guest that prints without pause must not starve the others and
  /// the clock. \returns whether its program has ended
  static bool listen(guest& one, copy_end& into, clock::time_point start) {
    for (int lines = 0; lines < most_lines_at_once; ++lines) {
      const auto answer = one.read(lines == 0 ? 10ms : 0ms);
      if (!answer) return false;
      if (!answer->ended) {
        into.output += answer->line + "\n";
        // The result is in the last lines.
        if (into.output.size() > most_output) into.output.erase(0, into.output.size() - most_output / 2);
        continue;
      }
      into.seconds = std::chrono::duration<double>(clock::now() - start).count();
      if (answer->exit_code != 0)
        into.failure =
            fmt::format("ended with exit code {}: {}", answer->exit_code, into.output.substr(0, 500));
      return true;
    }
    return false;
  }

  process::temporary_directory folder_{"lab"};
  process::removed_on_signal cleanup_{folder_.path(), process::directory_contents::files};
  std::list<guest> guests_;
  bool usable_ = true;
};

/// The system of this run's guests. Other runs may make systems with other programs at the same time.
class own_image {
 public:
  std::filesystem::path folder() const { return folder_.path(); }

 private:
  process::temporary_directory folder_{"lab-image"};
  process::removed_on_signal cleanup_{folder_.path(), process::directory_contents::files};
};

/// Runs build-image.sh. \throws obstacle; std::system_error if the disk is full
void build_image(const environment_settings& settings, const own_image& into) {
  process::child_request request;
  request.arguments = {(settings.scripts / "build-image.sh").string(), "--cache", settings.cache.string(),
                       into.folder().string()};
  for (const std::filesystem::path& program : settings.programs)
    request.arguments.push_back(program.string());
  request.limit = patience_with_script;
  const process::child_result result = process::run_child(request);
  const std::string failure = process::describe_failure(result, patience_with_script);
  // A full disk is not an obstacle, because it can be cleared.
  if (!failure.empty() && result.errors.find("No space left on device") != std::string::npos)
    throw std::system_error(ENOSPC, std::generic_category(),
                            fmt::format("making the guests' system in '{}' and '{}'", settings.cache.string(),
                                        into.folder().string()));
  if (!failure.empty())
    throw obstacle(
        fmt::format("the guests' system cannot be made: build-image.sh {} ({})", failure, result.errors));
}

/// Whether KVM really runs a guest; the existence of /dev/kvm proves nothing.
/// \param memory_mib of the guests, because the programs in the image may need it
bool kvm_works(const std::filesystem::path& image, unsigned memory_mib) {
  if (access("/dev/kvm", R_OK | W_OK) != 0) return false;
  const process::temporary_directory folder("lab");
  const process::removed_on_signal cleanup(folder.path(), process::directory_contents::files);
  guest_plan plan;
  plan.image = image;
  plan.name = "trial";
  plan.memory_mib = memory_mib;
  plan.accelerator = "kvm";
  try {
    guest trial(plan, folder.path());
    trial.wait_until_up(patience_with_kvm);
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

/// \throws obstacle if QEMU does not print its version
std::string version_of_qemu(const std::string& emulator) {
  constexpr auto patience = 60s;
  process::child_request request;
  request.arguments = {emulator, "--version"};
  request.limit = patience;
  const process::child_result result = process::run_child(request);
  std::string failure = process::describe_failure(result, patience);
  if (failure.empty() && result.output.empty()) failure = "printed nothing";
  if (!failure.empty()) throw obstacle(fmt::format("{} --version {} ({})", emulator, failure, result.errors));
  return result.output.substr(0, std::min<std::size_t>(result.output.find('\n'), 200));
}

/// The name of the folder of the kernel's modules, unpacked by build-image.sh.
std::string version_of_kernel(const std::filesystem::path& cache) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(cache / "kernel" / "lib" / "modules", ignored))
    return entry.path().filename().string();
  return {};
}

}  // namespace

std::unique_ptr<stage> make_guest_stage(const environment& where, unsigned vcpus,
                                        const std::string& accelerator, const std::filesystem::path& image) {
  return std::make_unique<guest_stage>(where, vcpus, accelerator, image);
}

stage_maker environments_of_this_machine(
    environment_settings settings,
    std::function<void(const std::string& accelerator, const std::map<std::string, std::string>& versions)>
        on_facts) {
  return
      [settings = std::move(settings), on_facts = std::move(on_facts), image = std::shared_ptr<own_image>(),
       accelerator = std::string()](const environment& where) mutable -> std::unique_ptr<stage> {
        switch (where.kind) {
          case environment_kind::machine:
            return make_machine_stage(0);
          case environment_kind::fewer:
            return make_machine_stage(remaining_cpus(where, settings.cpus));
          case environment_kind::cap:
          case environment_kind::share:
            return make_group_stage(where, settings.cpus);
          case environment_kind::vms:
            break;
        }
        if (accelerator.empty()) {
          const auto emulator = process::find_program("qemu-system-x86_64", std::getenv("PATH"));
          if (!emulator)
            throw obstacle(
                "there is no qemu-system-x86_64 here: apt-get install qemu-system-x86 busybox-static cpio");
          std::map<std::string, std::string> versions = {{"QEMU", version_of_qemu(emulator->string())}};
          image = std::make_shared<own_image>();
          build_image(settings, *image);
          accelerator = kvm_works(image->folder(), where.memory_mib) ? "kvm" : "tcg";
          if (std::string kernel = version_of_kernel(settings.cache); !kernel.empty())
            versions["kernel of the guests"] = std::move(kernel);
          if (on_facts) on_facts(accelerator, versions);
        }
        return make_guest_stage(where, visible_cpus(where, settings.cpus), accelerator, image->folder());
      };
}

}  // namespace sukima::lab
