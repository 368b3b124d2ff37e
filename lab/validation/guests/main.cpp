// SPDX-License-Identifier: Apache-2.0
// The program sukima-guests: starts virtual machines that compete for this machine, and compares their
// estimates with the CPU that they got.
#include <fmt/format.h>
#include <sys/wait.h>
#include <base/shared/clock.hpp>
#include <base/shared/errors.hpp>
#include <base/shared/interruption.hpp>
#include <base/shared/temporary_directory.hpp>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <list>
#include <string>
#include <thread>
#include <vector>

#include "guests/comparison.hpp"
#include "guests/places.hpp"
#include "guests/xen.hpp"
#include "shared/guest.hpp"

namespace {

using namespace sukima::guests;
using sukima::lab::guest, sukima::lab::guest_plan, sukima::lab::vcpu_time;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr int exit_missed = 1;
constexpr int exit_usage = 2;
constexpr int exit_skipped = 77;
/// The first samples of a guest see a machine that is still starting.
constexpr double settling_seconds = 8;
constexpr auto patience = 60s;

struct request {
  std::string image;
  std::string accelerator = "tcg";
  unsigned guests = 2;
  unsigned vcpus = 2;
  unsigned threads = 0;
  double seconds = 6;
  double tolerance = 25;
  bool json = false;
  bool xen = false;
};

/// Xen boots in 10 s, and then starts its guests one after the other, each in several seconds.
constexpr auto patience_with_xen = 300s;

/// The folder of the image, which is kept: fetching the kernel takes longer than everything else.
fs::path image_folder(const request& request, const char* kind) {
  if (!request.image.empty()) return request.image;
  if (const char* const cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0')
    return fs::path(cache) / "sukima" / kind;
  if (const char* const home = std::getenv("HOME"); home != nullptr && *home != '\0')
    return fs::path(home) / ".cache" / "sukima" / kind;
  return fs::path(sukima::process::place_of_temporary_files()) / "sukima" / kind;
}

/// Builds an image by a script.
/// \returns 0; 77 after a message about something that this machine lacks; or another code
/// \param settings of the environment, in the shell's syntax
int build_image(const std::string& settings, const char* script, const fs::path& folder) {
  const std::string command =
      fmt::format("{} '{}' '{}' '{}'", settings, script, folder.string(), agent_program);
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : exit_missed;
}

/// Prints the results. \returns the exit code
int report(const std::vector<comparison>& results, const request& request, const std::string& hypervisor) {
  const bool missed =
      results.size() != request.guests || std::ranges::any_of(results, [&](const comparison& one) {
        return one.error() * 100 > request.tolerance;
      });
  fmt::print("{}\n", request.json ? json_of(results, hypervisor) : table_of(results));
  if (results.size() != request.guests)
    fmt::print(stderr, "sukima-guests: only {} of {} guests answered\n", results.size(), request.guests);
  else if (missed)
    fmt::print(stderr, "sukima-guests: an estimate is off by more than {} %\n", request.tolerance);
  return missed ? exit_missed : 0;
}

/// Guests of Xen, started by the first domain.
int run_under_xen(const request& request) {
  const fs::path image = image_folder(request, "xen");
  const unsigned threads = request.threads != 0 ? request.threads : request.vcpus;
  // The agents run until the machine is switched off.
  const std::string settings = fmt::format(
      "XEN_GUESTS={} XEN_VCPUS={} XEN_COMMAND='sukima-guest-agent {} 100000' XEN_SETTLING={} XEN_SECONDS={}",
      request.guests, request.vcpus, threads, settling_seconds, request.seconds);
  if (const int code = build_image(settings, xen_image_script, image); code != 0) return code;
  const sukima::process::temporary_directory folder("guests");
  const sukima::process::removed_on_signal cleanup(folder.path(), sukima::process::directory_contents::files);
  return report(read_xen(run_xen(image, folder.path(), patience_with_xen), threads), request, "xen");
}

vcpu_time sum_of(guest& one) {
  vcpu_time sum;
  for (const vcpu_time& each : one.vcpu_times()) {
    sum.ran += each.ran;
    sum.waited += each.waited;
  }
  return sum;
}

/// A watched guest.
struct watched {
  guest machine;
  std::string name;
  std::vector<guest_sample> samples;
  vcpu_time before{}, after{};

  watched(const guest_plan& plan, const fs::path& folder) : machine(plan, folder), name(plan.name) {}

  /// Reads the lines printed so far.
  void listen() {
    while (true) {
      std::optional<std::string> line;
      try {
        line = machine.read_line(0ms);
      } catch (const std::runtime_error&) {
        return;  // nothing yet
      }
      guest_sample found;
      if (line && parse_sample(*line, sukima::steady_seconds(), found)) samples.push_back(found);
      if (!line) return;
    }
  }
};

/// Guests of QEMU.
int run(const request& request) {
  const fs::path image = image_folder(request, "guest");
  if (const int code = build_image("", image_script, image); code != 0) return code;
  const unsigned threads = request.threads != 0 ? request.threads : request.vcpus;
  const sukima::process::temporary_directory folder("guests");
  const sukima::process::removed_on_signal cleanup(folder.path(), sukima::process::directory_contents::files);
  std::list<watched> all;
  for (unsigned i = 0; i < request.guests; ++i)
    all.emplace_back(
        guest_plan{image, fmt::format("guest{}", i + 1), request.vcpus, 0, 128, request.accelerator},
        folder.path());
  for (watched& one : all) one.machine.wait_until_up(patience);
  const double whole = settling_seconds + request.seconds + 2;
  for (watched& one : all) one.machine.run(fmt::format("sukima-guest-agent {} {} steal", threads, whole));
  std::this_thread::sleep_for(std::chrono::duration<double>(settling_seconds));
  const double from = sukima::steady_seconds();
  for (watched& one : all) one.before = sum_of(one.machine);
  while (sukima::steady_seconds() < from + request.seconds) {
    std::this_thread::sleep_for(50ms);
    for (watched& one : all) one.listen();
  }
  const double to = sukima::steady_seconds();
  for (watched& one : all) one.after = sum_of(one.machine);
  std::vector<comparison> results;
  for (const watched& one : all)
    results.push_back(compare(one.name, threads, one.samples, from, to,
                              (one.after.ran - one.before.ran) / (to - from),
                              (one.after.waited - one.before.waited) / (to - from)));
  return report(results, request, request.accelerator);
}

}  // namespace

int main(int count, char** arguments) {
  request request;
  CLI::App app(
      "Starts virtual machines on this machine and compares the CPU that they estimate with the CPU that "
      "they got");
  app.footer(R"(Examples:
  sukima-guests                        two guests of two virtual CPUs each
  sukima-guests --guests 4 --json      four of them
  sukima-guests --threads 1            with one busy thread in each
  sukima-guests --xen --tolerance 10   two guests of Xen

Exit codes: 0 success, 1 an estimate was off by more than --tolerance or a guest failed, 2 wrong request,
77 this machine lacks QEMU, busybox, cpio or the kernel's package.)");
  app.add_option("--guests", request.guests, "Number of virtual machines")
      ->check(CLI::Range(1U, 16U))
      ->capture_default_str();
  app.add_option("--vcpus", request.vcpus, "Virtual CPUs of each guest")
      ->check(CLI::Range(1U, 16U))
      ->capture_default_str();
  app.add_option("--threads", request.threads,
                 "Busy threads in each guest (default: one for each virtual CPU)")
      ->check(CLI::Range(1U, 64U));
  app.add_option("--seconds", request.seconds, "Length of the comparison")
      ->check(CLI::Range(1.0, 600.0))
      ->capture_default_str();
  app.add_option("--tolerance", request.tolerance, "Percent by which estimates may be off")
      ->check(CLI::Range(0.0, 1000.0))
      ->capture_default_str();
  app.add_option("--accelerator", request.accelerator, "How QEMU runs them")
      ->check(CLI::IsMember({"tcg", "kvm"}))
      ->capture_default_str();
  app.add_option("--image", request.image, "Folder of the image (default: in the user's cache)");
  app.add_flag("--xen", request.xen, "Run Xen in one emulated machine; it reports steal time to its guests");
  app.add_flag("--json", request.json, "Print one JSON object");
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? 0 : exit_usage;
  }
  if (std::isnan(request.seconds) || std::isnan(request.tolerance)) {  // CLI::Range accepts it
    fmt::print(stderr, "sukima-guests: --seconds and --tolerance must be numbers\n");
    return exit_usage;
  }
  if (std::system("command -v qemu-system-x86_64 >/dev/null") != 0) {
    fmt::print(stderr,
               "sukima-guests: there is no qemu-system-x86_64 here: apt-get install qemu-system-x86\n");
    return exit_skipped;
  }
  try {
    return request.xen ? run_under_xen(request) : run(request);
  } catch (const sukima::process::usage_error& problem) {
    fmt::print(stderr, "sukima-guests: {}\n", problem.what());
    return exit_usage;
  } catch (const std::exception& problem) {
    fmt::print(stderr, "sukima-guests: {}\n", problem.what());
    return exit_missed;
  }
}
