// SPDX-License-Identifier: Apache-2.0
// This process's node: made by its first entry, from what `sukima cluster run` has said.
#include "entry/environment.hpp"
#include "protocol/build_id.hpp"
#include "steal/node.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace sukima {

namespace cluster {
namespace {

constexpr int status_usage = 2;
constexpr int status_lost = 75;  ///< EX_TEMPFAIL of sysexits.h: running it again may help

/// Ends this process without the program's own ends: they may wait for what will not come.
[[noreturn]] void end_process(const std::string& sentence, int status) {
  std::fflush(nullptr);
  std::fprintf(stderr, "sukima: %s\n", sentence.c_str());
  std::_Exit(status);
}

const char* variable(const char* name) { return std::getenv(name); }

std::optional<tcp_settings> own_settings() {
  try {
    return read_environment(variable);
  } catch (const start_failure& failure) {
    end_process(failure.what(), status_usage);
  }
}

/// The node, as long as the process lives.
class own_node {
 public:
  own_node() {
    std::optional<tcp_settings> settings = own_settings();
    if (!settings) return;
    const form_table forms;
    settings->own.version = SUKIMA_VERSION;
    settings->own.build_id = build_id(forms.places());
    const node_id number = settings->own.node;
    node_options options;
    options.on_loss = [](const std::string& why) { end_process(why, status_lost); };
    try {
      node_ = new node(default_runtime(), make_tcp_transport(std::move(*settings)), std::move(options));
    } catch (const start_failure& failure) {
      end_process("node " + std::to_string(number) + ": " + failure.what(), status_usage);
    }
  }
  /// A child after fork() has no cluster thread, and is no node.
  ~own_node() {
    if (getpid() == process_) delete node_;
  }
  own_node(const own_node&) = delete;
  own_node& operator=(const own_node&) = delete;

  /// Null: the process runs alone.
  node* get() const noexcept { return getpid() == process_ ? node_ : nullptr; }

 private:
  const pid_t process_ = getpid();
  node* node_ = nullptr;
};

}  // namespace

std::uint32_t nodes() {
  static const auto settings = own_settings();
  return settings ? settings->own.nodes : 1;
}

std::uint32_t this_node() {
  static const auto settings = own_settings();
  return settings ? settings->own.node : 0;
}

}  // namespace cluster

namespace detail {

void run_cluster_entry(cluster_entry& entry) {
  if (!is_inside()) {
    static cluster::own_node mine;
    if (cluster::node* const node = mine.get()) {
      node->run(entry);
      return;
    }
  }
  sukima::run([&](context c) { entry.run(entry, c); });
}

}  // namespace detail
}  // namespace sukima
