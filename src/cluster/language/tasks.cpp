// SPDX-License-Identifier: Apache-2.0
// Exchanges tasks of the language between nodes, by the runtime's remote interface. For the nodes, a task
// that threw has ended normally: its tag is a result like any other. The construct that joins the task
// continues with the throw.
#include "language/task_bytes.hpp"
#include "language/travelling.hpp"
#include "protocol/reader.hpp"

#include <sukima/cluster/call.hpp>
#include <sukima/detail/jump.hpp>
#include <tascell/shared/segments.hpp>

#include <cstring>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>
#include <string>

namespace sukima::cluster {

namespace {

using detail::travel_form;
using detail::travel_point;
static_assert(sizeof(travel_point) <= sizeof(sukima_travelling::point) &&
              sizeof(travel_form) <= sizeof(sukima_travelling::form));
static_assert(offsetof(sukima_travelling, point) == 0);

const sukima_travelling& type_of(const travel_form& form) noexcept {
  return *reinterpret_cast<const sukima_travelling*>(reinterpret_cast<const char*>(&form) -
                                                     offsetof(sukima_travelling, form));
}
const sukima_travelling& type_of(const detail::task& t) noexcept {
  return *reinterpret_cast<const sukima_travelling*>(t.kind->travel);
}

struct received_language_task : detail::received_task {
  const sukima_travelling& type;
  received_object object;
  detail::segment_end end;
  received_language_task(const sukima_travelling& of, byte_view members) : type(of), object(of, members) {
    run = [](task* self, context c) {
      auto* const me = static_cast<received_language_task*>(self);
      detail::run_segment(
          c.top, me->end,
          [](char* top, void* frame) {
            const auto* const it = static_cast<const received_language_task*>(frame);
            it->type.exec(top, it->object.get());
          },
          me, 0);
    };
    destroy = [](task* self) noexcept { delete static_cast<received_language_task*>(self); };
    jumps = true;
  }
};

detail::received_task* make(const travel_form& form, std::span<const std::byte> from) {
  return new received_language_task(type_of(form), from);
}

void put_task_result(detail::received_task& t, std::vector<std::byte>& to) {
  const auto& me = static_cast<const received_language_task&>(t);
  put_end(me.end, to);
  if (!me.end.threw) me.object.put_result(to);
}

void put(const detail::task& t, std::vector<std::byte>& to) {
  put_task(type_of(t), static_cast<const detail::language_task&>(t).object, to);
}

void get(detail::task& t, std::span<const std::byte> from) {
  auto& me = static_cast<detail::language_task&>(t);
  me.end = get_end(from);
  if (me.end.threw) {
    me.error = detail::failure_mark();
    return;
  }
  me.received = get_result(type_of(t), me.object, from);
}

bool is_any_registered = false;  // set before main, and by dlopen

/// Returns the name of a file as a string that is never freed.
const char* kept(std::string name) {
  static std::mutex lock;
  static auto* const names = new std::set<std::string>;
  const std::lock_guard hold(lock);
  return names->insert(std::move(name)).first->c_str();
}

}  // namespace

bool can_anything_leave() noexcept { return is_any_registered; }

void put_end(const detail::segment_end& end, bytes& to) {
  if (end.threw && end.thrown.exit != nullptr)
    detail::end_program(
        "sukima: a 'goto' out of a closure cannot leave a task that came from another node, nor "
        "an entry that all nodes share\n");
  byte_sink out(to);
  out.number(std::uint8_t{end.threw});
  if (!end.threw) return;
  const std::string_view file = end.thrown.file;
  out.number(std::uint64_t{end.thrown.tag})
      .number(static_cast<std::uint32_t>(end.thrown.line))
      .text(file.substr(0, longest_file_name));
}

detail::segment_end get_end(byte_view& from) {
  byte_source in(from);
  detail::segment_end end;
  end.threw = in.number<std::uint8_t>() != 0;
  if (end.threw) {
    end.thrown.tag = static_cast<std::size_t>(in.number<std::uint64_t>());
    end.thrown.line = static_cast<int>(in.number<std::uint32_t>());
    end.thrown.file = kept(in.text(longest_file_name));
  }
  if (!in.ok()) throw std::length_error("sukima: the result of a task is incomplete");
  from = in.rest();
  return end;
}

}  // namespace sukima::cluster

extern "C" void sukima_register_travelling(sukima_travelling* type) {
  using namespace sukima;
  if (type->form[0] != nullptr) return;  // another file has registered it
  auto* const form = ::new (static_cast<void*>(type->form))
      detail::travel_form{type->name, cluster::make, cluster::put_task_result};
  ::new (static_cast<void*>(type->point)) detail::travel_point{form, cluster::put, cluster::get};
  detail::register_travel_form(*form);
  cluster::is_any_registered = true;
}
