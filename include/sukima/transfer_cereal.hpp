// SPDX-License-Identifier: Apache-2.0
// A codec for every type that the library cereal serializes and whose bytes cannot just be copied. Include
// cereal's headers for the standard types that you use before streams of these types are declared.
#pragma once

#include <sukima/transfer.hpp>

#include <cereal/archives/binary.hpp>

#include <istream>
#include <ostream>
#include <streambuf>

namespace sukima {
namespace detail {

/// A stream buffer that appends the written bytes to a vector.
class byte_writer : public std::streambuf {
 public:
  explicit byte_writer(std::vector<std::byte>& to) : to_(to) {}

 protected:
  std::streamsize xsputn(const char* from, std::streamsize size) override {
    const auto* const bytes = reinterpret_cast<const std::byte*>(from);
    to_.insert(to_.end(), bytes, bytes + size);
    return size;
  }
  int_type overflow(int_type c) override {
    if (!traits_type::eq_int_type(c, traits_type::eof())) to_.push_back(static_cast<std::byte>(c));
    return traits_type::not_eof(c);
  }

 private:
  std::vector<std::byte>& to_;
};

/// A stream buffer that reads from memory.
class byte_reader : public std::streambuf {
 public:
  explicit byte_reader(std::span<const std::byte> from) {
    char* const first = const_cast<char*>(reinterpret_cast<const char*>(from.data()));  // it is only read
    setg(first, first, first + from.size());
  }
};

}  // namespace detail

/// \addtogroup objects
/// @{

/// The codec of a type that cereal serializes. `decode` throws cereal::Exception if the received bytes are
/// not such a value.
template <class T>
  requires(!(std::is_trivially_copyable_v<T> && detail::is_plain<T>()) &&
           cereal::traits::is_output_serializable<T, cereal::BinaryOutputArchive>::value &&
           cereal::traits::is_input_serializable<T, cereal::BinaryInputArchive>::value)
struct codec<T> {
  static void encode(const T& value, std::vector<std::byte>& to) {
    detail::byte_writer bytes(to);
    std::ostream stream(&bytes);
    cereal::BinaryOutputArchive archive(stream);
    archive(value);
  }
  static T decode(std::span<const std::byte> from) {
    detail::byte_reader bytes(from);
    std::istream stream(&bytes);
    cereal::BinaryInputArchive archive(stream);
    T value{};
    archive(value);
    return value;
  }
};

/// @}
}  // namespace sukima
