// SPDX-License-Identifier: Apache-2.0
// Long: the meeting and the time after it share the state of each node.
// Meeting: node 0 listens. The others connect to it and send the addresses where they listen themselves. When
// all have arrived, node 0 sends the list of addresses, and each node connects to those with lower numbers.
//
// A node that finds another one silent (transport/heartbeats.hpp) notifies all others first. It continues for
// a while, so that the reports arrive. Then it reports the loss to its own receiver, which ends it. During
// that time the node is in a state (warning_) and does not wait, because handlers of Asio never run the event
// loop.
#include "transport/tcp.hpp"

#include "protocol/reader.hpp"
#include "transport/heartbeats.hpp"
#include "transport/progress_deadline.hpp"
#include "transport/tcp_address.hpp"
#include "transport/tcp_connection.hpp"
#include "transport/tcp_place.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>

namespace sukima::cluster {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;

namespace {

constexpr std::chrono::milliseconds between_attempts{50};
/// Additional time for node 0's list: node 0 sends it when its own time for the meeting ends, which may begin
/// later by this much. Then the others connect to the nodes in the list.
constexpr std::chrono::seconds listing_time{30};
constexpr std::chrono::seconds connecting_time{2};
/// Pause between the polls of a leaving node for acknowledgements.
constexpr std::chrono::milliseconds between_looks{100};

/// Whether another attempt may succeed, because node 0 or its host's network may not have started yet. Of
/// several addresses the last one gives the reason, even if this machine lacks its protocol.
bool may_come_yet(const error_code& error) noexcept {
  return error == asio::error::connection_refused || error == asio::error::host_unreachable ||
         error == asio::error::network_unreachable || error == asio::error::address_family_not_supported ||
         error == boost::system::errc::address_not_available;
}

// Long: the meeting, messages and losses share the state of the connections.
class tcp_transport final : public transport {
 public:
  explicit tcp_transport(tcp_settings chosen)
      : chosen_(std::move(chosen)),
        work_(io_.get_executor()),
        acceptor_(io_),
        accepting_time_(io_),
        beats_(io_, chosen_.own, chosen_.heartbeat,
               {.send = [this](node_id n, bool asks) { return send_beat(n, asks); },
                .on_silent =
                    [this](node_id n) {
                      // A node that stands still does not send the list.
                      if (!meeting_ || (chosen_.survives_losses && n == lister() && !is_listed_))
                        lose_silent(n);
                    }}),
        looks_(io_),
        warning_time_(io_),
        leave_requests_(io_),
        peers_(chosen_.own.nodes),
        next_place_(first_free()),
        is_listed_(chosen_.own.node == 0) {
    for (node_id n = first_free(); n < peers_.size(); ++n)
      if (n != chosen_.own.node && n != lister()) peers_[n].gone = peers_[n].is_free = true;
  }
  ~tcp_transport() override { close_sockets(); }  // runs no handler: the receiver may be gone already
  node_id start(receiver& to, clock::time_point deadline) override {
    receiver_ = &to;
    deadline_ = deadline;
    listen_at(io_, acceptor_, chosen_);
    accept();
    for (node_id n = 0; n < peers_.size(); ++n)
      if (peers_[n].is_free) receiver_->on_left(n);
    if (chosen_.own.node != 0) connect(lister(), chosen_.host, chosen_.port);
    if (chosen_.survives_losses && chosen_.ended_nodes >= 0) {
      keep_from_children(chosen_.ended_nodes);
      look_for_ended_nodes();
    }
    beats_.begin();  // others may have met, and only beats show them this one
    while (failure_.empty() && !has_met() && clock::now() < end_of_meeting())
      io_.run_one_until(end_of_meeting());
    if (failure_.empty() && !has_met()) {
      if (chosen_.sponsor && !is_listed_)
        fail_without_list();
      else if (chosen_.survives_losses)
        lose_missing("it did not come in time");
      else
        end_meeting_without_newcomers();
    }
    // The other side must receive the end of the handshake, the list, or the reason.
    const auto least = clock::now() + std::chrono::seconds(1);
    const auto end = failure_.empty() ? std::max(deadline, least) : least;
    while (is_sending() && clock::now() < end) io_.run_one_until(end);
    if (!failure_.empty()) {
      close_all();
      throw start_failure(failure_, lost_at_meeting_);
    }
    if (chosen_.room == 0) close_to_guests();
    looks_.cancel();
    for (node_id n = 0; n < peers_.size(); ++n) beats_.reset_silence(n);  // silence counts from now on
    meeting_ = false;
    for (const auto& c : std::exchange(asking_, {}))
      if (!c->is_closed()) answer_with_place(*c);
    if (const int requests = fcntl(chosen_.leave_requests, F_DUPFD_CLOEXEC, 0); requests >= 0) {
      leave_requests_.assign(requests);
      wait_for_leave_request();
    }
    return chosen_.own.node;
  }

