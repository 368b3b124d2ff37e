// SPDX-License-Identifier: Apache-2.0
// Decides in which process and island each object runs, and which streams therefore need no locks.
#include "program/declaration.hpp"
#include "program/program_core.hpp"
#include "schedule/island.hpp"
#include "schedule/plan.hpp"

#include <runtime/shared/discard_fiber.hpp>
#include <runtime/shared/most_threads.hpp>

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace sukima::objects::detail {

using model::unit;

namespace {

/// Finds objects that streams connect, directly or through others.
class connections {
 public:
  explicit connections(const program_core& p) : above_(p.objects.size()) {
    std::iota(above_.begin(), above_.end(), std::size_t{0});
    std::vector<std::size_t> known(p.streams.size());
    for (const auto& o : p.objects)
      for (const held_end& e : o->ends) ++known[e.stream->number];
    bool all_known = true;
    std::vector<std::optional<std::size_t>> users(p.streams.size());
    std::optional<std::size_t> unknown;
    for (std::size_t i = 0; i < p.objects.size(); ++i)
      if (p.objects[i]->group.empty())
        for (const held_end& e : p.objects[i]->ends) join(users[e.stream->number], i);
    for (const auto& s : p.streams) {  // before the run no other thread changes the counts
      if (known[s->number] ==
          std::size_t{s->outs.load(std::memory_order_relaxed)} + s->ins.load(std::memory_order_relaxed))
        continue;
      all_known = false;
      if (users[s->number]) join(unknown, *users[s->number]);
    }
    if (all_known) return;
    // An object without ends among its arguments may have captured any of these.
    for (std::size_t i = 0; i < p.objects.size(); ++i)
      if (p.objects[i]->group.empty() && p.objects[i]->ends.empty()) join(unknown, i);
  }
  /// Returns a number that is the same for all objects of a part.
  std::size_t part_of(std::size_t object) {
    while (above_[object] != object) object = above_[object] = above_[above_[object]];
    return object;
  }

 private:
  void join(std::optional<std::size_t>& with, std::size_t object) {
    if (with) above_[part_of(object)] = part_of(*with);
    with = object;
  }
  std::vector<std::size_t> above_;  ///< parents in trees of objects; each tree is a part
};

/// Returns numbers below `most` for the objects without a group. Objects that streams connect get the same
/// number.
std::vector<std::size_t> divide_by_streams(const program_core& p, std::size_t most) {
  connections found(p);
  std::vector<std::size_t> sizes(p.objects.size()), first_object(p.objects.size()), parts;
  for (std::size_t i = 0; i < p.objects.size(); ++i) {
    const std::size_t part = found.part_of(i);
    if (!p.objects[i]->group.empty() || ++sizes[part] != 1) continue;
    first_object[part] = i;
    parts.push_back(part);
  }
  std::ranges::sort(parts, [&](std::size_t a, std::size_t b) {
    return sizes[a] != sizes[b] ? sizes[a] > sizes[b] : first_object[a] < first_object[b];
  });
  std::vector<std::size_t> filled(most), chosen(p.objects.size());
  for (const std::size_t part : parts) {  // the largest first; each goes to the least filled number
    const auto emptiest = std::min_element(filled.begin(), filled.end());
    *emptiest += sizes[part];
    chosen[part] = static_cast<std::size_t>(emptiest - filled.begin());
  }
  std::vector<std::size_t> result(p.objects.size());
  for (std::size_t i = 0; i < p.objects.size(); ++i) result[i] = chosen[found.part_of(i)];
  return result;
}

/// Returns such numbers by the order in which the objects were declared.
std::vector<std::size_t> divide_by_order(const program_core& p, std::size_t most, std::size_t alone) {
  std::vector<std::size_t> result(p.objects.size());
  std::size_t seen = 0;
  for (std::size_t i = 0; i < p.objects.size(); ++i)
    if (p.objects[i]->group.empty()) result[i] = seen++ * most / alone;
  return result;
}

/// Returns the first object that receives the timer's ticks; the timer itself if that is unknown.
std::size_t first_receiver(const program_core& p, std::size_t timer) {
  const stream_core* const from = p.objects[timer]->ends.front().stream;
  const auto found = std::find_if(p.objects.begin(), p.objects.end(), [from](const auto& o) {
    return std::any_of(o->ends.begin(), o->ends.end(),
                       [from](const held_end& e) { return e.stream == from && !e.is_out; });
  });
  return found != p.objects.end() ? static_cast<std::size_t>(found - p.objects.begin()) : timer;
}

/// Returns the numbers of the objects' groups. Objects without a group are divided among at most as many
/// groups as the runtime has workers. If groups can be divided while the program runs, objects that streams
/// connect stay in one group.
std::vector<std::uint32_t> number_groups(const program_core& p, const model::model_parts& how) {
  std::vector<std::uint32_t> numbers;
  const auto alone = static_cast<std::size_t>(
      std::count_if(p.objects.begin(), p.objects.end(), [](const auto& o) { return o->group.empty(); }));
  const std::size_t most = std::clamp<std::size_t>(p.on.workers(), 1, std::max<std::size_t>(alone, 1));
  std::vector<std::size_t> parts;
  if (how.grouped && alone != 0)
    parts = runs_on_workers(how) ? divide_by_streams(p, most) : divide_by_order(p, most, alone);
  std::unordered_map<std::string_view, std::uint32_t> groups;
  std::vector<std::optional<std::uint32_t>> blocks(most);
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < p.objects.size(); ++i) {
    const object_core& o = *p.objects[i];
    if (!how.grouped) {
      numbers.push_back(how.island_each ? next++ : 0);
    } else if (!o.group.empty()) {
      const auto [found, is_new] = groups.try_emplace(o.group, next);
      if (is_new) ++next;
      numbers.push_back(found->second);
    } else {
      std::optional<std::uint32_t>& block = blocks[parts[i]];
      if (!block) block = next++;
      numbers.push_back(*block);
    }
  }
  for (std::size_t i = 0; i < p.objects.size(); ++i)
    if (p.objects[i]->is_timer) numbers[i] = numbers[first_receiver(p, i)];
  return numbers;
}

}  // namespace

