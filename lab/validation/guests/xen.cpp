// SPDX-License-Identifier: Apache-2.0
// Guests of Xen in an emulated machine; see xen.hpp.
#include "guests/xen.hpp"

#include <fmt/format.h>

#include <map>
#include <sstream>
#include <stdexcept>

#include <base/shared/child.hpp>
#include "shared/guest.hpp"

namespace sukima::guests {
namespace {

constexpr std::size_t enough_words = 3000;

/// CPU time of a guest at two times.
struct guest_times {
  double from = 0, to = 0;
  double used_from = 0, used_to = 0;
  std::vector<guest_sample> samples;
};

std::string end_of(const std::string& text) {
  return text.size() <= enough_words ? text : text.substr(text.size() - enough_words);
}

}  // namespace

std::string run_xen(const std::filesystem::path& image, const std::filesystem::path& folder,
                    std::chrono::seconds patience) {
  const std::filesystem::path console = folder / "xen.console";
  const process::child_result machine =
      process::run_child({.arguments = {lab::find_emulator(),
                                        "-nodefaults",
                                        "-no-user-config",
                                        "-no-reboot",
                                        "-display",
                                        "none",
                                        "-accel",
                                        "tcg,thread=multi",
                                        "-m",
                                        "2048",
                                        "-smp",
                                        "2",
                                        "-serial",
                                        "file:" + console.string(),
                                        "-kernel",
                                        (image / "xen").string(),
                                        "-append",
                                        "console=com1 com1=115200 dom0_mem=768M",
                                        "-initrd",
                                        fmt::format("{} console=hvc0 quiet,{}", (image / "vmlinuz").string(),
                                                    (image / "dom0.gz").string())},
                          .environment = {},
                          .input = {},
                          .limit = patience});
  const std::string text = machine.output + machine.errors + lab::text_of(console);
  if (machine.timed_out)
    throw std::runtime_error(fmt::format("Xen did not end within {} s:\n{}", patience.count(), end_of(text)));
  return text;
}

std::vector<comparison> read_xen(const std::string& console, unsigned threads) {
  std::map<std::string, guest_times> guests;
  std::istringstream lines(console);
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    std::istringstream words(line);
    std::string mark;
    words >> mark;
    if (mark == "SUKIMA-FROM" || mark == "SUKIMA-TO") {
      double stamp = 0;
      double used = 0;
      unsigned vcpu = 0;
      std::string name;
      if (!(words >> stamp >> name >> vcpu >> used)) continue;
      guest_times& one = guests[name];
      (mark == "SUKIMA-TO" ? one.to : one.from) = stamp;
      (mark == "SUKIMA-TO" ? one.used_to : one.used_from) += used;
    } else if (mark == "SUKIMA-SAID") {
      std::string name;
      std::string rest;
      words >> name;
      std::getline(words, rest);
      guest_sample found;
      if (parse_sample(rest, 0, found)) guests[name].samples.push_back(found);
    }
  }
  std::vector<comparison> all;
  for (const auto& [name, one] : guests) {
    if (!(one.to > one.from)) continue;  // it printed something, but no times
    // The first domain has selected the lines between the two times.
    all.push_back(
        compare(name, threads, one.samples, 0, 0, (one.used_to - one.used_from) / (one.to - one.from), 0));
  }
  return all;
}

}  // namespace sukima::guests