  unsigned nodes() const noexcept override { return chosen_.own.nodes; }
  bool send(node_id to, bytes&& message) override {
    if (message.size() > largest_message) throw std::length_error("sukima: a message is too long");
    return peers_[to].connection != nullptr &&
           peers_[to].connection->send(frame_kind::data, message, most_queued);
  }

  void wait(clock::time_point until) override {
    std::vector<early_frame> early;
    early.swap(early_);
    for (const early_frame& e : early)
      if (!peers_[e.from].gone) deliver(e.from, e.content);
    if (early.empty()) io_.run_one_until(until);
    io_.poll();
  }

  void ring() noexcept override {  // one that adds no handler comes before the store of the queued one
    if (!rung_.exchange(true)) asio::post(io_, [this] { rung_.store(false); });  // partners: each other
  }
  transport_limits can() const noexcept override {
    return {.sees_losses = true, .takes_joins = chosen_.room != 0};
  }

  std::uint64_t taken_by(node_id to) override {
    return peers_[to].connection != nullptr ? peers_[to].connection->acknowledged() : 0;
  }
  void stop(std::chrono::milliseconds patience) noexcept override {
    leaving_ = true;
    warning_time_.cancel();
    error_code ignored;
    leave_requests_.close(ignored);
    beats_.stop();
    for (peer& p : peers_)
      if (p.connection != nullptr && !p.gone) p.connection->send(frame_kind::leave, {}, ~std::size_t{0});
    progress_deadline end(patience);
    const auto go_on_while = [&](auto&& more) {
      // Acknowledgements raise no event, so we poll.
      for (clock::time_point now = clock::now(); more() && now < end.after(taken_by_all(), now);
           now = clock::now())
        io_.run_one_until(now + between_looks);
    };
    go_on_while([this] { return is_sending(); });
    // A close with something unread would take back what the other side has not read yet.
    for (peer& p : peers_)
      if (p.connection != nullptr) p.connection->end_sending();
    go_on_while([this] {
      for (const auto& c : late_)
        if (!c->is_sending()) c->end_sending();
      return is_connected();
    });
    close_all();
  }

 private:
  std::uint64_t taken_by_all() {
    std::uint64_t sum = 0;
    for (node_id n = 0; n < peers_.size(); ++n) sum += taken_by(n);
    return sum;
  }

  struct peer {
    std::shared_ptr<tcp_connection> connection;
    bool gone = false;  ///< it left, was lost, or has not come
    bool is_free = false;  ///< no node has had this number
    bool is_given = false;  ///< this node has given the number to a process that joins
  };
  struct early_frame {
    node_id from;
    frame content;
  };

  /// Whether the loss of that node need not end the run: its receiver decides.
  bool may_be_lost(node_id node) const noexcept { return chosen_.survives_losses || node >= first_free(); }
  /// Whether a node's report about a lost one counts: no newcomer ends the run of the others.
  bool counts(node_id reporter, node_id lost) const noexcept {
    return may_be_lost(lost) || reporter < first_free();
  }
  /// The first number for nodes that join.
  node_id first_free() const noexcept { return chosen_.own.nodes - chosen_.room; }
  /// The node that sends this one the list of all nodes.
  node_id lister() const noexcept { return chosen_.sponsor.value_or(0); }

