// SPDX-License-Identifier: Apache-2.0
#include "launch/remote_start.hpp"

#include "entry/environment.hpp"
#include "launch/meeting.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <filesystem>

extern char** environ;

namespace sukima::cluster {

namespace {

/// Linux itself assigns ports from 32768.
constexpr unsigned first_port = 20000;
constexpr unsigned ports = 12000;

/// ssh never waits for input at a terminal, and notices within 15 s that a host is gone. If another ssh kept
/// the connection open, the host would not notice the end of this one.
constexpr std::array options_of_ssh{"-T",
                                    "-a",
                                    "-x",
                                    "-o",
                                    "BatchMode=yes",
                                    "-o",
                                    "ConnectTimeout=20",
                                    "-o",
                                    "ServerAliveInterval=5",
                                    "-o",
                                    "ServerAliveCountMax=3",
                                    "-o",
                                    "ControlMaster=no",
                                    "-o",
                                    "ControlPath=none"};

/// The variables that the launcher itself sets.
constexpr std::array own_variables{variable_nodes,   variable_node,      variable_room,   variable_join,
                                   variable_address, variable_addresses, variable_token,  variable_listen,
                                   variable_hope,    variable_ended,     variable_report, variable_output,
                                   variable_port,    variable_files};

/// Starts the program whose words are the shell's arguments, and ends with its status. h: the node; d: the
/// folder; m: the mark; o: not empty if the output begins with the mark, and 5 if only the output of tasks is
/// wanted, which goes to descriptor 5. Descriptor 4 is a copy of stderr for reports. The newlines become
/// blanks. A shell makes background programs ignore INT and QUIT; only env (GNU 8.31) can undo that. `kill
/// -TERM --` is an error in dash.
constexpr std::string_view begin_program = R"(
cd -- "$d" 2>/dev/null || {
  printf 'sukima: %s: there is no folder %s: make it there, or start the run in %s\n'
    "$h" "$d" 'a folder that all hosts have' >&2; exit 127; };
case $1 in */*) [ -f "$1" ] && [ -x "$1" ];; *) command -v -- "$1" >/dev/null;; esac || {
  printf 'sukima: %s: there is no program %s: copy it there, or share its folder\n' "$h" "$1" >&2;
  exit 127; };
command -v setsid >/dev/null || {
  printf 'sukima: %s: there is no setsid: install util-linux there\n' "$h" >&2; exit 127; };
exec 3<&0;
e='env --default-signal=INT,QUIT'; $e true 2>/dev/null || e=;
sh -c 'e=$1; o=$2; shift 2; printf "%s %s\n" "$0" "$$" >&2;
  if [ "$o" ]; then printf "%s\n" "$0"; fi;
  if [ "$o" = 5 ]; then exec $e setsid "$@" 4>&2 5>&1 >>/dev/null; fi;
  exec $e setsid "$@" 4>&2' "$m" "$e" "$o" "$@" <&3 3<&- & p=$!;
exec 3<&- </dev/null >/dev/null 2>&1;
{ while sleep 1; do
    q=; read -r a b c q r <"/proc/$$/stat"; [ "$q" = "$PPID" ] && continue;
    kill -s TERM -- "-$p"; sleep 2; kill -s KILL -- "-$p"; exit;
  done; } & w=$!;
wait "$p"; s=$?; kill "$w"; kill -s KILL -- "-$p"; exit "$s")";

std::string on_one_line(std::string_view script) {
  std::string line(script);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

bool is_ssh(const std::string& program) { return std::filesystem::path(program).filename() == "ssh"; }

/// Returns the variables SUKIMA_… of this process that the launcher does not set itself.
std::string settings() {
  constexpr std::string_view allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  std::string text;
  for (char** v = environ; *v != nullptr; ++v) {
    const std::string_view whole(*v);
    const std::string_view name = whole.substr(0, whole.find('='));
    if (!name.starts_with("SUKIMA_") || name.size() == whole.size() ||
        name.find_first_not_of(allowed) != name.npos ||
        std::find(own_variables.begin(), own_variables.end(), name) != own_variables.end())
      continue;
    text += std::string(name) + "=" + shell_word(whole.substr(name.size() + 1)) + " ";
  }
  return text;
}

/// Sets the number of workers of a node that shares its host to its share of the CPUs, unless the user has
/// set it.
std::string share_of_cpus(const node_place& place) {
  if (place.of_host == 1 || std::getenv("SUKIMA_WORKERS") != nullptr) return {};
  const std::string nodes = std::to_string(place.of_host);
  return "c=$(nproc 2>/dev/null || echo 1); w=$((c / " + nodes + " + (" + std::to_string(place.on_host) +
         " < c % " + nodes + "))); export SUKIMA_WORKERS=$((w > 0 ? w : 1)); ";
}

}  // namespace

std::string shell_word(std::string_view word) {
  std::string text = "'";
  for (const char c : word) {
    if (c == '\'')
      text += R"('\'')";
    else if (c == '\n')
      text += R"('"$n"')";
    else
      text += c;
  }
  return text + "'";
}

node_end end_of_remote(const child& node, int status) {
  constexpr int signals = 128;
  const bool has_begun = node.program != 0;
  const int code = WEXITSTATUS(status);
  const bool starts_nothing = !has_begun && !WIFSIGNALED(status) && code == 0;
  // A signal sent to the shell was meant for the program.
  if (node.own_signal != 0 && (WIFSIGNALED(status) || code == status_unreachable || starts_nothing))
    return {0, node.own_signal, has_begun};
  if (WIFSIGNALED(status)) return {0, WTERMSIG(status), has_begun};
  if (starts_nothing) return {.exit_code = status_unreachable, .has_begun = false, .starts_nothing = true};
  if (code > signals && code - signals < NSIG) return {0, code - signals, has_begun};
  return {code, 0, has_begun};
}

remote_start::remote_start(const launch_request& request, std::string token, std::string report_mark)
    : request_(request),
      token_(std::move(token)),
      report_mark_(std::move(report_mark)),
      mark_(new_mark("sukima-node-")),
      folder_(std::filesystem::current_path()) {
  if (request.ports) {
    port_ = request.ports->first;
  } else {
    unsigned drawn = 0;
    const std::string digits = new_token();
    std::from_chars(digits.data(), digits.data() + 4, drawn, 16);
    const unsigned wanted = request.tunnel ? 2 * static_cast<unsigned>(request.places.size()) : 1;
    port_ = first_port + drawn % (ports - wanted);
  }
  report_address(request, address());
}

std::vector<std::string> remote_start::shell_of(unsigned node,
                                                const std::vector<std::string>& options) const {
  std::vector<std::string> words = request_.remote_shell;
  if (is_ssh(words.front())) words.insert(words.end(), options_of_ssh.begin(), options_of_ssh.end());
  words.insert(words.end(), options.begin(), options.end());
  words.push_back(request_.places[node].host);
  return words;
}

std::vector<std::string> remote_start::tunnels_of(unsigned node) const {
  const std::vector<node_place>& places = request_.places;
  if (!request_.tunnel || places[node].on_host != 0) return {};
  const auto place = [](std::size_t port) { return "127.0.0.1:" + std::to_string(port); };
  std::vector<std::string> options{"-o", "ExitOnForwardFailure=yes"};
  for (std::size_t n = 0; n < places.size(); ++n) {
    const std::string there = place(port_ + n);
    const std::string here = place(port_ + places.size() + n);
    if (places[n].host == places[node].host)
      options.insert(options.end(), {"-L", here + ":" + there});
    else
      options.insert(options.end(), {"-R", there + ":" + here});
  }
  return options;
}

std::vector<std::string> remote_start::command(unsigned node) const {
  std::vector<std::string> words = shell_of(node, tunnels_of(node));
  // Valid in any login shell: no backslash, no exclamation mark, one line.
  words.push_back("exec sh -c 'echo " + mark_ + R"( ready >&2; IFS= read -r s && eval "$s"')");
  return words;
}

std::string remote_start::address() const {
  return (request_.tunnel ? "127.0.0.1" : request_.places.front().address) + ":" + std::to_string(port_);
}

std::string remote_start::variables_of(unsigned node) const {
  std::string addresses;
  const auto address_of = [&](const node_place& p) { return request_.tunnel ? "127.0.0.1" : p.address; };
  for (const node_place& p : request_.places) addresses += (addresses.empty() ? "" : ",") + address_of(p);
  const auto set = [](const char* name, const std::string& value) {
    return std::string(name) + "=" + shell_word(value) + " ";
  };
  return settings() + set(variable_nodes, std::to_string(request_.places.size())) +
         set(variable_node, std::to_string(node)) + set(variable_room, std::to_string(request_.room)) +
         set(variable_address, address()) + set(variable_addresses, addresses) + set(variable_token, token_) +
         set(variable_hope, request_.hope ? "1" : "0") + set(variable_report, "4:" + report_mark_) +
         (prints_tasks_only(node) ? set(variable_output, "5") : "") +
         (request_.ports || request_.tunnel ? set(variable_port, write_ports(ports_of(node))) : "");
}

port_range remote_start::ports_of(unsigned node) const {
  if (request_.tunnel) {
    const auto own = static_cast<std::uint16_t>(port_ + node);
    return {own, own};
  }
  port_range ports = request_.ports.value_or(port_range());
  // The first port is that of node 0, which may begin to listen later than other nodes of its host.
  if (node != 0 && request_.places[node].host == request_.places.front().host) ++ports.first;
  return ports;
}

std::string remote_start::first_line(unsigned node, bool marks_output) const {
  const node_place& place = request_.places[node];
  std::string line = R"(n=$(printf '\nx'); n=${n%x}; )";
  line += "export " + variables_of(node) + "; " + share_of_cpus(place);
  line += "h=" + shell_word("node " + std::to_string(node) + " (host " + place.host + ")") + "; ";
  line += "d=" + shell_word(folder_) + "; m=" + mark_ + "; o=" +
          (prints_tasks_only(node) ? "5"
           : marks_output          ? "1"
                                   : "") +
          "; set --";
  for (const std::string& word : request_.program) line += " " + shell_word(word);
  return line + ";" + on_one_line(begin_program) + "\n";
}

std::vector<std::string> remote_start::signal_command(unsigned node, pid_t process, int signal) const {
  std::vector<std::string> words = shell_of(node, {});
  words.push_back(std::string("kill -") + sigabbrev_np(signal) + " " + std::to_string(process));
  return words;
}

std::string_view remote_start::without_noise(child& node, std::string_view output) const {
  if (!node.awaits_mark) return output;
  node.before_mark += output;
  const std::size_t found = node.before_mark.find(mark_ + "\n");
  if (found == std::string::npos) {
    node.before_mark.erase(0, node.before_mark.size() - std::min(node.before_mark.size(), mark_.size()));
    return {};
  }
  node.awaits_mark = false;
  return std::string_view(node.before_mark).substr(found + mark_.size() + 1);
}

std::optional<remote_start::mark> remote_start::mark_in(std::string_view line) const {
  const std::size_t begin = line.find(mark_);
  if (begin == line.npos) return {};
  const std::string_view rest = line.substr(begin + mark_.size());
  if (rest == " ready") return mark{begin, 0};
  mark m{begin, 0};
  if (rest.empty() ||
      std::from_chars(rest.data() + 1, rest.data() + rest.size(), m.process).ec != std::errc{})
    return {};
  return m;
}

}  // namespace sukima::cluster
