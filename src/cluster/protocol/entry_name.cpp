// SPDX-License-Identifier: Apache-2.0
#include "protocol/entry_name.hpp"

#include "protocol/reader.hpp"

#include <base/shared/exception_text.hpp>

#include <utility>

namespace sukima::cluster {

namespace {

/// Separates the call from its result type. No name contains it.
constexpr char separator = ' ';

/// Returns `f(int)` for `sukima::detail::call_of<&(f(int)), std::tuple<int> >`, and also for `…<&f,
/// std::tuple<int> >`.
std::string called_function(std::string_view call) {
  constexpr std::string_view before = "sukima::detail::call_of<";
  constexpr std::string_view after = ", std::tuple<";
  const std::size_t end = call.rfind(after);
  if (!call.starts_with(before) || end == call.npos) return std::string(call);
  std::string_view parameters = call.substr(end + after.size());
  parameters = parameters.substr(0, parameters.find_last_not_of("> ") + 1);
  call = call.substr(before.size(), end - before.size());
  if (call.starts_with("&(") && call.ends_with("))")) return std::string(call.substr(2, call.size() - 3));
  if (call.starts_with("&")) call.remove_prefix(1);
  return std::string(call) + "(" + std::string(parameters) + ")";
}

std::string readable(std::string_view name) {
  const std::size_t end = name.find(separator);
  if (end == name.npos) return std::string(name);
  const std::string call = demangled(std::string(name.substr(0, end)).c_str());
  return demangled(std::string(name.substr(end + 1)).c_str()) + " " + called_function(call);
}

}  // namespace

std::string name_of(const detail::cluster_entry& called) {
  std::string name = called.call != nullptr ? called.call : "";
  if (called.result_type != nullptr) name += separator + std::string(called.result_type);
  return name;
}

void put_name(bytes& to, std::string_view name) {
  byte_sink(to).number(static_cast<std::uint32_t>(name.size())).raw(std::as_bytes(std::span(name)));
}

std::optional<std::string> take_name(byte_view& from) {
  byte_source source(from);
  const byte_view name = source.raw(source.number<std::uint32_t>());
  if (!source.ok()) return {};
  from = source.rest();
  return text_of(name);
}

std::string sentence_of_difference(std::uint64_t entry, named_call one, named_call other) {
  if (other.node < one.node) std::swap(one, other);
  const auto shown = [](const named_call& c) {
    return "'" + readable(c.name) + "' at node " + std::to_string(c.node);
  };
  return "the nodes' programs differ: entry " + std::to_string(entry) + " calls " + shown(one) + " and " +
         shown(other) + "; each node must make the same entries in the same order";
}

}  // namespace sukima::cluster