  /// \param lost  as in start_failure
  void fail(const std::string& why, int lost = -1) {
    if (!failure_.empty()) return;
    failure_ = why;
    lost_at_meeting_ = lost;
  }
  bool send_beat(node_id to, bool asks) {
    const peer& p = peers_[to];
    if (p.gone || p.connection == nullptr) return false;
    const std::byte question{1};
    p.connection->send(frame_kind::alive, asks ? byte_view(&question, 1) : byte_view{}, most_queued);
    return true;
  }
  void lose_silent(node_id node) {
    const auto time =
        std::chrono::ceil<std::chrono::seconds>(chosen_.heartbeat.period * chosen_.heartbeat.silent_beats);
    bytes number;
    byte_sink(number).number(node);
    for (const peer& p : peers_)
      if (p.connection != nullptr && !p.gone) p.connection->send(frame_kind::lost, number, most_queued);
    const std::string why = "no heartbeat arrived for " + std::to_string(time.count()) + " s";
    if (may_be_lost(node))
      lose(node, why);
    else
      lose_after_warning(node, why);
  }
  /// Loses a node after the others have had the time to read the report.
  void lose_after_warning(node_id node, const std::string& why) {
    if (std::exchange(warning_, true)) return;  // the first loss ends this node
    warning_time_.expires_after(chosen_.warning_time);
    warning_time_.async_wait([this, node, why](error_code error) {
      if (error) return;  // this node leaves
      warning_ = false;
      lose(node, why);
    });
  }
  /// Whether nodes that end now do not count as lost: this node leaves, or it has warned the others, which
  /// then end.
  bool is_ending() const noexcept { return leaving_ || warning_; }
  void lose(node_id node, const std::string& why) {
    peer& p = peers_[node];
    if (p.gone || (node == chosen_.own.node && chosen_.survives_losses)) return;
    if (meeting_ && is_newcomer_beside(node)) {
      go_on_without(node);
      return;
    }
    p.gone = true;
    // If it lives all the same, it sees the end of the connection, and goes on without this node.
    if (chosen_.survives_losses && p.connection != nullptr) p.connection->close();
    receiver_->on_lost(node, why);
    if (!meeting_) return;
    // The list of nodes does not come any more.
    if (node == lister() && !std::exchange(is_listed_, true)) {
      if (chosen_.sponsor)
        fail_without_list();
      else
        lose_missing("node " + std::to_string(node) + " was lost, which knew where it is");
    }
    if (chosen_.own.node == 0 && missing() == 0) send_members();
  }
  /// Ends a node that joins and cannot find the others. It would run the whole program alone.
  void fail_without_list() {
    fail("node " + std::to_string(lister()) + " at " + chosen_.host + ":" + std::to_string(chosen_.port) +
         " gave this node its number, and then ended or refused it: join again");
  }
  void lose_missing(const std::string& why) {
    for (node_id n = 0; n < peers_.size(); ++n)
      if (peers_[n].connection == nullptr) lose(n, why);
  }
  void wait_for_leave_request() {
    leave_requests_.async_wait(asio::posix::stream_descriptor::wait_read, [this](error_code error) {
      std::uint64_t requests = 0;
      if (error) return;  // this node leaves
      if (read(leave_requests_.native_handle(), &requests, sizeof requests) == sizeof requests)
        receiver_->on_leave_request();
      wait_for_leave_request();
    });
  }
  void look_for_ended_nodes() {
    std::vector<char> ended(peers_.size());
    const ssize_t size = pread(chosen_.ended_nodes, ended.data(), ended.size(), 0);
    for (node_id n = 0; static_cast<ssize_t>(n) < size; ++n)
      if (ended[n] != 0 && peers_[n].connection == nullptr) lose(n, "it has ended");
    looks_.expires_after(between_attempts);
    looks_.async_wait([this](error_code error) {
      if (!error && meeting_) look_for_ended_nodes();
    });
  }

