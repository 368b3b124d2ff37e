// SPDX-License-Identifier: Apache-2.0
// Finds QEMU processes; see qemu_processes.hpp.
#include "source/qemu_processes.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

#include "source/files.hpp"

namespace sukima::host {
namespace {

namespace fs = std::filesystem;

/// The parts of an option, separated by single commas; ",," is a comma within a part. If a part has no "=",
/// its key is empty for the first part, and otherwise the part itself ("server", "nowait").
using parts = std::vector<std::pair<std::string, std::string>>;

parts parts_of(const std::string& option) {
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < option.size(); ++i) {
    if (option[i] != ',')
      words.back() += option[i];
    else if (i + 1 < option.size() && option[i + 1] == ',')
      words.back() += option[i++];
    else
      words.emplace_back();
  }
  parts result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    if (equals != std::string::npos)
      result.emplace_back(words[i].substr(0, equals), words[i].substr(equals + 1));
    else
      result.emplace_back(i == 0 ? "" : words[i], i == 0 ? words[i] : "on");
  }
  return result;
}

std::string value_of(const parts& all, const std::string& key) {
  const auto found = std::ranges::find(all, key, &parts::value_type::first);
  return found == all.end() ? "" : found->second;
}

/// Whether QEMU listens on the socket: "server", "server=on".
bool listens(const parts& all) {
  const std::string server = value_of(all, "server");
  return server == "on" || server == "yes" || server == "true";
}

}  // namespace

std::optional<qemu_command_line> read_command_line(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return std::nullopt;
  const std::string program = fs::path(arguments[0]).filename().string();
  if (!program.starts_with("qemu-system-") && program != "qemu-kvm" && program != "kvm") return std::nullopt;
  qemu_command_line result;
  std::map<std::string, std::string> sockets;  // the paths of the -chardev sockets, by their ids
  std::vector<std::string> named;  // the chardevs that -mon options use
  for (std::size_t i = 1; i + 1 < arguments.size(); ++i) {
    std::string option = arguments[i];
    if (option.starts_with("--")) option.erase(0, 1);
    const std::string& value = arguments[i + 1];
    const parts all = parts_of(value);
    if (option == "-name") {
      result.name = value_of(all, "").empty() ? value_of(all, "guest") : value_of(all, "");
    } else if (option == "-uuid") {
      result.uuid = value;
    } else if (option == "-qmp" || option == "-qmp-pretty") {
      const std::string place = value_of(all, "");
      if (place.starts_with("unix:") && listens(all)) result.monitors.push_back(place.substr(5));
    } else if (option == "-chardev" && value_of(all, "") == "socket") {
      const std::string id = value_of(all, "id"), path = value_of(all, "path");
      if (id == "charmonitor" && !value_of(all, "fd").empty()) result.of_libvirt = true;
      if (!path.empty() && listens(all)) sockets[id] = path;
    } else if (option == "-mon") {
      const std::string chardev = value_of(all, "chardev");
      if (value_of(all, "mode") == "control") named.push_back(chardev.empty() ? value_of(all, "") : chardev);
    } else {
      continue;
    }
    ++i;
  }
  for (const std::string& id : named)
    if (const auto found = sockets.find(id); found != sockets.end()) result.monitors.push_back(found->second);
  return result;
}

std::vector<qemu_process> find_qemu_processes(const std::string& root) {
  std::vector<qemu_process> found;
  std::error_code failed;
  for (fs::directory_iterator at(root + "/proc", failed), end; !failed && at != end; at.increment(failed)) {
    const auto id = number_of(at->path().filename().string());
    if (!id) continue;
    const auto text = read_text(at->path() / "cmdline");
    if (!text) continue;
    std::vector<std::string> arguments;
    for (std::size_t begin = 0; begin < text->size();) {
      const std::size_t stop = std::min(text->find('\0', begin), text->size());
      arguments.push_back(text->substr(begin, stop - begin));
      begin = stop + 1;
    }
    auto command_line = read_command_line(arguments);
    if (!command_line) continue;
    std::error_code unknown;
    const fs::path folder = fs::read_symlink(at->path() / "cwd", unknown);
    for (std::string& path : command_line->monitors)
      if (!path.starts_with('/') && !unknown) path = (folder / path).string();
    found.push_back({static_cast<long>(*id), std::move(*command_line)});
  }
  std::ranges::sort(found, {}, &qemu_process::id);
  return found;
}

}  // namespace sukima::host
