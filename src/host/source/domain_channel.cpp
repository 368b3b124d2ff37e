// SPDX-License-Identifier: Apache-2.0
// Finds the port of the guest service in the XML of a domain; see domain_channel.hpp.
#include "source/domain_channel.hpp"

#include <algorithm>
#include <utility>

namespace sukima::host {
namespace {

constexpr std::string_view port_name = "org.sukima.guest.0";
constexpr std::size_t longest_path = 4095;  // the kernel's limit

/// Decodes the entities in an attribute's value.
std::string decoded(std::string_view value) {
  constexpr std::pair<std::string_view, char> entities[] = {
      {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
  std::string text;
  while (!value.empty()) {
    char next = value.front();
    std::size_t length = 1;
    for (const auto& [name, character] : entities)
      if (value.starts_with(name)) {
        next = character;
        length = name.size();
      }
    text += next;
    value.remove_prefix(length);
  }
  return text;
}

/// Whether a session can use the path: it must be absolute and without control characters.
bool is_path(std::string_view text) {
  const auto is_printable = [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; };
  return text.starts_with('/') && text.size() <= longest_path && std::ranges::all_of(text, is_printable);
}

/// The value of a tag's attribute, without its quotes.
std::string_view attribute_of(std::string_view tag, std::string_view name) {
  for (std::size_t at = tag.find(name); at != std::string_view::npos; at = tag.find(name, at + 1)) {
    const std::string_view rest = tag.substr(at + name.size());
    const bool begins = at > 0 && (tag[at - 1] == ' ' || tag[at - 1] == '\n' || tag[at - 1] == '\t');
    if (!begins || rest.size() < 2 || rest[0] != '=' || (rest[1] != '\'' && rest[1] != '"')) continue;
    const std::size_t end = rest.find(rest[1], 2);
    return end == std::string_view::npos ? std::string_view() : rest.substr(2, end - 2);
  }
  return {};
}

/// The first tag `<NAME …>` of a text; empty if there is none.
std::string_view tag_of(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at + 1)) {
    const std::string_view rest = text.substr(at + 1);
    if (!rest.starts_with(name) || rest.size() == name.size() || rest[name.size()] != ' ') continue;
    return rest.substr(0, rest.find('>'));
  }
  return {};
}

}  // namespace

std::string channel_path(std::string_view xml) {
  constexpr std::string_view begin = "<channel ", end = "</channel>";
  while (true) {
    const std::size_t at = xml.find(begin);
    if (at == std::string_view::npos) return {};
    xml.remove_prefix(at);
    const std::size_t length = xml.find(end);
    if (length == std::string_view::npos) return {};
    const std::string_view channel = xml.substr(0, length);
    xml.remove_prefix(length);
    if (attribute_of(tag_of(channel, "target"), "name") != port_name) continue;
    const std::string path = decoded(attribute_of(tag_of(channel, "source"), "path"));
    return is_path(path) ? path : "";
  }
}

}  // namespace sukima::host
