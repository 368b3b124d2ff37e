// SPDX-License-Identifier: Apache-2.0
#include "hope/mediation/bundle.hpp"

#include "protocol/reader.hpp"

namespace sukima::cluster::hope {

namespace {

constexpr std::uint8_t mark = 0x40;

}  // namespace

bytes begin_bundle(bundle_way way) {
  bytes bundle;
  byte_sink(bundle).number(mark).number(static_cast<std::uint8_t>(way));
  return bundle;
}

void put_note(bytes& bundle, const carried_note& one) {
  byte_sink(bundle)
      .number(one.origin)
      .number(static_cast<std::uint32_t>(one.content.size()))
      .raw(one.content);
}

bool is_bundle(byte_view message) noexcept {
  return !message.empty() && message.front() == static_cast<std::byte>(mark);
}

bool read_bundle(byte_view message, unsigned nodes,
                 const std::function<void(bundle_way, const carried_note&)>& take) {
  byte_source source(message);
  if (source.number<std::uint8_t>() != mark) return false;
  const auto way = source.number<std::uint8_t>();
  if (way < static_cast<std::uint8_t>(bundle_way::up) || way > static_cast<std::uint8_t>(bundle_way::log))
    return false;
  while (!source.rest().empty()) {
    carried_note one;
    one.origin = source.number<node_id>();
    one.content = source.raw(source.number<std::uint32_t>());
    if (!source.ok() || one.origin >= nodes || one.content.size() > longest_bundled) return false;
    take(static_cast<bundle_way>(way), one);
  }
  return true;
}

}  // namespace sukima::cluster::hope
