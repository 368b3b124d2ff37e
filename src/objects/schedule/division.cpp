// SPDX-License-Identifier: Apache-2.0
// Whether to divide an island, and which of its objects leave; see division.hpp.
#include "schedule/division.hpp"

#include <base/shared/assert.hpp>

#include <algorithm>
#include <numeric>

namespace sukima::objects::detail {

bool work_sampler::finish(const clock_reading& now) noexcept {
  sampling_ = false;
  if (now.thread != began_.thread) return false;
  // The ticks continue while the thread waits for messages or for the CPU.
  const std::uint64_t computed_ns = now.cpu_ns - began_.cpu_ns;
  return 3 * computed_ns >= operations_ * long_operation && 2 * parallel_ >= ticks_;
}

namespace {

/// Two islands while objects are moved from the first one to the second one.
class halves {
 public:
  halves(std::span<const sampled_object> objects, std::span<const sampled_stream> streams)
      : objects_(objects), streams_(streams), leaves_(objects.size()), on_other_side_(streams.size()) {
    streams_of_.resize(objects.size());
    for (std::size_t s = 0; s < streams.size(); ++s)
      for (const std::size_t o : streams[s].objects) streams_of_[o].push_back(s);
    for (const sampled_object& o : objects) load_[0] += o.load;
  }

  std::uint64_t time() const noexcept { return std::max(load_[0], load_[1]) + cut_; }
  bool leaves(std::size_t object) const { return leaves_[object]; }
  const std::vector<std::size_t>& streams_of(std::size_t object) const { return streams_of_[object]; }
  bool is_cut(std::size_t stream) const {
    return on_other_side_[stream] != 0 && on_other_side_[stream] != streams_[stream].objects.size();
  }

  /// Moves an object to the other side.
  void move(std::size_t object) {
    for (const std::size_t s : streams_of_[object]) {
      if (is_cut(s)) cut_ -= streams_[s].cost;
      // An object with both ends of a stream is listed twice, and so counted twice.
      on_other_side_[s] = leaves_[object] ? on_other_side_[s] - 1 : on_other_side_[s] + 1;
      if (is_cut(s)) cut_ += streams_[s].cost;
    }
    load_[leaves_[object] ? 1 : 0] -= objects_[object].load;
    leaves_[object] = !leaves_[object];
    load_[leaves_[object] ? 1 : 0] += objects_[object].load;
  }
  /// The first invariant that does not hold, as a sentence, or null.
  const char* violated_invariant() const {
    std::uint64_t load[2] = {0, 0}, cut = 0;
    for (std::size_t o = 0; o < objects_.size(); ++o) load[leaves_[o] ? 1 : 0] += objects_[o].load;
    for (std::size_t s = 0; s < streams_.size(); ++s) {
      const std::vector<std::size_t>& ends = streams_[s].objects;
      const auto there = std::count_if(ends.begin(), ends.end(), [&](std::size_t o) { return leaves_[o]; });
      if (on_other_side_[s] != static_cast<std::size_t>(there))
        return "a stream's ends on the other side are counted";
      if (is_cut(s)) cut += streams_[s].cost;
    }
    if (load_[0] != load[0] || load_[1] != load[1])
      return "the load of a half is the sum of its objects' loads";
    return cut_ == cut ? nullptr : "the cost of the cut is that of the streams between the halves";
  }
  std::uint64_t time_if_moved(std::size_t object) {
    move(object);
    const std::uint64_t after = time();
    move(object);
    return after;
  }

 private:
  std::span<const sampled_object> objects_;
  std::span<const sampled_stream> streams_;
  std::vector<bool> leaves_;
  std::vector<std::size_t> on_other_side_;  ///< for each stream: the number of its ends on the other side
  std::vector<std::vector<std::size_t>> streams_of_;
  std::uint64_t load_[2] = {0, 0};
  std::uint64_t cut_ = 0;
};

/// Moves objects without a load together with the objects with which they exchange messages.
void move_followers(halves& of, std::span<const sampled_object> objects,
                    std::span<const sampled_stream> streams) {
  std::vector<std::size_t> next;
  std::vector<bool> seen(objects.size());
  const auto add_neighbours = [&](std::size_t object) {
    for (const std::size_t s : of.streams_of(object)) {
      if (!of.is_cut(s)) continue;
      for (const std::size_t o : streams[s].objects)
        if (objects[o].can_leave && objects[o].load == 0 && !of.leaves(o) && !seen[o]) {
          seen[o] = true;
          next.push_back(o);
        }
    }
  };
  for (std::size_t o = 0; o < objects.size(); ++o)
    if (of.leaves(o)) add_neighbours(o);
  for (std::size_t i = 0; i < next.size(); ++i)
    if (of.time_if_moved(next[i]) < of.time()) {
      of.move(next[i]);
      add_neighbours(next[i]);
    }
}

}  // namespace

std::vector<std::size_t> find_leavers(std::span<const sampled_object> objects,
                                      std::span<const sampled_stream> streams) {
  halves now(objects, streams);
  const std::uint64_t before = now.time();
  std::vector<std::size_t> loaded;
  for (std::size_t o = 0; o < objects.size(); ++o)
    if (objects[o].can_leave && objects[o].load != 0) loaded.push_back(o);
  for (;;) {  // each round saves time
    std::size_t best = objects.size();
    std::uint64_t least = now.time();
    for (const std::size_t o : loaded)
      if (const std::uint64_t after = now.time_if_moved(o); after < least) {
        least = after;
        best = o;
      }
    if (best == objects.size()) break;
    now.move(best);
  }
  move_followers(now, objects, streams);
  SUKIMA_ASSERT_VALID(now);
  std::vector<std::size_t> leavers;
  if (5 * now.time() > 4 * before) return leavers;
  for (std::size_t o = 0; o < objects.size(); ++o)
    if (now.leaves(o)) leavers.push_back(o);
  return leavers;
}

}  // namespace sukima::objects::detail
