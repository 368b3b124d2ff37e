// SPDX-License-Identifier: Apache-2.0
// The transport of tcp.hpp: its state, and what its parts do. Each part has a file.
//
//   tcp.cpp          messages and frames of nodes that have met
//   tcp_meeting.cpp  nodes connect to each other, and first learn where the others are
//   tcp_joining.cpp  nodes that come while the others run
//   tcp_calls.cpp    connections among many nodes when they need them
//   tcp_losses.cpp   nodes that are lost or have left, and the news of it
//   tcp_leaving.cpp  the end of this node
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
  ~tcp_transport() override { close_sockets(); }  // runs no handler: the receiver may be gone already
  node_id start(receiver& to, clock::time_point deadline) override;
  unsigned nodes() const noexcept override { return chosen_.own.nodes; }
  bool send(node_id to, bytes&& message) override;
  void wait(clock::time_point until) override;
  void ring() noexcept override {  // one that adds no handler comes before the store of the queued one
    if (!rung_.exchange(true))
      boost::asio::post(io_, [this] { rung_.store(false); });  // partners: each other
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
  /// How long an attempt to call a node may take until that node has proved that it knows the token.
  static constexpr std::chrono::seconds calling_time{10};

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
  struct call_id {
    node_id to;
    std::uint64_t number;
  };
  struct end_of_node {
    node_id node;
    bool has_left;
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
  bool is_peer(const tcp_connection& c) const noexcept {
    const node_id node = c.peer().node;
    return node < peers_.size() && peers_[node].connection.get() == &c;
  }
  /// Whether a node is in the run, as far as this one knows.
  bool is_there(node_id n) const noexcept { return peers_[n].at.port != 0 && !peers_[n].gone; }
  void take(tcp_connection& c, const frame& f);
  void deliver(node_id from, const frame& f);
  bool send_beat(node_id to, bool asks);
  /// \param lost  as in start_failure
  void fail(const std::string& why, int lost = -1);
  /// Calls act() after that time, unless this object ends before.
  template <class Act> void after(clock::duration time, Act act) {
    auto timer = std::make_shared<boost::asio::steady_timer>(io_, time);
    timer->async_wait([timer, act](error_code ended) {
      if (!ended) act();
    });
  }

  // The meeting.

  /// Under hierarchical omission only node 0 knows when the meeting ends: the others wait for its list,
  /// and then for those that it names.
  clock::time_point end_of_meeting() const;
  /// Whether this node meets that one. Node 0 meets all, and so does a node that joins.
  bool is_awaited(node_id node) const noexcept {
    const node_id own = chosen_.own.node;
    return !is_sparse_ || own == 0 || chosen_.sponsor || node == lister() ||
           are_neighbours(own, node, first_free());
  }
  std::size_t missing() const noexcept;
  /// Nodes other than 0 wait for the list, even if it has no node to connect to.
  bool has_met() const noexcept { return missing() == 0 && is_listed_; }
  void look_for_ended_nodes();
  void lose_missing(const std::string& why);
  void accept();
  /// No descriptor is left. Until strangers have gone, this node works.
  void accept_later();
  /// Before one more comes.
  void close_oldest_guests();
  /// Ends the meeting for those that have not come.
  void close_to_guests() noexcept;
  void connect(node_id to, const std::string& host, std::uint16_t port);
  /// \param places  of one node, tried one after the other
  void connect_to_one(node_id to, const std::vector<tcp::endpoint>& places, const std::string& name);
  void connect_later(node_id to, const std::vector<tcp::endpoint>& places, const std::string& name);
  void fail_to_reach(node_id node, const std::string& name, const std::string& why);
  /// \param name of the node that is connected to; empty: it came by itself
  /// \param places of that node
  /// \param call    the number of the call; 0: none
  void begin(tcp::socket socket, handshake::role side, node_id expected, const std::string& name,
             const std::vector<tcp::endpoint>& places, std::uint64_t call = 0);
  bool opened(tcp_connection& c, handshake::role side, node_id expected);
  bytes members() const;
  void send_members();
  void take_members(byte_view list);

  // Nodes that join.

  /// Whether this node joins, and the other one has joined: the run depends on neither.
  bool is_newcomer_beside(node_id node) const noexcept;
  /// Ends the meeting when its time has passed. Only nodes that have joined need not have come.
  void end_meeting_without_newcomers();
  /// Lets this node, which joins, meet the others without that node. If the loss ends the run, the connection
  /// to node 0 ends, too.
  void go_on_without(node_id node);
  /// Ends a node that joins and cannot find the others. It would run the whole program alone.
  void fail_without_list();
  /// Answers a process that joins.
  void answer_with_place(tcp_connection& c);
  place_answer free_place();
  /// Lets another node know which numbers are given. It may become the first living node.
  void send_next_place(tcp_connection& to) const;
  void send_next_place_to_all() const;
  /// Takes a node that joins.
  void admit(tcp_connection& c);
  /// Takes the list of a run that this node joins. The node that sends it is the first one that lives.
  void take_members_of_run(byte_view list);
  /// Records that a node is not there, before this one was. A node that has connected to this one joined
  /// after the list was made.
  void lacks(node_id n);

  // Calls among many nodes.

  /// \returns false: it was gone already
  bool set_gone(node_id node);
  void know_address(node_id node, const member& at);
  /// Uses this connection for all that both nodes send.
  void take_as_peer(tcp_connection& c);
  /// Ends a call to that node. \param keep  its connection, which is used
  void end_call(node_id node, const tcp_connection* keep = nullptr);
  void answer(tcp_connection& c, calls::answer given);
  void take_answer(tcp_connection& c, const frame& f);
  /// Lets the neighbours in the ring be connected.
  void keep_ring();
  void call(node_id to);
  /// The same if that node may be gone.
  void call_in_doubt(node_id node);
  void dial(call_id one);
  /// \param places  still to be tried, the next one first
  /// \param worst   of the others
  void dial_next(call_id one, std::vector<tcp::endpoint> places, call_failure worst);
  void dial_later(call_id one);
  /// An attempt has ended, and the other node has not taken the call by it.
  /// \param why  if it was refused
  void attempt_failed(call_id one, call_failure how, const std::string& why);
  /// The connection of a call has ended without the answer that it is used.
  void call_ended(const tcp_connection& c, call_id one, const std::string& why);

  // Losses and news of them.

  /// Whether nodes that end now do not count as lost: this node leaves, or it has warned the others, which
  /// then end.
  bool is_ending() const noexcept { return leaving_ || warning_; }
  /// \param name as in begin()
  void closed(tcp_connection& c, node_id expected, const std::string& name, const std::string& why);
  /// \param news  what the others are sent, if they are many: lost, gone, or nothing
  void lose(node_id node, const std::string& why, std::optional<frame_kind> news = frame_kind::gone);
  void lose_silent(node_id node);
  /// Takes a node's report that another one was silent. \throws frame_error it is damaged
  void take_report(node_id reporter, byte_view content);
  /// Loses a node after the others have had the time to read the report.
  void lose_after_warning(node_id node, const std::string& why);
  /// \param kind  of the frame: lost or gone
  void send_news(frame_kind kind, byte_view content);
  static bytes gone_frame(node_id node, bool has_left);
  /// Records that a node has left.
  void let_go(node_id node);
  /// \throws frame_error it is damaged
  end_of_node read_news(byte_view content) const;
  void take_news(byte_view content);

  // Leaving.

  void wait_for_leave_request();
  std::uint64_t taken_by_all();
  /// Whether this node calls another one, or has to.
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
  boost::asio::steady_timer looks_;  ///< for nodes that end during the meeting
  boost::asio::steady_timer warning_time_;
  boost::asio::posix::stream_descriptor leave_requests_;
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

}  // namespace sukima::cluster
