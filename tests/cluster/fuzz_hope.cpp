// SPDX-License-Identifier: Apache-2.0
// Takes any bytes as what another node says under hierarchical omission: it is refused or understood; what is
// understood is within its bounds, and is written again as it was read.
#include "hope/mediation/bundle.hpp"
#include "hope/mediation/interest.hpp"
#include "hope/messages.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

using namespace sukima::cluster;
using namespace sukima::cluster::hope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void demand(bool kept, const char* promise) {
  if (kept) return;
  std::fprintf(stderr, "the promise is broken: %s\n", promise);
  std::abort();
}

void check_bundle(byte_view came) {
  constexpr unsigned nodes = 64;
  bytes again;
  const bool is_whole = read_bundle(came, nodes, [&](bundle_way way, const carried_note& one) {
    demand(one.origin < nodes, "a note is one of a node");
    demand(one.content.size() <= longest_bundled, "a note in a bundle is short");
    if (again.empty()) again = begin_bundle(way);
    put_note(again, one);
  });
  demand(again.empty() || std::ranges::equal(again, came.first(again.size())),
         "a bundle is written as it was read");
  demand(!is_whole || again.empty() || again.size() == came.size(), "a whole bundle is read to its end");
}

void check_interest(const note& n) {
  const auto one = read_interest(n);
  if (!one) return;
  demand(one->entry == n.entry, "a subscription is one of its note's entry");
  demand(one->tasks.size() + one->places.size() <= interest::most, "a subscription has a bound");
  demand(!one->is_all || (one->tasks.empty() && one->places.empty()), "everything needs no names");
  for (const task_key& task : one->tasks) demand(one->includes(task, {}), "a named task is included");
  for (const task_key& place : one->places) demand(one->includes({}, place), "a named place is included");
  const bytes again = write_interest(*one);
  demand(read_interest({.entry = n.entry, .content = again}) == one,
         "a subscription is read as it is written");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const byte_view came = std::as_bytes(std::span(data, size));
  if (is_bundle(came)) {
    check_bundle(came);
    return 0;
  }
  const auto n = read_note(came);
  if (!n) return 0;
  demand(n->entry != 0, "entries are counted from 1");
  demand(n->time.count() >= 0 && n->time <= std::chrono::hours(1), "a time is an hour at most");
  demand(n->content.size() < came.size(), "the content is a part of what came");
  const bytes again = write_note(*n);
  demand(std::ranges::equal(again, came), "a message is written as it was read");
  if (n->kind == note_kind::interest) check_interest(*n);
  return 0;
}
