// SPDX-License-Identifier: Apache-2.0
// Takes any text as a file of hosts: it is refused with one line that says where, or understood; what is
// understood can be given to ssh and to the name service, and its nodes are counted.
#include "shared/hosts.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>

using namespace sukima::cluster;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void demand(bool kept, const char* promise) {
  if (kept) return;
  std::fprintf(stderr, "the promise is broken: %s\n", promise);
  std::abort();
}

bool is_safe(char c) { return c > ' ' && c <= '~' && c != '\'' && c != ',' && c != '#'; }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::vector<node_place> nodes;
  try {
    nodes = read_hosts(text, "FILE");
  } catch (const hosts_error& error) {
    const std::string sentence = error.what();
    demand(sentence.starts_with("FILE"), "a sentence says where");
    demand(std::all_of(sentence.begin(), sentence.end(), [](char c) { return c >= ' ' && c <= '~'; }),
           "a sentence is one line that can be printed");
    return 0;
  }
  demand(!nodes.empty() && nodes.size() <= most_nodes_on_hosts,
         "there is a node, and there are not too many");
  std::map<std::string, unsigned> of_host;
  for (const node_place& n : nodes) {
    for (const std::string& name : {n.host, n.address}) {
      demand(!name.empty() && name.front() != '-', "a name is no option");
      demand(std::all_of(name.begin(), name.end(), is_safe), "a name has no characters of a shell or a list");
    }
    demand(n.host.find("@-") == n.host.npos && n.address.find('@') == n.address.npos, "a user is no address");
    demand(is_loopback(n.address) == is_loopback(nodes.front().address), "the nodes reach each other");
    demand(n.on_host == of_host[n.host]++, "the nodes of a host are counted from 0");
  }
  for (const node_place& n : nodes)
    demand(n.of_host == of_host[n.host], "each node knows how many a host has");
  return 0;
}
