// SPDX-License-Identifier: Apache-2.0
// Parses and answers requests for metrics; see http_request.hpp.
#include "metrics/http_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace sukima::host {
namespace {

/// Whether the character may occur in a token (RFC 9110, section 5.6.2).
bool is_of_token(char c) {
  constexpr std::string_view others = "!#$%&'*+-.^_`|~";
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         others.find(c) != std::string_view::npos;
}

bool is_token(std::string_view text) { return !text.empty() && std::ranges::all_of(text, is_of_token); }

bool is_visible(char c) { return c > 0x20 && c < 0x7f; }

bool is_of_value(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
}

bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

/// Removes the text up to the next `separator` from the front and returns it; nothing if there is no
/// separator.
std::optional<std::string_view> take_until(std::string_view& rest, std::string_view separator) {
  const std::size_t end = rest.find(separator);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view found = rest.substr(0, end);
  rest.remove_prefix(end + separator.size());
  return found;
}

/// Whether the text is an HTTP version such as HTTP/1.1.
bool is_version(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return text.size() == 8 && text.starts_with("HTTP/") && is_digit(text[5]) && text[6] == '.' &&
         is_digit(text[7]);
}

std::string_view trimmed_value(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Parses the headers up to the empty line. \returns whether they are well-formed, announce no body, and
/// contain as many Host lines as the version requires
bool takes_headers(std::string_view rest, bool needs_host) {
  std::size_t hosts = 0;
  for (;;) {
    const auto line = take_until(rest, "\r\n");
    if (!line) return false;
    if (line->empty()) return rest.empty() && (needs_host ? hosts == 1 : hosts <= 1);
    std::string_view value = *line;
    const auto name = take_until(value, ":");
    if (!name || !is_token(*name) || !std::ranges::all_of(value, is_of_value)) return false;
    if (same_name(*name, "host")) ++hosts;
    if (same_name(*name, "transfer-encoding")) return false;
    if (same_name(*name, "content-length") && trimmed_value(value) != "0") return false;
  }
}

const char* reason_of(unsigned status) {
  switch (status) {
    case 200:
      return "OK";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case status_too_long:
      return "Request Header Fields Too Large";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Bad Request";
  }
}

}  // namespace

http_answer judge_request(std::string_view head) {
  const auto line = take_until(head, "\r\n");
  if (!line) return {};
  std::string_view version = *line;
  const auto method = take_until(version, " ");
  if (!method || !is_token(*method)) return {};
  const auto target = take_until(version, " ");
  if (!target || !target->starts_with('/') || !std::ranges::all_of(*target, is_visible)) return {};
  if (!is_version(version)) return {};
  const bool is_1_1 = version == "HTTP/1.1";
  if (!is_1_1 && version != "HTTP/1.0") return {.status = 505};
  if (!takes_headers(head, is_1_1)) return {};
  if (*method != "GET" && *method != "HEAD") return {.status = 405};
  const bool with_text = *method == "GET";
  return {.status = target->substr(0, target->find('?')) == "/metrics" ? 200U : 404U, .with_text = with_text};
}

std::string http_response(const http_answer& answer, std::string_view text) {
  const std::string sentence =
      fmt::format("{}\n", answer.status == 404 ? "The metrics are at /metrics." : reason_of(answer.status));
  const std::string_view body = answer.status == 200 ? text : std::string_view(sentence);
  std::string response = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {}\r\n{}"
      "Connection: close\r\n\r\n",
      answer.status, reason_of(answer.status), body.size(),
      answer.status == 405 ? "Allow: GET, HEAD\r\n" : "");
  if (answer.with_text) response += body;
  return response;
}

}  // namespace sukima::host
