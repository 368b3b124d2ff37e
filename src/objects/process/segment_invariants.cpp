// SPDX-License-Identifier: Apache-2.0
// The invariants of a memory file's constant parts: its areas do not overlap, and its numbers refer to
// existing processes.
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "process/segment.hpp"

namespace sukima::objects::detail {

namespace {

/// The areas of the file: where each begins and ends.
class areas {
 public:
  void add(std::uint64_t begin, std::uint64_t bytes) {
    if (bytes != 0) all_.emplace_back(begin, begin + bytes);
  }
  bool fit_into(std::uint64_t size) {
    std::sort(all_.begin(), all_.end());
    std::uint64_t end = 0;
    for (const auto& [begin, after] : all_) {
      if (begin < end || after < begin) return false;
      end = after;
    }
    return end <= size;
  }

 private:
  std::vector<std::pair<std::uint64_t, std::uint64_t>> all_;
};

const char* violated_side(std::span<const party> side, std::uint32_t processes) {
  if (side.empty()) return "a stream between processes has a process on each side";
  for (std::size_t i = 0; i < side.size(); ++i) {
    if (side[i].process >= processes) return "a side of a stream names processes of the program";
    if (i != 0 && side[i].process <= side[i - 1].process) return "a side of a stream names each process once";
  }
  return nullptr;
}

}  // namespace

const char* segment::violated_invariant() const {
  const segment_facts& h = header();
  if (h.size > size_) return "the memory file is as large as its header says";
  areas found;
  found.add(0, sizeof(segment_header));
  found.add(h.homes_at, h.objects * sizeof(home));
  found.add(h.streams_at, h.streams * sizeof(std::uint64_t));
  found.add(h.graph_at, h.graph_size);
  found.add(h.bells_at, h.bell_size * h.processes);
  found.add(h.processes_at, sizeof(process_words) * h.processes);
  for (std::size_t i = 0; i < h.objects; ++i) {
    if (homes()[i].process >= h.processes) return "an object is in a process of the program";
    found.add(homes()[i].waits_at, sizeof(object_waits) + waits(i).most_ends * sizeof(std::uint32_t));
  }
  for (std::size_t i = 0; i < h.streams; ++i) {
    const shared_stream* const s = stream(i);
    if (s == nullptr) continue;
    const stream_facts& f = s->facts;
    if (f.capacity == 0 || f.slot_size == 0) return "a stream between processes has room";
    for (const std::span<const party> side : {senders(*s), receivers(*s)})
      if (const char* const violated = violated_side(side, h.processes)) return violated;
    found.add(at<std::uint64_t>(h.streams_at)[i], sizeof(shared_stream));
    found.add(f.parties_at, (f.outs + f.ins) * sizeof(party));
    found.add(f.slots_at, f.capacity * (f.pipe_in < 0 ? f.slot_size : sizeof(std::uint32_t)));
    if (f.large_at != 0) found.add(f.large_at, most_record_bytes);
  }
  return found.fit_into(h.size) ? nullptr : "the areas of the memory file do not overlap";
}

}  // namespace sukima::objects::detail
