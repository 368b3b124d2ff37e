// SPDX-License-Identifier: Apache-2.0
// The state of the TCP transport (tcp.hpp) and its member functions, which are defined in these files:
//
//   tcp.cpp          messages and frames of nodes that have met
//   tcp_meeting.cpp  the meeting: nodes learn the addresses of the others and connect
//   tcp_joining.cpp  nodes that join while the others run
//   tcp_calls.cpp    connections among many nodes, made when needed
//   tcp_losses.cpp   nodes that are lost or have left, and the news about them
//   tcp_leaving.cpp  how this node leaves
#pragma once

#include "protocol/reader.hpp"
#include "transport/call_failure.hpp"
#include "transport/calls.hpp"
#include "transport/heartbeats.hpp"
#include "transport/tcp.hpp"
#include "transport/tcp_address.hpp"
#include "transport/tcp_connection.hpp"
#include "transport/tcp_place.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sukima::cluster {

// Long: the meeting, messages, calls and losses share the state of each node.
class tcp_transport final : public transport {
 public:
  explicit tcp_transport(tcp_settings chosen);
  ~tcp_transport() override { close_sockets(); }  // runs no handler, because the receiver may no longer exist
  node_id start(receiver& to, clock::time_point deadline) override;
  unsigned nodes() const noexcept override { return chosen_.own.nodes; }
  bool send(node_id to, bytes&& message) override;
  void wait(clock::time_point until) override;
  void ring() noexcept override {  // a ring that adds no handler precedes the store of the queued handler
    if (!rung_.exchange(true, std::memory_order_seq_cst))
      boost::asio::post(io_, [this] { rung_.store(false, std::memory_order_seq_cst); });
  }
  transport_limits can() const noexcept override {
    return {.sees_losses = true, .takes_joins = chosen_.room != 0, .is_sparse = is_sparse_};
  }
  std::uint64_t taken_by(node_id to) override {
    return peers_[to].connection != nullptr ? peers_[to].connection->acknowledged() : 0;
  }
  void stop(std::chrono::milliseconds patience) noexcept override;

 private:
  using tcp = boost::asio::ip::tcp;
  using error_code = boost::system::error_code;

  static constexpr std::chrono::milliseconds between_attempts{50};
  /// Longest time of an attempt to call a node, until that node has proved that it knows the token.
  static constexpr std::chrono::seconds calling_time{10};

  struct peer {
    std::shared_ptr<tcp_connection> connection;
    bool gone = false;  ///< the node left, was lost, or did not arrive
    bool is_free = false;  ///< no node has used this number
    bool is_given = false;  ///< this node gave the number to a process that joins
    bool has_left = false;  ///< as the node itself or another node reported
    member at{};  ///< where the node listens, if known
    // Among many nodes, until there is a connection:
    std::weak_ptr<tcp_connection> call;  ///< the call that is under way
    bool can_be_called = false;
    std::vector<bytes> waiting{};  ///< messages to send
    std::size_t waiting_size = 0;  ///< in bytes
  };
  struct early_frame {
    node_id from;
    frame content;
  };
  struct call_id {
    node_id to;
    std::uint64_t number;
  };
  struct end_of_node {
    node_id node;
    bool has_left;
  };

  /// Whether the run may continue after the loss of that node; the receiver decides.
  bool may_be_lost(node_id node) const noexcept { return chosen_.survives_losses || node >= first_free(); }
  /// Whether a report about a lost node counts. A node that joined cannot end the run of the others.
  bool counts(node_id reporter, node_id lost) const noexcept {
    return may_be_lost(lost) || reporter < first_free();
  }
  /// The first number that is reserved for nodes that join.
  node_id first_free() const noexcept { return chosen_.own.nodes - chosen_.room; }
  /// The node that sends the list of all nodes to this one.
  node_id lister() const noexcept { return chosen_.sponsor.value_or(0); }
  bool is_peer(const tcp_connection& c) const noexcept {
    const node_id node = c.peer().node;
    return node < peers_.size() && peers_[node].connection.get() == &c;
  }
  /// Whether a node is in the run, as far as this node knows.
  bool is_there(node_id n) const noexcept { return peers_[n].at.port != 0 && !peers_[n].gone; }
  void take(tcp_connection& c, const frame& f);
  void deliver(node_id from, const frame& f);
  bool send_beat(node_id to, bool asks);
  /// \param lost  as in start_failure
  void fail(const std::string& why, int lost = -1);
  /// Calls act() after that time, unless this object is destroyed before.
  template <class Act> void after(clock::duration time, Act act) {
    auto timer = std::make_shared<boost::asio::steady_timer>(io_, time);
    timer->async_wait([timer, act](error_code ended) {
      if (!ended) act();
    });
  }

