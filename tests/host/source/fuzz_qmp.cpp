// SPDX-License-Identifier: Apache-2.0
// Takes any bytes as what a monitor says: it ends with a sentence or with a machine, or waits for more; and
// how the bytes are cut makes no difference.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "act/plug_dialogue.hpp"
#include "shared/description.hpp"
#include "source/qmp_dialogue.hpp"

namespace host = sukima::host;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void demand(bool kept, const char* promise) {
  if (kept) return;
  std::fprintf(stderr, "the promise is broken: %s\n", promise);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view said(reinterpret_cast<const char*>(data), size);
  host::plug_dialogue plug(4), plug_pieces(4);
  plug.receive(said);
  for (std::size_t at = 0; at < said.size(); at += 3) plug_pieces.receive(said.substr(at, 3));
  demand(plug.ended() == plug_pieces.ended() && plug.failure() == plug_pieces.failure(),
         "cuts make no difference");
  demand(plug.take_commands() == plug_pieces.take_commands(), "each command is given once");
  host::qmp_dialogue whole, pieces;
  whole.receive(said);
  std::string questions;
  for (std::size_t at = 0; at < said.size(); at += 3) {
    pieces.receive(said.substr(at, 3));
    questions += pieces.take_questions();
  }
  demand(whole.ended() == pieces.ended() && whole.failure() == pieces.failure(), "cuts make no difference");
  demand(whole.take_questions() == questions, "each question is asked once");
  if (!whole.ended() || !whole.failure().empty()) return 0;
  const host::qmp_machine& machine = whole.machine();
  demand(machine.pluggable <= host::most_vcpus, "there are not more than there can be");
  for (std::size_t i = 0; i < machine.vcpus.size(); ++i) {
    demand(machine.vcpus[i].thread > 0 && machine.vcpus[i].id <= host::most_id, "numbers are in their range");
    demand(i == 0 || machine.vcpus[i - 1].id < machine.vcpus[i].id, "vCPUs are in order, each once");
  }
  return 0;
}
