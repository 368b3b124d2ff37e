// SPDX-License-Identifier: Apache-2.0
#include "hosts.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include <base/shared/errors.hpp>

namespace sukima::cli::cluster {

std::vector<sukima::cluster::node_place> read_hosts_file(const std::string& path) {
  constexpr std::size_t most = std::size_t{1} << 20;
  std::string text(most + 1, '\0');
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"), std::fclose);
  if (file) text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (!file || std::ferror(file.get()) != 0)
    throw process::usage_error(
        fmt::format("cannot read '{}': {}: give --hosts a file of lines HOST [NODES] [ADDRESS]", path,
                    std::strerror(errno)));
  if (text.size() > most)
    throw process::usage_error(fmt::format("'{}' has more than 1 MiB: give --hosts another file", path));
  try {
    return sukima::cluster::read_hosts(text, path);
  } catch (const sukima::cluster::hosts_error& error) {
    throw process::usage_error(error.what());
  }
}

std::vector<std::string> split_command(const std::string& option, const std::string& text) {
  std::vector<std::string> words;
  bool is_in_word = false;
  char quote = 0;
  for (const char c : text) {
    const bool is_blank = c == ' ' || c == '\t' || c == '\n';
    if (quote == 0 && is_blank) {
      is_in_word = false;
      continue;
    }
    if (!is_in_word) words.emplace_back();
    is_in_word = true;
    if (quote != 0 ? c == quote : c == '\'' || c == '"')
      quote = quote != 0 ? '\0' : c;
    else
      words.back() += c;
  }
  if (quote != 0) throw process::usage_error(fmt::format("{}: a quote is open: close it", option));
  if (words.empty() || words.front().empty())
    throw process::usage_error(fmt::format("{} names no program: give a command such as ssh", option));
  return words;
}

}  // namespace sukima::cli::cluster
