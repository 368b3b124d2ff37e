// SPDX-License-Identifier: Apache-2.0
// `sukima guest`: the service inside a virtual machine.
#include <fmt/format.h>
#include <pwd.h>
#include <sys/un.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <host/shared/guest.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "shared/commands.hpp"
#include "shared/console.hpp"

namespace sukima::cli::guest {
namespace {

namespace model = sukima::host;

constexpr const char* footer = R"(Examples:
  sukima guest                        the service; it needs root to switch CPUs and to open the port
  sukima guest --user build           programs of the user 'build' may report progress, too
  sukima guest --restore              switch CPUs on again that a killed service left off, and exit

A program reports through the socket /run/sukima/guest.sock, in lines:
  sukima-guest 1
  progress 1200
  end

docs/host-reference.md describes the messages.)";

struct guest_command {
  model::guest_options service;
  std::string root = "/", port, socket, user;
  bool restore = false, json = false;
};

/// Relaxed: no other data is published with it. Partner: run_guest in host/guest/loop.cpp.
std::atomic<bool> stopped = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

void stop(int) { stopped.store(true, std::memory_order_relaxed); }

void report(const std::string& sentence, bool json) {
  if (json)
    fmt::print("{}\n", nlohmann::json({{"part", "guest"}, {"reason", sentence}})
                           .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  else
    fmt::print("{}\n", sentence);
  std::fflush(stdout);
}

unsigned user_number(const std::string& name) {
  const passwd* const entry = ::getpwnam(name.c_str());
  if (entry == nullptr)
    throw process::usage_error(fmt::format("--user: there is no user '{}'; give another name", name));
  return entry->pw_uid;
}

/// Refuses a port that can never be opened. A port that does not exist yet may appear later.
/// \throws process::usage_error
void check_port(const std::string& port) {
  std::error_code ignored;
  const auto kind = std::filesystem::status(port, ignored).type();
  if (kind == std::filesystem::file_type::regular || kind == std::filesystem::file_type::directory)
    throw process::usage_error(fmt::format(
        "--port: '{}' is neither a device nor a socket; give the host's port, or leave it out", port));
  constexpr std::size_t longest = sizeof(sockaddr_un::sun_path) - 1;
  if (kind != std::filesystem::file_type::character && port.size() > longest)
    throw process::usage_error(fmt::format(
        "--port: the path '{}' has {} bytes, and that of a socket at most {}; give a shorter path, such as "
        "one from the present folder",
        port, port.size(), longest));
}

int run(guest_command& options) {
  options.service.root = options.root;
  options.service.port = options.port;
  options.service.socket = options.socket;
  if (!std::filesystem::is_directory(options.root))
    throw process::usage_error(fmt::format("--root: '{}' is not a folder; leave it out", options.root));
  check_port(options.port);
  if (!options.user.empty()) options.service.user = user_number(options.user);
  if (options.restore) {
    // Starting the service already restores the CPUs. A second attempt reports what fails.
    if (const auto problem = model::guest_service(options.service.root).stop()) {
      complain(*problem);
      return process::exit_failure;
    }
    return process::exit_success;
  }
  struct sigaction action{};
  action.sa_handler = stop;  // without SA_RESTART, so the signal ends waiting
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before{};  // nohup ignores SIGHUP, so that the service survives the terminal
    if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
      ::sigaction(signal, &action, nullptr);
  }
  std::signal(SIGPIPE, SIG_IGN);
  try {
    model::run_guest(options.service, stopped,
                     [&](const std::string& sentence) { report(sentence, options.json); });
  } catch (const std::system_error& error) {
    const bool taken = error.code() == std::errc::address_in_use;
    const bool forbidden = error.code() == std::errc::permission_denied;
    throw process::usage_error(
        fmt::format("the socket for programs cannot be created ({}); {}give another --socket", error.what(),
                    taken       ? "end the other service, or "
                    : forbidden ? "start it as root, or "
                                : ""));
  }
  return process::exit_success;
}

}  // namespace

void declare(CLI::App& command, int& code, program_arguments /*program*/) {
  auto options = std::make_shared<guest_command>();
  command.footer(footer);
  command
      .add_option("--port", options->port,
                  "The host's port, a device or a Unix socket (default: the virtio port org.sukima.guest.0)")
      ->type_name("FILE");
  command.add_option("--socket", options->socket, "Where programs report (default: /run/sukima/guest.sock)")
      ->type_name("FILE");
  command
      .add_option("--user", options->user,
                  "Programs of this user may report, besides root's and the service's own")
      ->type_name("NAME");
  command.add_option("--root", options->root, "The folder that contains /sys and /run")->type_name("FOLDER");
  command.add_flag("--restore", options->restore,
                   "Switch CPUs on again that a killed service left off, and exit");
  command.add_flag("--json", options->json, "Print each event as one JSON object a line");
  command.callback([options, &command, &code] {
    for (const char* const name : {"--port", "--socket", "--user", "--json"})
      if (options->restore && command.count(name) != 0)
        throw process::usage_error(fmt::format(
            "{} is for the service, which --restore does not start: leave one of them out", name));
    code = run(*options);
  });
}

}  // namespace sukima::cli::guest
