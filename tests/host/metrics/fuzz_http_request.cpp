// SPDX-License-Identifier: Apache-2.0
// Takes any bytes as a request for metrics: it gets one of the statuses, and only a request of /metrics gets
// the text.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "metrics/http_request.hpp"

namespace host = sukima::host;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void demand(bool kept, const char* promise) {
  if (kept) return;
  std::fprintf(stderr, "the promise is broken: %s\n", promise);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string head(reinterpret_cast<const char*>(data), size);
  const host::http_answer answer = host::judge_request(head);
  const unsigned status = answer.status;
  demand(status == 200 || status == 400 || status == 404 || status == 405 || status == 505, "a status");
  if (status == 200) {
    demand(head.starts_with("GET /metrics") || head.starts_with("HEAD /metrics"), "only metrics are served");
    demand(head.ends_with("\r\n\r\n"), "a head is whole");
  }
  const std::string response = host::http_response(answer, "text");
  demand(response.find("\r\n\r\n") != std::string::npos, "a response has a head");
  demand(response.ends_with("text") == (status == 200 && answer.with_text), "only a GET gets the text");
  return 0;
}
