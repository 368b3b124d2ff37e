// SPDX-License-Identifier: Apache-2.0
// Parses and answers the requests that the metrics server accepts. Clients may be hostile.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sukima::host {

/// The longest head of a request, in bytes.
inline constexpr std::size_t longest_request = 8192;

/// The answer to a request.
struct http_answer {
  unsigned status = 400;  ///< 200, 400, 404, 405, 431 or 505
  bool with_text = true;  ///< false for HEAD
};

/// Judges the head of a request, including its final empty line. It is strict: GET or HEAD of /metrics,
/// HTTP/1.0 or 1.1, lines that end with CR LF, headers of RFC 9110 without folding, and no body. Linear time.
http_answer judge_request(std::string_view head);

/// Returns the response with all its headers. \param text the body of a response with status 200
std::string http_response(const http_answer& answer, std::string_view text);

/// The status of the response to a head longer than `longest_request`.
inline constexpr unsigned status_too_long = 431;

}  // namespace sukima::host