  // The meeting.

  /// Under hierarchical omission only node 0 knows when the meeting ends. The others wait for its list, and
  /// then for the nodes in it.
  clock::time_point end_of_meeting() const;
  /// Whether this node must meet that one. Node 0 meets all nodes, and so does a node that joins.
  bool is_awaited(node_id node) const noexcept {
    const node_id own = chosen_.own.node;
    return !is_sparse_ || own == 0 || chosen_.sponsor || node == lister() ||
           are_neighbours(own, node, first_free());
  }
  std::size_t missing() const noexcept;
  /// Whether the meeting is complete. Nodes other than 0 also wait for the list, even if it names no node to
  /// meet.
  bool has_met() const noexcept { return missing() == 0 && is_listed_; }
  void look_for_ended_nodes();
  void lose_missing(const std::string& why);
  void accept();
  /// Accepts again after a pause, because no descriptor is left. Meanwhile strangers may close their
  /// connections.
  void accept_later();
  /// Makes room for one more unproved connection.
  void close_oldest_guests();
  /// Stops accepting, and closes connections that are not peers.
  void close_to_guests() noexcept;
  void connect(node_id to, const std::string& host, std::uint16_t port);
  /// \param places  addresses of one node, tried one after the other
  void connect_to_one(node_id to, const std::vector<tcp::endpoint>& places, const std::string& name);
  void connect_later(node_id to, const std::vector<tcp::endpoint>& places, const std::string& name);
  void fail_to_reach(node_id node, const std::string& name, const std::string& why);
  /// \param name   the name of the node that this node connected to; empty: the other side connected
  /// \param places the addresses of that node
  /// \param call    the number of the call; 0: none
  void begin(tcp::socket socket, handshake::role side, node_id expected, const std::string& name,
             const std::vector<tcp::endpoint>& places, std::uint64_t call = 0);
  bool opened(tcp_connection& c, handshake::role side, node_id expected);
  bytes members() const;
  void send_members();
  void take_members(byte_view list);

  // Nodes that join.

  /// Whether this node joins, and the other one joined, too. Then the run depends on neither of them.
  bool is_newcomer_beside(node_id node) const noexcept;
  /// Ends the meeting after its deadline. Only nodes that joined may be missing.
  void end_meeting_without_newcomers();
  /// Makes this node, which joins, meet the others without that node. If that loss ends the run, the
  /// connection to node 0 ends, too.
  void go_on_without(node_id node);
  /// Ends a joining node that cannot find the others. Otherwise it would run the whole program alone.
  void fail_without_list();
  /// Sends the answer to a process that wants to join.
  void answer_with_place(tcp_connection& c);
  place_answer free_place();
  /// Sends which numbers are given to another node, because that node may become the first living one.
  void send_next_place(tcp_connection& to) const;
  void send_next_place_to_all() const;
  /// Adds a node that joins.
  void admit(tcp_connection& c);
  /// Takes the list of the run that this node joins. Its sender is the first living node.
  void take_members_of_run(byte_view list);
  /// Records that a node is gone since before this node joined. If a node has connected to this one, it
  /// joined after the list was made, and stays.
  void lacks(node_id n);

  // Calls among many nodes.

