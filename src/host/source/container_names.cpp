// SPDX-License-Identifier: Apache-2.0
// Recognises control groups of containers by their paths.
#include <algorithm>

#include "source/group_tree.hpp"

namespace sukima::host {
namespace {

constexpr std::size_t id_length = 64, short_length = 12;

/// Whether the text is a container's id: 64 hexadecimal digits.
bool is_id(std::string_view text) {
  return text.size() == id_length &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

/// The text between a prefix and a suffix; nothing if the text does not have both.
std::optional<std::string_view> between(std::string_view text, std::string_view prefix,
                                        std::string_view suffix) {
  if (text.size() < prefix.size() + suffix.size() || !text.starts_with(prefix) || !text.ends_with(suffix))
    return std::nullopt;
  return text.substr(prefix.size(), text.size() - prefix.size() - suffix.size());
}

/// Replaces the escapes in systemd's unit names, such as "\x2d" for a minus.
std::string unit_name(std::string_view text) {
  const auto digit = [](char c) { return c >= 'a' ? c - 'a' + 10 : c - '0'; };
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) == "\\x" && i + 3 < text.size() && is_digit(text[i + 2]) && is_digit(text[i + 3])) {
      result += static_cast<char>(digit(text[i + 2]) * 16 + digit(text[i + 3]));
      i += 3;
    } else {
      result += text[i];
    }
  }
  return result;
}

}  // namespace

std::optional<std::string> container_name(const std::string& group) {
  const std::size_t slash = group.rfind('/');
  if (slash == std::string::npos) return std::nullopt;
  const std::string_view last = std::string_view(group).substr(slash + 1);
  const std::string_view above = std::string_view(group).substr(0, slash);
  // cgroupfs: the id alone, in a folder of the container's manager.
  if (is_id(last) && (above.ends_with("/docker") || above.find("/kubepods") != std::string_view::npos))
    return std::string(last.substr(0, short_length));
  for (const auto& [prefix, suffix] : {std::pair{"docker-", ".scope"}, std::pair{"libpod-", ".scope"},
                                       std::pair{"libpod-", ""}, std::pair{"cri-containerd-", ".scope"},
                                       std::pair{"crio-", ".scope"}, std::pair{"nerdctl-", ".scope"}})
    if (const auto id = between(last, prefix, suffix); id && is_id(*id))
      return std::string(id->substr(0, short_length));
  if (const auto name = between(last, "systemd-nspawn@", ".service"); name && !name->empty())
    return unit_name(*name);
  if (const auto name = between(last, "machine-", ".scope"); name && !name->empty()) {
    // Skip virtual machines that libvirt has registered: machine-qemu\x2d1\x2dNAME.scope.
    std::string text = unit_name(*name);
    if (text.starts_with("qemu-") || text.starts_with("lxc-")) return std::nullopt;
    return text;
  }
  if (const auto name = between(last, "lxc.payload.", ""); name && !name->empty()) return std::string(*name);
  if (above.ends_with("/lxc") && !last.empty()) return std::string(last);
  return std::nullopt;
}

}  // namespace sukima::host
