// SPDX-License-Identifier: Apache-2.0
// The requests that the server of metrics understands. Their senders may be hostile.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sukima::host {

/// Bytes of the longest head of a request.
inline constexpr std::size_t longest_request = 8192;

/// How a request is answered.
struct http_answer {
  unsigned status = 400;  ///< 200, 400, 404, 405 or 505
  bool with_text = true;  ///< false for HEAD
};

/// Judges the head of a request, with the empty line at its end. Strict: GET or HEAD of /metrics, HTTP/1.0 or
/// 1.1, lines that end with CR LF, headers of RFC 9110 without folding, and no body. Linear time.
http_answer judge_request(std::string_view head);

/// The response, with all its headers. \param text the body of a response with status 200
std::string http_response(const http_answer& answer, std::string_view text);

/// The response to a head that is longer than `longest_request`.
inline constexpr unsigned status_too_long = 431;

}  // namespace sukima::host