  /// Under hierarchical omission only node 0 knows when the meeting ends: the others wait for its list,
  /// and then for those that it names.
  clock::time_point end_of_meeting() const {
    if (!chosen_.survives_losses || chosen_.own.node == 0) return deadline_;
    if (is_listed_) return std::max(deadline_, listed_at_ + connecting_time);
    return peers_[lister()].connection != nullptr ? deadline_ + listing_time : deadline_;
  }
  std::size_t missing() const noexcept {
    return static_cast<std::size_t>(
               std::count_if(peers_.begin(), peers_.end(),
                             [](const peer& p) { return p.connection == nullptr && !p.gone; })) -
           1;  // this one
  }
  /// Nodes other than 0 wait for the list, even if it has no node to connect to.
  bool has_met() const noexcept { return missing() == 0 && is_listed_; }
  bool is_sending() const {
    return std::any_of(unsuitable_.begin(), unsuitable_.end(),
                       [](const auto& c) { return c->is_sending(); }) ||
           std::any_of(peers_.begin(), peers_.end(),
                       [](const peer& p) { return p.connection != nullptr && p.connection->is_sending(); });
  }
  bool is_connected() const {
    return std::any_of(late_.begin(), late_.end(), [](const auto& c) { return !c->is_closed(); }) ||
           std::any_of(peers_.begin(), peers_.end(),
                       [](const peer& p) { return p.connection != nullptr && !p.connection->is_closed(); });
  }
  /// Ends the meeting for those that have not come.
  void close_to_guests() noexcept {
    error_code ignored;
    acceptor_.close(ignored);
    for (const auto& guest : guests_)
      if (const auto c = guest.lock(); c != nullptr && !is_peer(*c)) c->close();
    guests_.clear();
  }
  void close_sockets() noexcept {
    error_code ignored;
    acceptor_.close(ignored);
    for (peer& p : peers_)
      if (p.connection != nullptr) p.connection->close();
    for (const auto& c : unsuitable_) c->close();
    for (const auto& c : late_) c->close();
  }
  void close_all() noexcept {
    close_sockets();
    io_.poll();
  }

  void accept() {
    acceptor_.async_accept([this](error_code error, tcp::socket socket) {
      if (!acceptor_.is_open()) return;
      if (error) {
        accept_later();
        return;
      }
      close_oldest_guests();
      begin(std::move(socket), handshake::role::acceptor, chosen_.own.node, {}, {});
      accept();
    });
  }
  /// No descriptor is left. Until strangers have gone, this node works.
  void accept_later() {
    accepting_time_.expires_after(between_attempts);
    accepting_time_.async_wait([this](error_code ended) {
      if (!ended && acceptor_.is_open()) accept();
    });
  }

  /// Before one more comes.
  void close_oldest_guests() {
    std::vector<std::shared_ptr<tcp_connection>> unproved;
    for (const auto& guest : guests_)
      if (auto c = guest.lock();
          c != nullptr && !c->is_proved() && !c->is_closed() && c->side() == handshake::role::acceptor)
        unproved.push_back(std::move(c));
    const std::size_t most = chosen_.most_unproved + chosen_.own.nodes;
    for (std::size_t n = 0; n + most <= unproved.size(); ++n) unproved[n]->close();
  }

  void connect(node_id to, const std::string& host, std::uint16_t port) {
    std::vector<tcp::endpoint> places;
    try {
      places = addresses_of(io_, chosen_, host, port);
    } catch (const start_failure& failure) {
      // Others may know it. An unknown node 0 is a mistake of the user, so the node does not go on alone.
      if ((chosen_.survives_losses || chosen_.sponsor) && to != lister())
        fail_to_reach(to, {}, failure.what());
      else
        fail(failure.what());
      return;
    }
    connect_to_one(to, places, "node " + std::to_string(to) + " at " + host + ":" + std::to_string(port));
  }

  /// \param places  of one node, tried one after the other
  void connect_to_one(node_id to, const std::vector<tcp::endpoint>& places, const std::string& name) {
    auto socket = std::make_shared<tcp::socket>(io_);
    asio::async_connect(*socket, places,
                        [this, socket, to, places, name](error_code error, const tcp::endpoint&) {
                          if (!error) {
                            unreached_.clear();
                            begin(std::move(*socket), handshake::role::connector, to, name, places);
                          } else if (peers_[to].gone) {
                            return;
                          } else if (may_come_yet(error) && clock::now() < deadline_ && !chosen_.sponsor &&
                                     (to == lister() || !chosen_.survives_losses)) {
                            unreached_ = name + " cannot be reached: " + error.message();
                            connect_later(to, places, name);
                          } else {
                            fail_to_reach(to, name, " cannot be reached: " + error.message());
                          }
                        });
  }

  void connect_later(node_id to, const std::vector<tcp::endpoint>& places, const std::string& name) {
    auto timer = std::make_shared<asio::steady_timer>(io_, between_attempts);
    timer->async_wait([this, timer, to, places, name](error_code ended) {
      if (!ended && !peers_[to].gone) connect_to_one(to, places, name);
    });
  }

  void fail_to_reach(node_id node, const std::string& name, const std::string& why) {
    if (chosen_.survives_losses)
      lose(node, why);
    else if (chosen_.sponsor)
      go_on_without(node);
    else
      fail(name + why, static_cast<int>(node));
  }
  /// Lets this node, which joins, meet the others without that node. If the loss ends the run, the connection
  /// to node 0 ends, too.
  void go_on_without(node_id node) {
    if (node == lister())
      fail_without_list();
    else if (!std::exchange(peers_[node].gone, true))
      receiver_->on_left(node);
  }

