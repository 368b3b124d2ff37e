// SPDX-License-Identifier: Apache-2.0
#include "protocol/handshake.hpp"

#include "protocol/reader.hpp"

#include <string_view>

namespace sukima::cluster {

namespace {

constexpr std::string_view magic = "SUKIMA-CLUSTER-1";
constexpr std::size_t longest_version = 32;
constexpr std::size_t longest_build_id = 128;

byte_view view(std::string_view text) noexcept { return std::as_bytes(std::span(text)); }

bytes hello_of(const identity& who, const digest& nonce) {
  bytes hello;
  byte_sink(hello)
      .raw(view(magic))
      .raw(nonce)
      .number(who.word_size)
      .number(who.nodes)
      .number(who.node)
      .number(who.port)
      .text(who.version)
      .text(who.build_id);
  return hello;
}

identity read_hello(byte_view hello) {
  byte_source source(hello);
  const byte_view word = source.raw(magic.size());
  if (!source.ok() || !std::equal(word.begin(), word.end(), view(magic).begin()))
    throw frame_error("it is no node of Sukima, or of another version");
  source.raw(sizeof(digest));
  identity who;
  who.word_size = source.number<std::uint8_t>();
  who.nodes = source.number<std::uint32_t>();
  who.node = source.number<std::uint32_t>();
  who.port = source.number<std::uint16_t>();
  who.version = source.text(longest_version);
  who.build_id = source.text(longest_build_id);
  if (!source.ok() || !source.rest().empty() || who.node >= who.nodes)
    throw frame_error("its first frame is damaged");
  return who;
}

}  // namespace

handshake::handshake(role side, identity own, std::string token)
    : side_(side),
      own_(std::move(own)),
      token_(std::move(token)),
      own_hello_(hello_of(own_, random_bytes())) {}

std::optional<frame> handshake::begin() {
  if (side_ == role::acceptor) return {};
  return frame{frame_kind::hello, own_hello_};
}

digest handshake::proof(role by) const {
  const bool own_first = side_ == role::connector;
  return mac(view(token_), {view(by == role::connector ? "connector" : "acceptor"),
                            own_first ? own_hello_ : peer_hello_, own_first ? peer_hello_ : own_hello_});
}

digest handshake::key(role by) const {
  const bool own_first = side_ == role::connector;
  return mac(view(token_), {view(by == role::connector ? "from connector" : "from acceptor"),
                            own_first ? own_hello_ : peer_hello_, own_first ? peer_hello_ : own_hello_});
}

handshake::step handshake::take(const frame& arrived) {
  step result;
  if (peer_hello_.empty()) {
    if (arrived.kind != frame_kind::hello) throw frame_error("its first frame is no greeting");
    peer_ = read_hello(arrived.content);
    peer_hello_ = arrived.content;
    if (side_ == role::connector) return result;
    const digest own_proof = proof(role::acceptor);
    result.answers.push_back({frame_kind::hello, own_hello_});
    result.answers.push_back({frame_kind::proof, bytes(own_proof.begin(), own_proof.end())});
    return result;
  }
  const role other = side_ == role::connector ? role::acceptor : role::connector;
  if (arrived.kind != frame_kind::proof || !same_secret(arrived.content, proof(other)))
    throw frame_error("it has another token");
  if (side_ == role::connector) {
    const digest own_proof = proof(role::connector);
    result.answers.push_back({frame_kind::proof, bytes(own_proof.begin(), own_proof.end())});
  }
  result.done = true;
  return result;
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
  if (peer_.nodes != own_.nodes)
    return "another run: " + std::to_string(own_.nodes) + " nodes here, " + std::to_string(peer_.nodes) +
           " at " + there;
  if (peer_.node == own_.node) return "two nodes have the number " + std::to_string(own_.node);
  return {};
}

void handshake::protect(frame_writer& outgoing, frame_reader& incoming) const {
  if (token_.empty()) return;
  outgoing.protect(key(side_));
  incoming.protect(key(side_ == role::connector ? role::acceptor : role::connector));
}

}  // namespace sukima::cluster
