// SPDX-License-Identifier: Apache-2.0
// `cluster worker` functions: entries in the language that all nodes run together.
#include "entry/ending.hpp"
#include "entry/start.hpp"
#include "language/travelling.hpp"

#include <sukima/cluster.h>
#include <sukima/tascell/cluster.h>
#include <runtime/shared/remote.hpp>
#include <sukima/cluster.hpp>
#include <sukima/detail/fixed_order.hpp>
#include <sukima/detail/jump.hpp>

#include <cstring>
#include <stdexcept>
#include <string>

namespace sukima::cluster {

namespace {

struct language_entry : detail::cluster_entry {
  void (*function)(char*, void*);
  void* frame;
  byte_view result_bytes() const noexcept { return {static_cast<const std::byte*>(result), size}; }
  void* result;
  std::size_t size;
  detail::segment_end end;

  language_entry(const char* name, void (*called)(char*, void*), void* with, void* into, std::size_t room)
      : function(called), frame(with), result(into), size(room) {
    call = name;
    run = [](cluster_entry& self, context c) {
      auto& me = static_cast<language_entry&>(self);
      detail::segment_task(c.top)->jumps = true;
      detail::run_segment(c.top, me.end, me.function, me.frame, 0);
    };
    put = [](cluster_entry& self, std::vector<std::byte>& to) {
      const auto& me = static_cast<const language_entry&>(self);
      put_end(me.end, to);
      if (me.end.threw) return;
      const byte_view value = me.result_bytes();
      to.insert(to.end(), value.begin(), value.end());
    };
    get = [](cluster_entry& self, std::span<const std::byte> from) {
      auto& me = static_cast<language_entry&>(self);
      me.end = get_end(from);
      if (me.end.threw) return;
      if (from.size() != me.size) throw std::length_error("sukima: the result of an entry is incomplete");
      if (me.size != 0) std::memcpy(me.result, from.data(), me.size);
    };
  }
};

[[noreturn]] void end_at_start(const std::string& sentence) { end_process({sentence, status_usage}); }

/// Ends the program if the nodes could not share the work of the entry.
void check_sharing(const std::string& name, const char* stays, const char* rounds) {
  if (!can_anything_leave())
    end_at_start("entry '" + name + "' cannot share its work with other nodes: " +
                 (stays != nullptr ? stays : "its file has no construct that makes tasks"));
  if (rounds != nullptr && detail::uses_fixed_order())
    end_at_start("under --hope the parallel loop at " + std::string(rounds) +
                 " would give each node another floating-point sum, because rounding depends on how its "
                 "iterations are divided; let the iterations store their values and add these up in order, "
                 "add integers, or run without --hope");
}

}  // namespace
}  // namespace sukima::cluster

using namespace sukima;

extern "C" {

void sukima_cluster_enter(const char* name, const char* stays, const char* rounds,
                          void (*run)(char* top, void* frame), void* frame, void* result,
                          sukima_size result_size) {
  if (!detail::is_inside()) cluster::check_start();
  if (detail::is_inside() || !cluster::shares_entries()) {
    sukima_enter(run, frame);
    return;
  }
  detail::check_entry();
  cluster::check_sharing(name, stays, rounds);
  char* const top = detail::remembered_top();
  cluster::language_entry entry(name, run, frame, result, result_size);
  try {
    detail::run_cluster_entry(entry);
  } catch (...) {
    detail::end_after_failed_start();
  }
  detail::end_entry(entry.end, top);
}

unsigned sukima_cluster_nodes(void) { return cluster::nodes(); }

unsigned sukima_cluster_node(void) { return cluster::this_node(); }

unsigned long long sukima_cluster_given(void) { return cluster::statistics().given; }

}  // extern "C"