  /// Whether this node joins, and the other one has joined: the run depends on neither.
  bool is_newcomer_beside(node_id node) const noexcept {
    return chosen_.sponsor && !chosen_.survives_losses && node >= first_free();
  }
  /// Ends the meeting when its time has passed. Only nodes that have joined need not have come.
  void end_meeting_without_newcomers() {
    for (node_id n = first_free(); n < peers_.size(); ++n)
      if (is_newcomer_beside(n) && n != chosen_.own.node && peers_[n].connection == nullptr) go_on_without(n);
    if (!has_met())
      fail("not all nodes came in time: " + std::to_string(missing()) + " of " +
           std::to_string(chosen_.own.nodes) + " are missing" +
           (unreached_.empty() ? "" : "; " + unreached_));
  }

  /// \param name of the node that is connected to; empty: it came by itself
  /// \param places of that node
  void begin(tcp::socket socket, handshake::role side, node_id expected, const std::string& name,
             const std::vector<tcp::endpoint>& places) {
    keep_from_children(socket.native_handle());
    tcp_connection::events handlers;
    handlers.on_open = [this, side, expected](tcp_connection& c) { return opened(c, side, expected); };
    handlers.on_frame = [this](tcp_connection& c, const frame& f) { take(c, f); };
    handlers.on_bytes = [this](tcp_connection& c) {
      if (is_peer(c)) beats_.reset_silence(c.peer().node);
    };
    handlers.on_closed = [this, expected, name, places](tcp_connection& c, const std::string& why) {
      const bool is_unproved = !is_peer(c) && !c.is_refused() && !c.is_proved() && !name.empty();
      // That node may have too many guests now.
      if (is_unproved && meeting_ && !peers_[expected].gone && clock::now() < deadline_) {
        unreached_ = name + ": " + why;
        connect_later(expected, places, name);
        return;
      }
      closed(c, expected, name, why);
    };
    auto made = std::make_shared<tcp_connection>(
        io_, std::move(socket), handshake(side, chosen_.own, chosen_.token), std::move(handlers));
    // What is known of one that has gone keeps its memory.
    std::erase_if(guests_, [](const auto& guest) { return guest.expired(); });
    guests_.push_back(made);
    if (side == handshake::role::acceptor)
      made->begin_within(chosen_.proving_time);
    else
      made->begin();
  }

  bool opened(tcp_connection& c, handshake::role side, node_id expected) {
    const node_id node = c.peer().node;
    const bool joins = c.peer().asks_for_place() || (node < peers_.size() && peers_[node].is_free &&
                                                     (side == handshake::role::acceptor || node == expected));
    if (joins && leaving_ && (c.peer().asks_for_place() || side == handshake::role::connector)) return false;
    const std::string obstacle = c.obstacle();
    if (!obstacle.empty()) {
      if (!joins) fail(obstacle);  // the run does not depend on nodes that join
      std::erase_if(unsuitable_, [](const auto& old) { return old->is_closed(); });
      unsuitable_.push_back(c.shared_from_this());
      return true;  // it is closed when the other side has received the reason
    }
    if (c.peer().asks_for_place()) {
      if (meeting_)
        asking_.push_back(c.shared_from_this());
      else
        answer_with_place(c);
      return true;  // the other side closes it
    }
    if (joins && leaving_) {  // its list may contain this node
      c.send(frame_kind::leave, {}, ~std::size_t{0});
      late_.push_back(c.shared_from_this());
      return true;
    }
    if (joins) {
      admit(c);
      return true;
    }
    if (peers_[node].gone) return false;  // this node has given it up
    if (peers_[node].connection != nullptr || (side == handshake::role::connector && node != expected)) {
      fail("two nodes have the number " + std::to_string(node));
      return false;
    }
    peers_[node].connection = c.shared_from_this();
    if (chosen_.own.node == 0 && missing() == 0) send_members();
    return true;
  }

