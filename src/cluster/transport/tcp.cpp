// SPDX-License-Identifier: Apache-2.0
// Long: the meeting and the time after it share the state of each node.
// Meeting: node 0 listens. The others connect to it and send the addresses where they listen themselves. When
// all have arrived, node 0 sends the list of addresses, and each node connects to those with lower numbers.
// Of many nodes (sparse_graph.hpp) each connects to the neighbours among them only.
//
// Among many nodes a node without a connection to another one calls it when it has a message for it
// (calls.hpp). It learns from others that such a node is gone. A node sends that news to all to which it is
// connected, when it gets it itself. Under hierarchical omission it believes nothing but the end of a
// connection, a call that fails, and the report that a node was silent: on other news of a loss it calls that
// node. Otherwise node 0, which all are connected to, passes on which nodes have left, and which newcomers
// are silent; the loss of another node ends all. So a call that fails is repeated until the news arrives.
// Neighbours in the ring keep connections, and watch each other.
//
// A node that finds another one silent (transport/heartbeats.hpp) notifies all others first. It continues for
// a while, so that the reports arrive. Then it reports the loss to its own receiver, which ends it. During
// that time the node is in a state (warning_) and does not wait, because handlers of Asio never run the event
// loop.
#include "transport/tcp.hpp"

#include "protocol/reader.hpp"
#include "transport/calls.hpp"
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
#include <mutex>
#include <optional>
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
/// How long an attempt to call a node may take until that node has proved that it knows the token.
constexpr std::chrono::seconds calling_time{10};
/// How long a node waits for the call of another one before it repeats its own.
constexpr std::chrono::seconds waiting_time{1};
/// How long the call of a node that is known to have left may take: it may have taken the call before.
constexpr std::chrono::seconds last_call_time{2};
/// Pause between the polls of a leaving node for acknowledgements.
constexpr std::chrono::milliseconds between_looks{100};

/// Whether another attempt may succeed, because node 0 or its host's network may not have started yet. Of
/// several addresses the last one gives the reason, even if this machine lacks its protocol.
bool may_come_yet(const error_code& error) noexcept {
  return error == asio::error::connection_refused || error == asio::error::host_unreachable ||
         error == asio::error::network_unreachable || error == asio::error::address_family_not_supported ||
         error == boost::system::errc::address_not_available;
}
/// Whether no program listens at an address.
bool is_nobody_there(const error_code& error) noexcept {
  return error == asio::error::connection_refused || error == asio::error::timed_out;
}

