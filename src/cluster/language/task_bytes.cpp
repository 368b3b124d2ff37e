// SPDX-License-Identifier: Apache-2.0
#include "language/task_bytes.hpp"

#include "protocol/reader.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <set>
#include <span>
#include <stdexcept>

namespace sukima::cluster {

namespace {

/// Half of a message, so that the rest of the message also fits. The `in` members of a task have the same
/// limit.
constexpr std::size_t longest = largest_message / 2;

bool has(const sukima_member& m, unsigned flag) noexcept { return (m.flags & flag) != 0; }
/// Whether a member is an array for the result whose length is known when the task begins.
bool has_known_length(const sukima_member& m) noexcept {
  return has(m, SUKIMA_ARRAY) && !has(m, SUKIMA_LATE);
}

std::span<const sukima_member> members_of(const sukima_travelling& type) noexcept {
  return {type.members, type.count};
}

byte_view bytes_at(const char* place, std::size_t size) noexcept {
  return {reinterpret_cast<const std::byte*>(place), size};
}

char* array_at(const sukima_member& m, const char* object) noexcept {
  char* array = nullptr;
  std::memcpy(&array, object + m.offset, sizeof array);
  return array;
}

void set_array(const sukima_member& m, char* object, char* array) noexcept {
  std::memcpy(object + m.offset, &array, sizeof array);
}

template <class N> std::uint64_t number_at(const char* place) noexcept {
  N value = 0;
  std::memcpy(&value, place, sizeof value);
  return value < 0 ? 0 : static_cast<std::uint64_t>(value);
}

std::uint64_t length_at(const sukima_member& m, const char* object) noexcept {
  const char* const place = object + m.length_offset;
  const bool is_signed = has(m, SUKIMA_SIGNED);
  switch (m.length_size) {
    case 1:
      return is_signed ? number_at<std::int8_t>(place) : number_at<std::uint8_t>(place);
    case 2:
      return is_signed ? number_at<std::int16_t>(place) : number_at<std::uint16_t>(place);
    case 4:
      return is_signed ? number_at<std::int32_t>(place) : number_at<std::uint32_t>(place);
    default:
      return is_signed ? number_at<std::int64_t>(place) : number_at<std::uint64_t>(place);
  }
}

/// Returns the size of an array in bytes. \throws std::length_error the array is too long to travel
std::size_t size_of_array(const sukima_member& m, const char* object) {
  const std::uint64_t length = length_at(m, object);
  if (m.size != 0 && length > longest / m.size)
    throw std::length_error("sukima: an array of a task is too long to travel");
  return static_cast<std::size_t>(length) * m.size;
}

void put_array(const char* array, std::size_t size, byte_sink& to) {
  to.number(std::uint8_t{array != nullptr});
  if (array != nullptr) to.raw(bytes_at(array, size));
}

/// Checks that a value was read completely. \throws std::length_error bytes were missing, or bytes are left
void check_end(const byte_source& from) {
  if (!from.ok() || !from.rest().empty())
    throw std::length_error("sukima: a task from another node is incomplete");
}

/// Takes the next `size` bytes. \throws std::length_error there are fewer bytes
byte_view take(byte_source& from, std::size_t size) {
  const byte_view taken = from.raw(size);
  if (!from.ok()) throw std::length_error("sukima: a task from another node is incomplete");
  return taken;
}

void copy(char* to, byte_view from) noexcept {
  if (!from.empty()) std::memcpy(to, from.data(), from.size());
}

}  // namespace

void put_task(const sukima_travelling& type, const void* object, bytes& to) {
  const auto* const at = static_cast<const char*>(object);
  byte_sink out(to);
  for (const sukima_member& m : members_of(type)) {
    if (has_known_length(m)) {
      const std::size_t size = size_of_array(m, at);
      if (has(m, SUKIMA_IN))
        put_array(array_at(m, at), size, out);
      else
        out.number(std::uint8_t{array_at(m, at) != nullptr});
    } else if (has(m, SUKIMA_IN)) {
      out.raw(bytes_at(at + m.offset, m.size));
    }
  }
}

std::vector<detail::malloced> get_result(const sukima_travelling& type, void* object, byte_view from) {
  std::vector<detail::malloced> made;
  std::vector<const sukima_member*> made_for;
  auto* const at = static_cast<char*>(object);
  byte_source in(from);
  for (const sukima_member& m : members_of(type)) {
    if (!has(m, SUKIMA_OUT)) continue;
    if (!has(m, SUKIMA_ARRAY)) {
      copy(at + m.offset, take(in, m.size));
      continue;
    }
    if (has(m, SUKIMA_LATE)) set_array(m, at, nullptr);
    if (in.number<std::uint8_t>() == 0) continue;
    const byte_view elements = take(in, size_of_array(m, at));
    char* array = array_at(m, at);
    if (array == nullptr) {
      array = static_cast<char*>(std::malloc(std::max<std::size_t>(elements.size(), 1)));
      if (array == nullptr) throw std::bad_alloc();
      made.emplace_back(array);
      made_for.push_back(&m);
    }
    copy(array, elements);
  }
  check_end(in);
  for (std::size_t i = 0; i < made.size(); ++i) set_array(*made_for[i], at, made[i].get());
  return made;
}

received_object::received_object(const sukima_travelling& type, byte_view from)
    : type_(type), sizes_(type.count) {
  const std::size_t align = std::max(type.align, alignof(std::max_align_t));
  const std::size_t whole = (std::max<std::size_t>(type.size, 1) + align - 1) / align * align;
  object_.reset(static_cast<char*>(std::aligned_alloc(align, whole)));
  if (object_ == nullptr) throw std::bad_alloc();
  char* const at = object_.get();
  std::memset(at, 0, whole);
  byte_source in(from);
  for (std::size_t i = 0; i < type.count; ++i) {
    const sukima_member& m = type.members[i];
    if (has_known_length(m)) {
      sizes_[i] = size_of_array(m, at);
      if (in.number<std::uint8_t>() == 0) continue;
      const byte_view elements = take(in, has(m, SUKIMA_IN) ? sizes_[i] : 0);
      char* const array = new_array(sizes_[i]);
      copy(array, elements);
      set_array(m, at, array);
    } else if (has(m, SUKIMA_IN)) {
      copy(at + m.offset, take(in, m.size));
    }
  }
  check_end(in);
}

received_object::~received_object() {
  std::set<char*> made;  // arrays made by the task; two members may share one
  for (const sukima_member& m : members_of(type_))
    if (has(m, SUKIMA_ARRAY) && has(m, SUKIMA_OUT)) made.insert(array_at(m, object_.get()));
  for (char* const array : made)
    if (!is_own(array)) std::free(array);
}

void received_object::put_result(bytes& to) const {
  const char* const at = object_.get();
  byte_sink out(to);
  for (std::size_t i = 0; i < type_.count; ++i) {
    const sukima_member& m = type_.members[i];
    if (!has(m, SUKIMA_OUT)) continue;
    if (has(m, SUKIMA_ARRAY))
      put_array(array_at(m, at), has(m, SUKIMA_LATE) ? size_of_array(m, at) : sizes_[i], out);
    else
      out.raw(bytes_at(at + m.offset, m.size));
    if (to.size() > longest) throw std::length_error("sukima: the result of a task is too long to travel");
  }
}

char* received_object::new_array(std::size_t size) {
  // Zero bytes, as in the members of a new task, because this is the room for a result.
  detail::malloced memory(static_cast<char*>(std::calloc(std::max<std::size_t>(size, 1), 1)));
  if (memory == nullptr) throw std::bad_alloc();
  arrays_.push_back({std::move(memory), size});
  return arrays_.back().memory.get();
}

bool received_object::is_own(const char* place) const noexcept {
  return std::any_of(arrays_.begin(), arrays_.end(), [place](const own_array& a) {
    const std::less_equal<> at_most;
    return at_most(a.memory.get(), place) && at_most(place, a.memory.get() + a.size);
  });
}

}  // namespace sukima::cluster