  bytes members() const {
    std::vector<member> list;
    for (node_id n = 1; n < peers_.size(); ++n) {
      const peer& p = peers_[n];
      list.push_back(p.gone || p.connection == nullptr ? member{} : member_of(chosen_, *p.connection));
    }
    return write_members(list);
  }
  void send_members() {
    if (std::exchange(has_sent_members_, true)) return;
    for (node_id n = 1; n < peers_.size(); ++n)
      if (!peers_[n].gone) peers_[n].connection->send(frame_kind::members, members(), most_queued);
  }

  /// Answers a process that joins.
  void answer_with_place(tcp_connection& c) {
    c.send(frame_kind::place, write_place(free_place()), most_queued);
  }
  place_answer free_place() {
    const node_id own = chosen_.own.node;
    const auto is_there = [this](node_id n) { return peers_[n].connection != nullptr && !peers_[n].gone; };
    if (!chosen_.survives_losses && own != 0 && !is_there(0))
      return "node 0 has ended its program, so no node can join this run any more";
    for (node_id n = 0; n < own; ++n)
      if (is_there(n)) {
        const member at = member_of(chosen_, *peers_[n].connection);
        return "node " + std::to_string(n) + " gives the places of this run: join at " + at.host + ":" +
               std::to_string(at.port);
      }
    const node_id free = std::max(next_place_, own + 1);
    if (free >= peers_.size())
      return "all " + std::to_string(chosen_.room) +
             " places for nodes that join are taken: start the run with a larger --room";
    if (std::string obstacle = receiver_->obstacle_to_joining(); !obstacle.empty()) return obstacle;
    next_place_ = free + 1;
    peers_[free].is_given = true;
    for (node_id n = 0; n < peers_.size(); ++n)
      if (is_there(n)) send_next_place(*peers_[n].connection);
    return place{.nodes = chosen_.own.nodes, .room = chosen_.room, .node = free, .sponsor = own};
  }
  /// Lets another node know which numbers are given. It may become the first living node.
  void send_next_place(tcp_connection& to) const {
    bytes number;
    byte_sink(number).number(next_place_);
    to.send(frame_kind::place, number, ~std::size_t{0});
  }
  /// Takes a node that joins.
  void admit(tcp_connection& c) {
    const node_id node = c.peer().node;
    peer& p = peers_[node];
    p.connection = c.shared_from_this();
    p.gone = p.is_free = false;
    next_place_ = std::max(next_place_, node + 1);
    beats_.reset_silence(node);
    receiver_->on_joined(node);
    if (!p.is_given) return;
    // However many results wait for that node already: it does not begin before it has the list.
    c.send(frame_kind::members, members(), ~std::size_t{0});
    send_next_place(c);
  }
  /// Takes the list of a run that this node joins. The node that sends it is the first one that lives.
  void take_members_of_run(byte_view list) {
    for (node_id n = 0; n < *chosen_.sponsor; ++n) lacks(n);
    for (node_id n = 0; const member& m : read_members(list, chosen_.own.nodes - 1)) {
      if (++n == chosen_.own.node || n <= *chosen_.sponsor) continue;
      if (m.port == 0) {
        lacks(n);
        continue;
      }
      peers_[n].gone = false;  // awaited, if it has joined, too
      asio::post(io_, [this, n, m] {
        if (!peers_[n].gone && peers_[n].connection == nullptr) connect(n, m.host, m.port);
      });
    }
  }
  /// Records that a node is not there, before this one was. A node that has connected to this one joined
  /// after the list was made.
  void lacks(node_id n) {
    if (peers_[n].connection == nullptr && !std::exchange(peers_[n].gone, true)) receiver_->on_left(n);
  }

  void take_members(byte_view list) {
    is_listed_ = true;
    listed_at_ = clock::now();
    if (chosen_.sponsor) {
      take_members_of_run(list);
      return;
    }
    for (node_id n = 0; const member& m : read_members(list, chosen_.own.nodes - 1)) {
      // One by one: a name service may be slow, and beats go between them.
      if (++n < chosen_.own.node && m.port != 0)
        asio::post(io_, [this, n, m] {
          if (!peers_[n].gone) connect(n, m.host, m.port);
        });
      // A node that joins is in no list of the start.
      if (m.port == 0 && n < first_free()) lose(n, "node 0 has lost it");
    }
  }

  bool is_peer(const tcp_connection& c) const noexcept {
    const node_id node = c.peer().node;
    return node < peers_.size() && peers_[node].connection.get() == &c;
  }