// Long: the meeting, messages and losses share the state of the connections.
class tcp_transport final : public transport {
 public:
  explicit tcp_transport(tcp_settings chosen)
      : chosen_(std::move(chosen)),
        work_(io_.get_executor()),
        resolver_(io_),
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
        is_sparse_(chosen_.own.nodes > chosen_.most_meshed),
        calls_(chosen_.own.node, chosen_.own.nodes),
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
    if (chosen_.room == 0 && !is_sparse_) close_to_guests();
    looks_.cancel();
    for (node_id n = 0; n < peers_.size(); ++n) beats_.reset_silence(n);  // silence counts from now on
    meeting_ = false;
    keep_ring();
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
    const std::lock_guard hold(links_);
    peer& p = peers_[to];
    if (p.connection != nullptr) return p.connection->send(frame_kind::data, message, most_queued);
    if (!p.can_be_called || p.waiting_size > most_queued) return false;
    p.waiting_size += message.size();
    p.waiting.push_back(std::move(message));
    if (p.waiting.size() == 1) asio::post(io_, [this, to] { call(to); });
    return true;
  }

  void wait(clock::time_point until) override {
    std::vector<early_frame> early;
    early.swap(early_);
    for (const early_frame& e : early)
      if (!peers_[e.from].gone || e.content.kind == frame_kind::gone) deliver(e.from, e.content);
    if (early.empty()) io_.run_one_until(until);
    io_.poll();
  }

  void ring() noexcept override {  // one that adds no handler comes before the store of the queued one
    if (!rung_.exchange(true)) asio::post(io_, [this] { rung_.store(false); });  // partners: each other
  }
  transport_limits can() const noexcept override {
    return {.sees_losses = true, .takes_joins = chosen_.room != 0, .is_sparse = is_sparse_};
  }

  std::uint64_t taken_by(node_id to) override {
    return peers_[to].connection != nullptr ? peers_[to].connection->acknowledged() : 0;
  }
  void stop(std::chrono::milliseconds patience) noexcept override {
    leaving_ = true;
    warning_time_.cancel();
    error_code ignored;
    leave_requests_.close(ignored);
    beats_.stop_judging();
    progress_deadline end_of_calls(patience);
    progress_deadline end(patience);
    const auto go_on_while = [this](auto&& more, progress_deadline& until, auto&& steps) {
      // Acknowledgements raise no event, so we poll.
      for (clock::time_point now = clock::now(); more() && now < until.after(steps(), now);
           now = clock::now())
        io_.run_one_until(now + between_looks);
    };
    const auto go_on_sending_while = [&](auto&& more) {
      go_on_while(more, end, [this] { return taken_by_all(); });
    };
    // Until the neighbours know that this node leaves, it is not silent. Heartbeats do not count as progress.
    go_on_while([this] { return calls_left() != 0; }, end_of_calls, [this] { return calls_left(); });
    beats_.stop();
    for (peer& p : peers_)
      if (p.connection != nullptr && !p.gone) p.connection->send(frame_kind::leave, {}, ~std::size_t{0});
    has_said_farewell_ = true;
    go_on_sending_while([this] { return is_sending(); });
    // A close with something unread would take back what the other side has not read yet.
    for (peer& p : peers_)
      if (p.connection != nullptr) p.connection->end_sending();
    go_on_sending_while([this] {
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
    bool has_left = false;  ///< as it has said, or other nodes
    member at{};  ///< where it listens, once that is known
    // Among many nodes, until there is a connection:
    std::weak_ptr<tcp_connection> call;  ///< that is under way
    bool can_be_called = false;
    std::vector<bytes> waiting{};  ///< messages
    std::size_t waiting_size = 0;  ///< in bytes
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
    if (p.gone || (p.connection == nullptr && (meeting_ || !is_sparse_))) return false;
    if (p.connection == nullptr) {  // it counts as silent until it is reached
      if (!leaving_) call(to);
      return true;
    }
    const std::byte question{1};
    p.connection->send(frame_kind::alive, asks ? byte_view(&question, 1) : byte_view{}, most_queued);
    return true;
  }
  /// \param kind  of the frame: lost or gone
  void send_news(frame_kind kind, byte_view content) {
    for (const peer& p : peers_)
      if (p.connection != nullptr && !p.gone) p.connection->send(kind, content, ~std::size_t{0});
  }
  static bytes gone_frame(node_id node, bool has_left) {
    bytes content;
    byte_sink(content).number(node).number(static_cast<std::uint8_t>(has_left));
    return content;
  }
  void lose_silent(node_id node) {
    const auto time =
        std::chrono::ceil<std::chrono::seconds>(chosen_.heartbeat.period * chosen_.heartbeat.silent_beats);
    bytes number;
    byte_sink(number).number(node);
    send_news(frame_kind::lost, number);
    const std::string why = "no heartbeat arrived for " + std::to_string(time.count()) + " s";
    if (may_be_lost(node))
      lose(node, why, {});
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
  /// \param news  what the others are sent, if they are many: lost, gone, or nothing
  void lose(node_id node, const std::string& why, std::optional<frame_kind> news = frame_kind::gone) {
    peer& p = peers_[node];
    if (p.gone || (node == chosen_.own.node && chosen_.survives_losses)) return;
    if (meeting_ && is_newcomer_beside(node)) {
      go_on_without(node);
      return;
    }
    set_gone(node);
    // If it lives all the same, it sees the end of the connection, and goes on without this node.
    if (chosen_.survives_losses && p.connection != nullptr) p.connection->close();
    receiver_->on_lost(node, why);
    if (is_sparse_ && news && (chosen_.survives_losses || news == frame_kind::lost)) {
      bytes content = gone_frame(node, false);
      if (news == frame_kind::lost) content.resize(sizeof node);
      send_news(*news, content);
    }
    if (!meeting_) keep_ring();
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
      if (peers_[n].connection == nullptr && (is_awaited(n) || peers_[n].at.port == 0)) lose(n, why, {});
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
      if (ended[n] != 0 && peers_[n].connection == nullptr) lose(n, "it has ended", {});
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
  /// Whether this node meets that one. Node 0 meets all, and so does a node that joins.
  bool is_awaited(node_id node) const noexcept {
    const node_id own = chosen_.own.node;
    return !is_sparse_ || own == 0 || chosen_.sponsor || node == lister() ||
           are_neighbours(own, node, first_free());
  }
  std::size_t missing() const noexcept {
    std::size_t count = 0;
    for (node_id n = 0; n < peers_.size(); ++n)
      if (n != chosen_.own.node && peers_[n].connection == nullptr && !peers_[n].gone && is_awaited(n))
        ++count;
    return count;
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
    for (peer& p : peers_) {
      if (p.connection != nullptr) p.connection->close();
      if (const auto c = p.call.lock()) c->close();
    }
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
    else if (set_gone(node))
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
  /// \param call    the number of the call; 0: none
  void begin(tcp::socket socket, handshake::role side, node_id expected, const std::string& name,
             const std::vector<tcp::endpoint>& places, std::uint64_t call = 0) {
    keep_from_children(socket.native_handle());
    tcp_connection::events handlers;
    handlers.on_open = [this, side, expected, call](tcp_connection& c) {
      // Another program may have the port of a node that is gone.
      if ((call == 0 || c.obstacle().empty()) && opened(c, side, expected)) return true;
      if (call != 0) fail_to_call({.to = expected, .number = call}, "another node answers there");
      return false;
    };
    handlers.on_frame = [this](tcp_connection& c, const frame& f) { take(c, f); };
    handlers.on_bytes = [this](tcp_connection& c) {
      if (is_peer(c)) beats_.reset_silence(c.peer().node);
    };
    handlers.on_closed = [this, expected, name, places, call](tcp_connection& c, const std::string& why) {
      if (call != 0 && !is_peer(c)) {
        call_ended(c, {.to = expected, .number = call}, why);
        return;
      }
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
    if (call != 0) peers_[expected].call = made;
    if (side == handshake::role::acceptor)
      made->begin_within(chosen_.proving_time);
    else if (call != 0)
      made->begin_within(calling_time);
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
    if (is_sparse_ && side == handshake::role::connector && node == expected)
      return true;  // it waits for the answer
    if (joins && leaving_) {  // its list may contain this node
      answer(c, calls::answer::taken);
      c.send(frame_kind::leave, {}, ~std::size_t{0});
      late_.push_back(c.shared_from_this());
      return true;
    }
    if (joins) {
      answer(c, calls::answer::taken);
      admit(c);
      return true;
    }
    if (peers_[node].gone) return false;  // this node has given it up
    if (is_sparse_ && !meeting_ && peers_[node].connection != nullptr)
      return false;  // that node has dropped this call
    if (peers_[node].connection != nullptr || (side == handshake::role::connector && node != expected)) {
      fail("two nodes have the number " + std::to_string(node));
      return false;
    }
    if (is_sparse_) {
      const calls::answer given = calls_.answer_to(node);
      answer(c, given);
      if (given == calls::answer::wait) return true;  // the other side closes it
    }
    take_as_peer(c);
    if (chosen_.own.node == 0 && missing() == 0) send_members();
    return true;
  }

  bytes members() const {
    std::vector<member> list;
    for (node_id n = 1; n < peers_.size(); ++n) list.push_back(is_there(n) ? peers_[n].at : member{});
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
    if (!chosen_.survives_losses && own != 0 && !is_there(0))
      return "node 0 has ended its program, so no node can join this run any more";
    for (node_id n = 0; n < own; ++n)
      if (is_there(n)) {
        const member& at = peers_[n].at;
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
    send_next_place_to_all();
    return place{.nodes = chosen_.own.nodes, .room = chosen_.room, .node = free, .sponsor = own};
  }
  /// Lets another node know which numbers are given. It may become the first living node.
  void send_next_place(tcp_connection& to) const {
    bytes number;
    byte_sink(number).number(next_place_);
    to.send(frame_kind::place, number, ~std::size_t{0});
  }
  void send_next_place_to_all() const {
    for (const peer& p : peers_)
      if (p.connection != nullptr && !p.gone) send_next_place(*p.connection);
  }
  /// Takes a node that joins.
  void admit(tcp_connection& c) {
    const node_id node = c.peer().node;
    peer& p = peers_[node];
    p.gone = p.is_free = false;
    take_as_peer(c);
    next_place_ = std::max(next_place_, node + 1);
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
    if (peers_[n].connection == nullptr && set_gone(n)) receiver_->on_left(n);
  }

  void take_members(byte_view list) {
    is_listed_ = true;
    listed_at_ = clock::now();
    if (chosen_.sponsor) {
      take_members_of_run(list);
      return;
    }
    for (node_id n = 0; const member& m : read_members(list, chosen_.own.nodes - 1)) {
      if (++n == chosen_.own.node) continue;
      if (m.port != 0) know_address(n, m);
      // One by one: a name service may be slow, and beats go between them.
      if (n < chosen_.own.node && m.port != 0 && is_awaited(n))
        asio::post(io_, [this, n, m] {
          if (!peers_[n].gone) connect(n, m.host, m.port);
        });
      // A node that joins is in no list of the start.
      if (m.port == 0 && n < first_free()) lose(n, "node 0 has lost it", {});
    }
  }

  bool is_peer(const tcp_connection& c) const noexcept {
    const node_id node = c.peer().node;
    return node < peers_.size() && peers_[node].connection.get() == &c;
  }

  void take(tcp_connection& c, const frame& f) {
    if (is_sparse_ && !is_peer(c) && c.side() == handshake::role::connector) {
      take_answer(c, f);
      return;
    }
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
        lose(node, "node " + std::to_string(c.peer().node) + " received nothing from it", frame_kind::lost);
      return;
    }
    if (f.kind == frame_kind::place) {
      const auto next = byte_source(f.content).number<std::uint32_t>();
      if (next <= next_place_) return;
      next_place_ = next;
      if (is_sparse_) send_next_place_to_all();
      return;
    }
    if (f.kind == frame_kind::members && (meeting_ || chosen_.survives_losses) && c.peer().node == lister()) {
      if (meeting_) take_members(f.content);  // else this node could not wait for it
      return;
    }
    if (f.kind != frame_kind::data && f.kind != frame_kind::leave &&
        (f.kind != frame_kind::gone || !is_sparse_))
      throw frame_error("a frame of the meeting came late");
    if (f.kind == frame_kind::gone) static_cast<void>(read_news(f.content));  // wait() would throw its fault
    if (meeting_)
      early_.push_back({c.peer().node, f});
    else
      deliver(c.peer().node, f);
  }

  void deliver(node_id from, const frame& f) {
    if (f.kind == frame_kind::data) {
      receiver_->on_message(from, f.content);
      return;
    }
    if (f.kind == frame_kind::gone) {
      take_news(f.content);
      return;
    }
    let_go(from);
  }

  // Among many nodes.

  struct call_id {
    node_id to;
    std::uint64_t number;
  };

  /// Whether a node is in the run, as far as this one knows.
  bool is_there(node_id n) const noexcept { return peers_[n].at.port != 0 && !peers_[n].gone; }
  /// \returns false: it was gone already
  bool set_gone(node_id node) {
    peer& p = peers_[node];
    if (std::exchange(p.gone, true)) return false;
    end_call(node);
    const std::lock_guard hold(links_);
    p.can_be_called = false;
    p.waiting = {};
    p.waiting_size = 0;
    return true;
  }
  void know_address(node_id node, const member& at) {
    peers_[node].at = at;
    const std::lock_guard hold(links_);
    peers_[node].can_be_called = is_sparse_ && at.port != 0 && !peers_[node].gone;
  }
  /// Uses this connection for all that both nodes send.
  void take_as_peer(tcp_connection& c) {
    const node_id node = c.peer().node;
    peer& p = peers_[node];
    end_call(node, &c);
    know_address(node, member_of(chosen_, c));
    beats_.reset_silence(node);
    {
      const std::lock_guard hold(links_);
      p.connection = c.shared_from_this();
      for (const bytes& message : p.waiting) c.send(frame_kind::data, message, ~std::size_t{0});
      p.waiting = {};
      p.waiting_size = 0;
    }
    if (!is_sparse_ || meeting_) return;
    for (node_id n = 0; n < peers_.size(); ++n)
      if (peers_[n].gone && !peers_[n].is_free)
        c.send(frame_kind::gone, gone_frame(n, peers_[n].has_left), ~std::size_t{0});
    if (!has_said_farewell_) return;
    c.send(frame_kind::leave, {}, ~std::size_t{0});
    late_.push_back(c.shared_from_this());
  }
  /// Ends a call to that node. \param keep  its connection, which is used
  void end_call(node_id node, const tcp_connection* keep = nullptr) {
    calls_.end(node);
    const auto c = std::exchange(peers_[node].call, {}).lock();
    if (c != nullptr && c.get() != keep) c->close();
  }
  void answer(tcp_connection& c, calls::answer given) {
    const std::byte content{static_cast<std::uint8_t>(given)};
    if (is_sparse_) c.send(frame_kind::answer, byte_view(&content, 1), most_queued);
  }
  void take_answer(tcp_connection& c, const frame& f) {
    const node_id node = c.peer().node;
    if (f.kind != frame_kind::answer || f.content.size() != 1) throw frame_error("it did not answer a call");
    if (f.content.front() == std::byte{static_cast<std::uint8_t>(calls::answer::wait)}) {
      const bool waits = calls_.wait_for(node);
      c.close();
      if (peers_[node].has_left)
        let_go(node);
      else if (!waits)
        call(node);
      else
        after(waiting_time, [this, node] {
          if (calls_.is_waiting_for(node)) call_in_doubt(node);
        });
    } else if (peers_[node].is_free && !leaving_) {
      admit(c);
    } else if (!peers_[node].gone && peers_[node].connection == nullptr) {
      take_as_peer(c);
    } else {
      c.close();
    }
  }

  /// How many nodes this one calls, or has to call.
  std::uint64_t calls_left() {
    const std::lock_guard hold(links_);
    std::uint64_t count = 0;
    for (node_id n = 0; n < peers_.size(); ++n) {
      const peer& p = peers_[n];
      if (p.connection == nullptr && !p.gone && (!p.waiting.empty() || calls_.is_calling(n))) ++count;
    }
    return count;
  }
  /// Lets the neighbours in the ring be connected.
  void keep_ring() {
    if (!is_sparse_ || leaving_) return;
    visit_neighbours(chosen_.own.node, chosen_.own.nodes, [this](node_id n, node_id) {
      if (peers_[n].gone) return false;
      call(n);
      return true;
    });
  }
  void call(node_id to) {
    const peer& p = peers_[to];
    if (p.gone || p.connection != nullptr) return;
    if (const std::uint64_t number = calls_.begin(to)) dial({to, number});
  }
  /// The same if that node may be gone.
  void call_in_doubt(node_id node) {
    calls_.doubt(node);
    call(node);
  }
  void dial(call_id one) {
    const member& at = peers_[one.to].at;
    find_addresses(resolver_, chosen_, at.host, at.port, [this, one](std::vector<tcp::endpoint> places) {
      if (!calls_.is_current(one.to, one.number)) return;
      calls_.pause(one.to, false);
      if (places.empty())
        dial_without_means(one);  // the name service does not answer
      else
        dial_next(one, std::move(places), {});
    });
  }
  /// \param places   still to be tried, the next one first
  /// \param refusal  of a place where no node listens
  void dial_next(call_id one, std::vector<tcp::endpoint> places, const error_code& refusal) {
    if (places.empty()) {
      if (refusal)
        fail_to_call(one, refusal.message());
      else
        dial_later(one);
      return;
    }
    const tcp::endpoint place = places.front();
    places.erase(places.begin());
    const auto socket = std::make_shared<tcp::socket>(io_);
    const auto connected = [this, one, socket, places, refusal](error_code ended) {
      if (!calls_.is_current(one.to, one.number)) return;
      if (!ended)
        begin(std::move(*socket), handshake::role::connector, one.to, {}, {}, one.number);
      else if (is_nobody_there(ended))
        dial_next(one, places, ended);
      else if (may_come_yet(ended) || ended == asio::error::operation_aborted)  // perhaps another address can
        dial_next(one, places, refusal);
      else
        dial_without_means(one);
    };
    error_code error;
    socket->open(place.protocol(), error);
    if (error) {
      connected(error);
      return;
    }
    // Programs that this one starts now would hide the end of this node if they had this socket.
    keep_from_children(socket->native_handle());
    socket->async_connect(place, connected);
    after(calling_time, [weak = std::weak_ptr(socket)] {
      // The operation holds the socket until it ends.
      if (const auto late = weak.lock(); late != nullptr && late->is_open()) late->close();
    });
  }
  void dial_later(call_id one) {
    calls_.pause(one.to, true);
    after(between_attempts, [this, one] {
      if (calls_.is_current(one.to, one.number)) dial(one);
    });
  }
  /// This machine lacks something, which says nothing about the other node.
  void dial_without_means(call_id one) {
    beats_.reset_silence(one.to);
    dial_later(one);
  }
  /// Calls act() after that time, unless this object ends before.
  template <class Act> void after(clock::duration time, Act act) {
    auto timer = std::make_shared<asio::steady_timer>(io_, time);
    timer->async_wait([timer, act](error_code ended) {
      if (!ended) act();
    });
  }
  /// No node answers there.
  void fail_to_call(call_id one, const std::string& why) {
    if (leaving_)
      set_gone(one.to);  // it has ended, too
    else if (peers_[one.to].has_left)
      let_go(one.to);
    else if (chosen_.survives_losses)
      lose(one.to, "it cannot be reached: " + why);
    else
      dial_later(one);  // until the news of it arrives
  }
  /// The connection of a call has ended without the answer that it is used.
  void call_ended(const tcp_connection& c, call_id one, const std::string& why) {
    if (!calls_.is_current(one.to, one.number)) return;
    if (c.is_refused() || (c.is_proved() && leaving_))
      fail_to_call(one, why);
    else if (c.is_proved() && chosen_.survives_losses)
      lose(one.to, "it has lost this node", {});
    else
      dial_later(one);
  }

  /// Records that a node has left.
  void let_go(node_id node) {
    if (!set_gone(node)) return;
    peers_[node].has_left = true;
    receiver_->on_left(node);
    if (!is_sparse_ || leaving_) return;
    send_news(frame_kind::gone, gone_frame(node, true));
    keep_ring();
  }
  struct end_of_node {
    node_id node;
    bool has_left;
  };
  /// \throws frame_error it is damaged
  end_of_node read_news(byte_view content) const {
    byte_source source(content);
    const auto node = source.number<std::uint32_t>();
    const bool has_left = source.number<std::uint8_t>() != 0;
    if (!source.ok() || node >= peers_.size()) throw frame_error("its news is damaged");
    return {node, has_left};
  }
  void take_news(byte_view content) {
    const auto [node, has_left] = read_news(content);
    const peer& p = peers_[node];
    // With a connection, what comes there decides.
    if (node == chosen_.own.node || p.gone || p.connection != nullptr) return;
    if (has_left && calls_.is_calling(node)) {
      peers_[node].has_left = true;  // it may have taken the call, and sent something
      after(last_call_time, [this, node, number = calls_.current(node)] {
        if (calls_.is_current(node, number)) let_go(node);
      });
    } else if (has_left) {
      let_go(node);
    } else if (chosen_.survives_losses && !leaving_) {
      call_in_doubt(node);
    }
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
  tcp::resolver resolver_;
  tcp::acceptor acceptor_;
  asio::steady_timer accepting_time_;
  heartbeats beats_;
  asio::steady_timer looks_;  ///< for nodes that end during the meeting
  asio::steady_timer warning_time_;
  asio::posix::stream_descriptor leave_requests_;
  const bool is_sparse_;  ///< the nodes are many: not each is connected to each other one
  calls calls_;
  std::mutex links_;  ///< guards how peers are reached, which send() reads: `connection`, `waiting`, …
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
  bool has_said_farewell_ = false;
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