  /// \returns false: the node was gone already
  bool set_gone(node_id node);
  void know_address(node_id node, const member& at);
  /// Uses this connection for all messages between both nodes.
  void take_as_peer(tcp_connection& c);
  /// Ends a call to that node. \param keep  the call's connection, if it is used
  void end_call(node_id node, const tcp_connection* keep = nullptr);
  void answer(tcp_connection& c, calls::answer given);
  void take_answer(tcp_connection& c, const frame& f);
  /// Connects this node to its neighbours in the ring.
  void keep_ring();
  void call(node_id to);
  /// Calls a node that may be gone.
  void call_in_doubt(node_id node);
  void dial(call_id one);
  /// \param places  addresses still to be tried, the next one first
  /// \param worst   the worst failure at the others
  void dial_next(call_id one, std::vector<tcp::endpoint> places, call_failure worst);
  void dial_later(call_id one);
  /// Handles an attempt that ended before the other node took the call.
  /// \param why  the reason, if it was refused
  void attempt_failed(call_id one, call_failure how, const std::string& why);
  /// Handles a call's connection that ended before the answer `taken` arrived.
  void call_ended(const tcp_connection& c, call_id one, const std::string& why);

  // Losses and news of them.

  /// Whether nodes that end now do not count as lost: this node leaves, or it has sent a report to the
  /// others, after which they end.
  bool is_ending() const noexcept { return leaving_ || warning_; }
  /// \param name  as in begin()
  void closed(tcp_connection& c, node_id expected, const std::string& name, const std::string& why);
  /// \param news  which news the others are sent, if they are many: lost, gone, or nothing
  void lose(node_id node, const std::string& why, std::optional<frame_kind> news = frame_kind::gone);
  void lose_silent(node_id node);
  /// Takes a node's report that another node was silent. \throws frame_error the report is damaged
  void take_report(node_id reporter, byte_view content);
  /// Loses a node after the others have had time to read the report.
  void lose_after_warning(node_id node, const std::string& why);
  /// \param kind  of the frame: lost or gone
  void send_news(frame_kind kind, byte_view content);
  static bytes gone_frame(node_id node, bool has_left);
  /// Records that a node has left.
  void let_go(node_id node);
  /// \throws frame_error the news is damaged
  end_of_node read_news(byte_view content) const;
  void take_news(byte_view content);

  // Leaving.

  void wait_for_leave_request();
  std::uint64_t taken_by_all();
  /// Whether calls of this node are under way, or needed for queued messages.
  bool has_calls();
  bool is_sending() const;
  bool is_connected() const;
  void close_sockets() noexcept;
  void close_all() noexcept;

  tcp_settings chosen_;
  receiver* receiver_ = nullptr;
  clock::time_point deadline_;
  clock::time_point listed_at_;
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  tcp::resolver resolver_;
  tcp::acceptor acceptor_;
  boost::asio::steady_timer accepting_time_;
  heartbeats beats_;
  boost::asio::steady_timer looks_;  ///< checks for nodes that end during the meeting
  boost::asio::steady_timer warning_time_;
  boost::asio::posix::stream_descriptor leave_requests_;
  const bool is_sparse_;  ///< there are many nodes, and not all are connected to each other
  calls calls_;
  std::mutex links_;  ///< guards the members of peers_ that send() reads: `connection`, `waiting`, …
  std::vector<peer> peers_;  ///< by node
  node_id next_place_;  ///< the first number that was not given to any process
  std::vector<std::shared_ptr<tcp_connection>> unsuitable_;  ///< nodes that cannot work with this one
  std::vector<std::shared_ptr<tcp_connection>> late_;  ///< nodes that join while this one leaves
  std::vector<std::weak_ptr<tcp_connection>> guests_;  ///< connections of the meeting, also of strangers
  std::vector<std::shared_ptr<tcp_connection>> asking_;  ///< processes to join, until the nodes have met
  bool has_sent_members_ = false;  ///< only on node 0
  bool is_listed_;  ///< this node has the list of nodes, or is node 0
  bool meeting_ = true;
  bool leaving_ = false;
  bool has_said_farewell_ = false;
  bool warning_ = false;  ///< this node found another one silent, and its reports are being sent
  std::vector<early_frame> early_;  ///< frames that arrived before start() ended
  std::string failure_;
  int lost_at_meeting_ = -1;  ///< if failure_ is set: as in start_failure
  std::string unreached_;  ///< the node that could not be reached last, and the reason
  /// Sequentially consistent: the handler stores, but reads nothing. pairs with: ring
  std::atomic<bool> rung_{false};
};

}  // namespace sukima::cluster
