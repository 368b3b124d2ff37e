// SPDX-License-Identifier: Apache-2.0
// Which requests the server of metrics understands.
#include <gtest/gtest.h>

#include "metrics/http_request.hpp"

namespace {

using namespace sukima::host;

unsigned status_of(std::string_view head) { return judge_request(head).status; }

TEST(http_request, takes_what_a_scraper_sends) {
  EXPECT_EQ(status_of("GET /metrics HTTP/1.1\r\nHost: localhost:9105\r\nAccept: text/plain\r\n\r\n"), 200U);
  EXPECT_EQ(status_of("GET /metrics HTTP/1.0\r\n\r\n"), 200U);
  EXPECT_EQ(status_of("GET /metrics?job=a HTTP/1.1\r\nhOST:h\r\nContent-Length: 0\r\n\r\n"), 200U);
  const http_answer head = judge_request("HEAD /metrics HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(head.status, 200U);
  EXPECT_FALSE(head.with_text);
}

TEST(http_request, refuses_other_methods_paths_and_versions) {
  EXPECT_EQ(status_of("POST /metrics HTTP/1.1\r\nHost: h\r\n\r\n"), 405U);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: h\r\n\r\n"), 404U);
  EXPECT_EQ(status_of("GET /metrics/ HTTP/1.1\r\nHost: h\r\n\r\n"), 404U);
  EXPECT_EQ(status_of("GET /metrics HTTP/2.0\r\nHost: h\r\n\r\n"), 505U);
}

TEST(http_request, refuses_malformed_heads) {
  for (const std::string_view head :
       {"", "\r\n\r\n", "GET /metrics\r\n\r\n", "GET  /metrics HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET /metrics HTTP/1.1 \r\nHost: h\r\n\r\n", "GET metrics HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET /metrics HTTP/1.1\nHost: h\n\n", "GET /metrics HTTP/1.1\r\nHost: h\r\n",
        "G(T /metrics HTTP/1.1\r\nHost: h\r\n\r\n", "GET /m\x01 HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET /metrics FTP/1.1\r\nHost: h\r\n\r\n"})
    EXPECT_EQ(status_of(head), 400U) << head;
}

TEST(http_request, refuses_malformed_headers) {
  const auto with = [](const std::string& headers) {
    return status_of("GET /metrics HTTP/1.1\r\n" + headers + "\r\n");
  };
  EXPECT_EQ(with("Host: h\r\n"), 200U);
  for (const char* headers :
       {"", "Host: h\r\nHost: h\r\n", "Host : h\r\n", "Host: h\r\n folded\r\n", "Host: h\r\nno colon\r\n",
        "Host: h\r\n: x\r\n", "Host: h\r\nA: \x01\r\n", "Host: h\r\nTransfer-Encoding: chunked\r\n",
        "Host: h\r\nContent-Length: 4\r\n", "Host: h\r\n\r\nGET / HTTP/1.1\r\n"})
    EXPECT_EQ(with(headers), 400U) << headers;
}

TEST(http_request, responses_say_how_long_they_are) {
  EXPECT_EQ(http_response({.status = 200}, "a 1\n"),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
            "Content-Length: 4\r\nConnection: close\r\n\r\na 1\n");
  EXPECT_TRUE(
      http_response({.status = 200, .with_text = false}, "a 1\n").ends_with("Connection: close\r\n\r\n"));
  EXPECT_NE(http_response({.status = 405}, "").find("\r\nAllow: GET, HEAD\r\n"), std::string::npos);
  // Only a request that was understood gets the metrics.
  EXPECT_EQ(http_response({.status = 400}, "secret").find("secret"), std::string::npos);
}

}  // namespace