  void take(tcp_connection& c, const frame& f) {
    if (!is_peer(c) || peers_[c.peer().node].gone) return;
    if (f.kind == frame_kind::alive) {
      if (!f.content.empty()) send_beat(c.peer().node, false);
      return;
    }
    if (f.kind == frame_kind::lost) {
      const node_id node = byte_source(f.content).number<std::uint32_t>();
      if (node >= peers_.size()) throw frame_error("it lost a node that does not exist");
      // During the meeting no node need wait for it. If losses end all, the sender's end gives the reason.
      if (!is_ending() && (!meeting_ || may_be_lost(node)) && counts(c.peer().node, node))
        lose(node, "node " + std::to_string(c.peer().node) + " received nothing from it");
      return;
    }
    if (f.kind == frame_kind::place) {
      next_place_ = std::max(next_place_, byte_source(f.content).number<std::uint32_t>());
      return;
    }
    if (f.kind == frame_kind::members && meeting_ && c.peer().node == lister())
      take_members(f.content);
    else if (f.kind == frame_kind::members && chosen_.survives_losses && c.peer().node == lister())
      return;  // this node could not wait for it
    else if (f.kind != frame_kind::data && f.kind != frame_kind::leave)
      throw frame_error("a frame of the meeting came late");
    else if (meeting_)
      early_.push_back({c.peer().node, f});
    else
      deliver(c.peer().node, f);
  }

  void deliver(node_id from, const frame& f) {
    if (f.kind == frame_kind::data) {
      receiver_->on_message(from, f.content);
      return;
    }
    peers_[from].gone = true;
    receiver_->on_left(from);
  }

  /// \param name as in begin()
  void closed(tcp_connection& c, node_id expected, const std::string& name, const std::string& why) {
    if (!is_peer(c)) {
      // A stranger that came by itself is not a lost node.
      if (c.is_refused() && !name.empty()) fail(name + ": " + why);
      if (!c.is_refused() && !name.empty()) fail_to_reach(expected, name, ": " + why);
      return;
    }
    const node_id node = c.peer().node;
    const bool leaves = std::any_of(early_.begin(), early_.end(), [&](const early_frame& e) {
      return e.from == node && e.content.kind == frame_kind::leave;
    });
    if (peers_[node].gone || leaves || is_ending()) return;
    if (!meeting_ || may_be_lost(node))
      lose(node, why);
    else if (chosen_.sponsor)
      go_on_without(node);
    else
      fail("node " + std::to_string(node) + " was lost (" + why + ")", static_cast<int>(node));
  }

  tcp_settings chosen_;
  receiver* receiver_ = nullptr;
  clock::time_point deadline_;
  clock::time_point listed_at_;
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  tcp::acceptor acceptor_;
  asio::steady_timer accepting_time_;
  heartbeats beats_;
  asio::steady_timer looks_;  ///< for nodes that end during the meeting
  asio::steady_timer warning_time_;
  asio::posix::stream_descriptor leave_requests_;
  std::vector<peer> peers_;  ///< by node
  node_id next_place_;  ///< the first number that no node has given to a process that joins
  std::vector<std::shared_ptr<tcp_connection>> unsuitable_;  ///< nodes that cannot work with this one
  std::vector<std::shared_ptr<tcp_connection>> late_;  ///< nodes that joined while this one leaves
  std::vector<std::weak_ptr<tcp_connection>> guests_;  ///< of the meeting, strangers among them
  std::vector<std::shared_ptr<tcp_connection>> asking_;  ///< processes that join, until the nodes have met
  bool has_sent_members_ = false;  ///< node 0
  bool is_listed_;  ///< it has node 0's list of nodes, or is node 0
  bool meeting_ = true;
  bool leaving_ = false;
  bool warning_ = false;  ///< it has found a node silent, and the others read its report now
  std::vector<early_frame> early_;  ///< frames that arrived before start() ended
  std::string failure_;
  int lost_at_meeting_ = -1;  ///< with a failure: as in start_failure
  std::string unreached_;  ///< the node that it last tried to reach, and why that failed
  std::atomic<bool> rung_{false};  ///< sequentially consistent: the handler stores, but reads nothing
};

}  // namespace

std::unique_ptr<transport> make_tcp_transport(tcp_settings chosen) {
  chosen.own.omits = chosen.survives_losses;
  return std::make_unique<tcp_transport>(std::move(chosen));
}

}  // namespace sukima::cluster
