// SPDX-License-Identifier: Apache-2.0
#include "protocol/handshake.hpp"

#include "protocol/reader.hpp"

#include <algorithm>

namespace sukima::cluster {

namespace {

constexpr std::string_view magic = "SUKIMA-CLUSTER-3";
constexpr std::size_t longest_version = 32;
constexpr std::size_t longest_build_id = 128;

byte_view view(std::string_view text) noexcept { return std::as_bytes(std::span(text)); }

bytes hello_of(const identity& sender) {
  bytes hello;
  byte_sink(hello)
      .number(sender.word_size)
      .number(sender.nodes)
      .number(sender.node)
      .number(sender.port)
      .number(static_cast<std::uint8_t>(sender.omits))
      .text(sender.version)
      .text(sender.build_id);
  return hello;
}

identity read_hello(byte_view hello) {
  byte_source source(hello);
  identity sender;
  sender.word_size = source.number<std::uint8_t>();
  sender.nodes = source.number<std::uint32_t>();
  sender.node = source.number<std::uint32_t>();
  sender.port = source.number<std::uint16_t>();
  sender.omits = source.number<std::uint8_t>() != 0;
  sender.version = source.text(longest_version);
  sender.build_id = source.text(longest_build_id);
  if (!source.ok() || !source.rest().empty() ||
      (sender.asks_for_place() ? sender.node != 0 : sender.node >= sender.nodes))
    throw frame_error("it sent a malformed identification");
  return sender;
}

bytes joined(byte_view first, byte_view second) {
  bytes both(first.begin(), first.end());
  both.insert(both.end(), second.begin(), second.end());
  return both;
}

/// \returns false: the number has another size
bool take_number(digest& into, byte_view from) {
  if (from.size() != into.size()) return false;
  std::copy(from.begin(), from.end(), into.begin());
  return true;
}

}  // namespace

handshake::handshake(role side, identity own, std::string token)
    : side_(side),
      own_(std::move(own)),
      token_(std::move(token)),
      next_(side == role::connector ? awaited::challenge : awaited::proof),
      own_number_(random_bytes()) {}

std::optional<frame> handshake::begin() {
  if (side_ == role::connector) return {};
  return frame{frame_kind::challenge, joined(view(magic), own_number_)};
}

digest handshake::mac_of(std::string_view purpose) const {
  const bool own_first = side_ == role::acceptor;
  return mac(view(token_),
             {view(purpose), own_first ? own_number_ : peer_number_, own_first ? peer_number_ : own_number_});
}

handshake::step handshake::take(const frame& arrived) {
  switch (next_) {
    case awaited::challenge:
      return answer_challenge(arrived);
    case awaited::proof:
      return side_ == role::acceptor ? check_connector(arrived) : check_acceptor(arrived);
    case awaited::hello:
      break;
  }
  if (arrived.kind != frame_kind::hello)
    throw frame_error("it sent another frame instead of its identification");
  peer_ = read_hello(arrived.content);
  return {.done = true};
}

handshake::step handshake::answer_challenge(const frame& arrived) {
  const byte_view content = arrived.content;
  const bool is_node = arrived.kind == frame_kind::challenge && content.size() > magic.size() &&
                       std::ranges::equal(content.first(magic.size()), view(magic));
  if (!is_node || !take_number(peer_number_, content.subspan(magic.size())))
    throw frame_error("it is not a Sukima node of this version; check the address");
  next_ = awaited::proof;
  return {.answers = {{frame_kind::proof, joined(own_number_, mac_of("connector"))}}};
}

handshake::step handshake::check_connector(const frame& arrived) {
  const byte_view content = arrived.content;
  if (arrived.kind != frame_kind::proof || content.size() < sizeof(digest))
    throw frame_error("it sent another frame instead of its proof");
  static_cast<void>(take_number(peer_number_, content.first(sizeof(digest))));
  if (!same_secret(content.subspan(sizeof(digest)), mac_of("connector")))
    return {.answers = {{frame_kind::proof, {}}}, .is_refused = true};
  next_ = awaited::hello;
  const digest own_proof = mac_of("acceptor");
  return {.answers = {{frame_kind::proof, bytes(own_proof.begin(), own_proof.end())}},
          .is_proved = true,
          .sealed = frame{frame_kind::hello, hello_of(own_)}};
}

handshake::step handshake::check_acceptor(const frame& arrived) {
  if (arrived.kind != frame_kind::proof || !same_secret(arrived.content, mac_of("acceptor")))
    throw frame_error(another_token);
  next_ = awaited::hello;
  return {.is_proved = true, .sealed = frame{frame_kind::hello, hello_of(own_)}};
}

std::string handshake::obstacle() const {
  const std::string there = "node " + std::to_string(peer_.node);
  if (peer_.version != own_.version)
    return "another version of Sukima: " + own_.version + " here, " + peer_.version + " at " + there +
           "; build the program with one of them";
  if (peer_.word_size != own_.word_size)
    return "another machine: words of " + std::to_string(own_.word_size) + " bytes here, of " +
           std::to_string(peer_.word_size) + " at " + there;
  if (peer_.build_id != own_.build_id)
    return "another program: build id " + own_.build_id.substr(0, 8) + "… here, " +
           peer_.build_id.substr(0, 8) + "… at " + there + "; copy the program, or share its folder";
  if (peer_.asks_for_place() || own_.asks_for_place())
    return peer_.omits == own_.omits
               ? std::string()
               : "another mode: " + std::string(own_.omits ? "with" : "without") + " --hope here, " +
                     (peer_.omits ? "with" : "without") + " it at " + there + "; start all nodes alike";
  if (peer_.nodes != own_.nodes)
    return "another run: " + std::to_string(own_.nodes) + " nodes here, " + std::to_string(peer_.nodes) +
           " at " + there;
  if (peer_.node == own_.node) return "two nodes have the number " + std::to_string(own_.node);
  return {};
}

void handshake::protect(frame_writer& outgoing, frame_reader& incoming) const {
  if (token_.empty()) return;
  const digest from_connector = mac_of("from connector");
  const digest from_acceptor = mac_of("from acceptor");
  outgoing.protect(side_ == role::connector ? from_connector : from_acceptor);
  incoming.protect(side_ == role::connector ? from_acceptor : from_connector);
}

}  // namespace sukima::cluster
