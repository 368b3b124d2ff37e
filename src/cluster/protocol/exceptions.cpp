// SPDX-License-Identifier: Apache-2.0
#include "protocol/exceptions.hpp"

#include "protocol/reader.hpp"

#include <base/shared/exception_text.hpp>
#include <sukima/cluster/exception.hpp>

#include <cxxabi.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

namespace sukima {

namespace {

struct registered_exceptions {
  std::mutex lock;
  std::vector<const detail::exception_form*> all;  ///< contains each form once
};
/// Made at first use and never destroyed, because static objects of other files register before main in any
/// order.
registered_exceptions& registered() {
  static auto* const exceptions = new registered_exceptions;
  return *exceptions;
}

/// Finds the form of that name. Types that are local to their files may share a name; then the name
/// identifies neither.
/// \returns null: no type has that name, or several have it. Complexity: linear in the registered types
const detail::exception_form* form_named(std::string_view name) {
  registered_exceptions& known = registered();
  const std::lock_guard hold(known.lock);
  const detail::exception_form* found = nullptr;
  for (const detail::exception_form* const form : known.all) {
    if (form->name != name) continue;
    if (found != nullptr) return nullptr;
    found = form;
  }
  return found;
}

}  // namespace

namespace detail {

void register_exception_form(const exception_form& form) {
  registered_exceptions& known = registered();
  const std::lock_guard hold(known.lock);
  if (std::ranges::find(known.all, &form) == known.all.end()) known.all.push_back(&form);
}

}  // namespace detail

namespace cluster {

namespace {

constexpr std::size_t longest_text = 4096;
constexpr std::size_t longest_exception = std::size_t{1} << 20;

struct description {
  std::string type = "unknown";  ///< the type in C++ syntax
  std::string message{};
  std::uint32_t node;  ///< the node where it was thrown
  std::string_view name{};  ///< the mangled name of the type; empty: the exception cannot travel as this type
};

description describe(const std::exception_ptr& thrown, node_id here) {
  description d{.message = "unknown", .node = here};
  try {
    std::rethrow_exception(thrown);
  } catch (const remote_exception& e) {
    return {.type = e.type(), .message = e.what(), .node = e.node()};
  } catch (const std::exception& e) {
    d.name = typeid(e).name();
    d.message = handled_exception_text();
    d.type = demangled(typeid(e).name());
  } catch (...) {
    const std::type_info* const known = abi::__cxa_current_exception_type();
    if (known == nullptr) return d;
    d.name = known->name();
    d.message = d.type = demangled(known->name());
  }
  return d;
}

/// \returns nothing: the exception cannot travel as its own type
std::optional<bytes> encoded(const std::exception_ptr& thrown, std::string_view name) {
  const detail::exception_form* const form = name.size() <= longest_text ? form_named(name) : nullptr;
  if (form == nullptr) return {};
  bytes to;
  try {
    form->put(thrown, to);
  } catch (...) {  // thrown by the user's codec
    return {};
  }
  if (to.size() > longest_exception) return {};
  return to;
}

}  // namespace

bytes write_exception(const std::exception_ptr& thrown, node_id node) {
  const description d = describe(thrown, node);
  const auto content = encoded(thrown, d.name);
  bytes to;
  byte_sink(to)
      .number(d.node)
      .text(std::string_view(d.type).substr(0, longest_text))
      .text(std::string_view(d.message).substr(0, longest_text))
      .text(content ? d.name : std::string_view())
      .raw(content.value_or(bytes()));
  return to;
}

std::exception_ptr read_exception(byte_view from) {
  byte_source source(from);
  const node_id node = source.number<std::uint32_t>();
  const std::string type = source.text(longest_text);
  const std::string message = source.text(longest_text);
  const std::string name = source.text(longest_text);
  const detail::exception_form* const form = source.ok() ? form_named(name) : nullptr;
  if (form != nullptr) {
    try {
      return form->make(source.rest());
    } catch (...) {  // the user's codec threw, or there are too few bytes
    }
  }
  return std::make_exception_ptr(remote_exception(type, message, node));
}

}  // namespace cluster
}  // namespace sukima
