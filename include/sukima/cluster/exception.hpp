// SPDX-License-Identifier: Apache-2.0
// Exceptions that are sent to other nodes: SUKIMA_EXCEPTION(type), and remote_exception for all other types.
#pragma once

#include <sukima/cluster/call.hpp>
#include <sukima/transfer.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace sukima::detail {

/// The functions by which exceptions of one type travel.
struct exception_form {
  const char* name;  ///< the type's mangled name
  /// Appends an exception of this type. \throws what a codec throws
  void (*put)(const std::exception_ptr& thrown, std::vector<std::byte>& to);
  /// Makes an exception of this type from its bytes. \throws what a codec throws
  std::exception_ptr (*make)(std::span<const std::byte> from);
};
/// Registers a form with the nodes of this process; libsukima-cluster keeps the list.
void register_exception_form(const exception_form& form);
struct exception_registration {
  explicit exception_registration(const exception_form& form) { register_exception_form(form); }
};

/// An exception that derives from a standard one with a text, and has no members of its own.
template <class T>
concept is_text_exception =
    std::constructible_from<T, const std::string&> &&
    ((std::derived_from<T, std::runtime_error> && sizeof(T) == sizeof(std::runtime_error)) ||
     (std::derived_from<T, std::logic_error> && sizeof(T) == sizeof(std::logic_error)));

template <class T> struct exception_form_of {
  static_assert(std::same_as<T, std::remove_cvref_t<T>> && !std::is_pointer_v<T>,
                "SUKIMA_EXCEPTION takes the type of an exception that is thrown by value");
  static_assert(
      can_travel<T> || is_text_exception<T>,
      "SUKIMA_EXCEPTION: exceptions of this type cannot travel: give it a sukima::codec, or serialize() "
      "and <sukima/transfer_cereal.hpp>. A type without members of its own that derives from "
      "std::runtime_error or std::logic_error and is made from a std::string needs neither");

  static void put_thrown(const std::exception_ptr& thrown, std::vector<std::byte>& to) {
    try {
      std::rethrow_exception(thrown);
    } catch (const T& e) {
      if constexpr (can_travel<T>) {
        detail::put_value(e, to);
      } else {
        const std::string text = e.what();
        if (T(text).what() != text) throw std::logic_error("the constructor changes the text");
        const auto* const first = reinterpret_cast<const std::byte*>(text.data());
        to.insert(to.end(), first, first + text.size());
      }
    }
  }
  static std::exception_ptr make(std::span<const std::byte> from) {
    if constexpr (can_travel<T>)
      return std::make_exception_ptr(get_value<T>(from));
    else
      return std::make_exception_ptr(T(std::string(reinterpret_cast<const char*>(from.data()), from.size())));
  }
  static const exception_form form;
};
template <class T>
const exception_form exception_form_of<T>::form{typeid(T).name(), exception_form_of<T>::put_thrown,
                                                exception_form_of<T>::make};

}  // namespace sukima::detail

/// \addtogroup cluster
/// @{

/// Lets exceptions of a type travel to other nodes. An exception that a task throws on another node arrives
/// with its type at the join and at the end of cluster::run. Use the macro in one file of the program, or in
/// a header, at namespace scope:
///
///     struct bad_board : std::runtime_error { using runtime_error::runtime_error; };
///     SUKIMA_EXCEPTION(bad_board);
///
/// The type must be able to travel (sukima::can_travel): by a sukima::codec, or by cereal. A type without
/// members of its own that derives from std::runtime_error or std::logic_error and can be made from a
/// std::string travels by its text. Exceptions of all other types arrive as
/// sukima::cluster::remote_exception. So do exceptions of derived types, exceptions that need more than 1
/// MiB, and those whose codec throws or whose constructor changes the text.
#define SUKIMA_EXCEPTION(...)                                                                     \
  [[maybe_unused]] static const ::sukima::detail::exception_registration SUKIMA_DETAIL_NAME_WITH( \
      sukima_exception_, __COUNTER__)(::sukima::detail::exception_form_of<__VA_ARGS__>::form)
/// \cond
#define SUKIMA_DETAIL_NAME_WITH(name, number) SUKIMA_DETAIL_PASTE(name, number)
#define SUKIMA_DETAIL_PASTE(name, number) name##number
/// \endcond

namespace sukima::cluster {

/// Stands for an exception that ended a task on another node, where it had the type type().
class remote_exception : public std::runtime_error {
 public:
  /// \param type  name of the type, as C++ writes it
  /// \param message  the exception's own text; without one, a sentence with its type
  /// \param node  number of the node where it was thrown
  remote_exception(std::string type, const std::string& message, std::uint32_t node)
      : std::runtime_error(message), type_(std::move(type)), node_(node) {}
  /// Returns the name of the type that the exception had on the other node.
  const std::string& type() const noexcept { return type_; }
  /// Returns the number of the node where it was thrown.
  std::uint32_t node() const noexcept { return node_; }

 private:
  std::string type_;
  std::uint32_t node_;
};

}  // namespace sukima::cluster

/// @}
