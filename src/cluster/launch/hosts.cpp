// SPDX-License-Identifier: Apache-2.0
#include "shared/hosts.hpp"

#include <algorithm>
#include <charconv>
#include <map>

namespace sukima::cluster {

namespace {

constexpr std::string_view digits = "0123456789";
constexpr std::string_view address_characters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:%";
constexpr std::size_t longest_name = 255;

/// Returns the words of one line, without its comment.
std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view blanks = " \t\r\v\f";
  line = line.substr(0, line.find('#'));
  std::vector<std::string_view> words;
  for (std::size_t at = 0; (at = line.find_first_not_of(blanks, at)) != line.npos;) {
    const std::size_t end = std::min(line.find_first_of(blanks, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

bool is_name(std::string_view word) {
  return !word.empty() && word.size() <= longest_name && word.front() != '-' &&
         word.find_first_not_of(address_characters) == word.npos;
}

/// Whether a word is NAME or USER@NAME. A part that begins with `-` would be an option of ssh.
bool is_host(std::string_view word) {
  const std::size_t at = word.find('@');
  return at == word.npos ? is_name(word) : is_name(word.substr(0, at)) && is_name(word.substr(at + 1));
}

bool is_number(std::string_view word) { return word.find_first_not_of(digits) == word.npos; }

/// Returns a word in printable form on one line.
std::string shown(std::string_view word) {
  constexpr std::size_t most = 40;
  std::string text(word.substr(0, most));
  for (char& c : text)
    if (c < ' ' || c > '~') c = '?';
  return word.size() > most ? text + "..." : text;
}

class reader {
 public:
  explicit reader(const std::string& file) : file_(file) {}

  void take(std::string_view line) {
    ++line_;
    const std::vector<std::string_view> words = words_of(line);
    if (words.empty()) return;
    const std::string_view host = words[0];
    if (host.front() == '-')
      fail("the host '" + shown(host) + "' begins with '-', as an option of ssh does: give a name");
    if (!is_host(host)) fail("'" + shown(host) + "' is not a host: write HOST [NODES] [ADDRESS]");
    const bool counts = words.size() > 1 && is_number(words[1]);
    const unsigned nodes = counts ? count_of(words[1]) : 1;
    const std::size_t rest = counts ? 2 : 1;
    if (words.size() > rest + 1)
      fail("'" + shown(words[rest + 1]) + "' is one word too many: write HOST [NODES] [ADDRESS]");
    const std::string_view address = words.size() > rest ? words[rest] : host.substr(host.find('@') + 1);
    if (!is_name(address))
      fail("'" + shown(address) + "' is not an address: give a name or a number, without a port");
    if (!nodes_.empty() && is_loopback(address) != is_loopback(nodes_.front().address))
      fail("'" + shown(is_loopback(address) ? address : nodes_.front().address) +
           "' means a different machine on each host: give an address that all nodes can reach");
    if (nodes > most_nodes_on_hosts - nodes_.size())
      fail("the lines name too many nodes: give at most " + std::to_string(most_nodes_on_hosts) +
           " in all lines together");
    for (unsigned n = 0; n < nodes; ++n)
      nodes_.push_back({std::string(host), std::string(address), of_host_[std::string(host)]++, 0});
  }

  std::vector<node_place> end() {
    if (nodes_.empty()) throw hosts_error(file_ + " names no host: write lines HOST [NODES] [ADDRESS]");
    for (node_place& n : nodes_) n.of_host = of_host_.at(n.host);
    return std::move(nodes_);
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw hosts_error(file_ + ":" + std::to_string(line_) + ": " + why);
  }
  unsigned count_of(std::string_view word) const {
    unsigned count = 0;
    if (std::from_chars(word.data(), word.data() + word.size(), count).ec != std::errc{})
      count = most_nodes_on_hosts + 1;
    if (count == 0) fail("0 nodes are too few: give 1 or more, or leave the line out");
    return count;
  }

  const std::string& file_;
  unsigned line_ = 0;
  std::vector<node_place> nodes_;
  std::map<std::string, unsigned> of_host_;  ///< number of nodes of each host
};

}  // namespace

std::vector<node_place> read_hosts(std::string_view text, const std::string& file) {
  reader all(file);
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";  // some editors begin a file with it
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    all.take(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all.end();
}

}  // namespace sukima::cluster