std::uint32_t program_core::place(const model::model_parts& how) {
  const std::vector<std::uint32_t> groups = number_groups(*this, how);
  std::set<std::uint32_t> at_home;
  for (std::size_t i = 0; i < objects.size(); ++i)
    if (how.between != unit::process || objects[i]->at_home) at_home.insert(groups[i]);
  std::unordered_map<std::uint32_t, std::uint32_t> processes;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    object_core& o = *objects[i];
    o.island_number = how.island_each ? static_cast<std::uint32_t>(i) : groups[i];
    o.process = at_home.contains(groups[i])
                    ? 0
                    : processes.try_emplace(groups[i], static_cast<std::uint32_t>(processes.size() + 1))
                          .first->second;
  }
  return static_cast<std::uint32_t>(processes.size() + 1);
}

void program_core::check_threads() const {
  std::set<std::uint32_t> seen;
  std::unordered_map<std::uint32_t, std::size_t> threads;
  std::size_t most = 0;
  for (const auto& o : objects)
    if (seen.insert(o->island_number).second) most = std::max(most, ++threads[o->process]);
  if (most + on.workers() <= sukima::detail::most_threads) return;
  throw usage_error("sukima: the objects of one process would need " + std::to_string(most) +
                    " threads, and a runtime has room for " + std::to_string(sukima::detail::most_threads) +
                    ", its " + std::to_string(on.workers()) +
                    " workers included; put objects into groups, or let them take turns, as "
                    "SUKIMA_OBJECTS=workers:simulated does");
}

void program_core::share_streams() const {
  struct ends {
    const object_core* user = nullptr;
    std::size_t known = 0;
    bool elsewhere = false;
    bool far = false;
  };
  std::unordered_map<const stream_core*, ends> found;
  bool one_island = true;
  for (const auto& o : objects) {
    one_island = one_island && o->island_number == objects.front()->island_number;
    for (const held_end& e : o->ends) {
      ends& f = found[e.stream];
      ++f.known;
      f.elsewhere |= f.user != nullptr && f.user->island_number != o->island_number;
      f.far |= f.user != nullptr && f.user->process != o->process;
      f.user = o.get();
    }
  }
  const bool processes =
      std::any_of(objects.begin(), objects.end(), [](const auto& o) { return o->process != 0; });
  for (const auto& s : streams) {
    const ends& f = found[s.get()];
    // Before the program runs no other thread changes the counts.
    const bool all_known = f.known == std::size_t{s->outs.load(std::memory_order_relaxed)} +
                                          s->ins.load(std::memory_order_relaxed);
    s->shared = !one_island && (f.elsewhere || !all_known);
    s->many_out = s->outs.load(std::memory_order_relaxed) > 1;
    s->many_in = s->ins.load(std::memory_order_relaxed) > 1 ||
                 s->drops_oldest;  // then its senders take messages out, too
    if (processes && !all_known)
      throw usage_error("sukima: stream " + s->name +
                        ": where objects are processes each end must be an argument of the object that uses "
                        "it; one is captured, or was not given to any object");
    if (f.far && s->to_processes == stream_core::journey::none)
      throw usage_error("sukima: stream " + s->name +
                        " cannot lead to another process: its messages, of type " + type_name(*s) +
                        ", contain pointers or are not plain data; give them a sukima::codec "
                        "(include sukima/transfer_cereal.hpp), or put its objects into one group");
  }
}

void program_core::make_islands(bool on_threads, bool divide) {
  using where = sukima::detail::executor::runs_on;
  std::unordered_map<std::uint32_t, island_core*> made;
  for (const auto& o : objects) {
    if (o->process != process) continue;
    island_core*& home = made[o->island_number];
    if (home == nullptr) {
      islands.push_back(std::make_unique<island_core>(*core, on_threads ? where::thread : where::workers));
      home = islands.back().get();
    }
    o->home = home;
    home->objects.push_back(o.get());
    home->can_be_divided = divide && o->group.empty();
  }
}

const island_core* program_core::find_island(const sukima::detail::executor* of) {
  if (of == nullptr) return nullptr;
  const std::lock_guard hold(run_lock);
  const auto found =
      std::find_if(islands.begin(), islands.end(), [of](const auto& i) { return i.get() == of; });
  return found != islands.end() ? found->get() : nullptr;
}

void program_core::drop_islands() noexcept {
  const std::lock_guard hold(run_lock);
  is_running = false;
  for (const auto& i : islands) {
    for (object_core* const o : i->objects) {
      if (o->self != nullptr) sukima::detail::discard_fiber(*std::exchange(o->self, nullptr));
      o->recognized = o->ambient = nullptr;
    }
    if (i->own_bell.self != nullptr) sukima::detail::discard_fiber(*i->own_bell.self);
  }
  islands.clear();
}

}  // namespace sukima::objects::detail
