// A parallel log analysis: readers cut files into blocks of lines, parsers count what they find, one object
// merges the counts.
// Arguments: files; without them one that it writes itself, whose counts it knows.
#include <sukima/objects.hpp>

#include <unistd.h>
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using sukima::objects::capacity;
using sukima::objects::in;
using sukima::objects::out;

struct counts {
  long lines = 0;
  std::map<std::string, long> by_status;  ///< the last word of a line that is a number of three digits
};

void read_blocks(const std::string& path, out<std::string> blocks) {
  std::ifstream file(path, std::ios::binary);
  std::string block, rest;
  while (file) {
    block = std::exchange(rest, {});
    const std::size_t before = block.size();
    block.resize(before + 65536);
    file.read(block.data() + before, 65536);
    block.resize(before + static_cast<std::size_t>(file.gcount()));
    // What follows the last line end belongs to the next block.
    if (const std::size_t end = block.rfind('\n'); file && end != std::string::npos) {
      rest = block.substr(end + 1);
      block.resize(end + 1);
    }
    if (!block.empty()) blocks.send(std::move(block));
  }
}

void count_line(std::string_view line, counts& into) {
  ++into.lines;
  const std::string_view word = line.substr(line.find_last_of(' ') + 1);
  if (word.size() == 3 && std::isdigit(static_cast<unsigned char>(word[0])) != 0)
    ++into.by_status[std::string(word)];
}

void parse(in<std::string> blocks, out<counts> results) {
  for (const std::string& block : blocks) {
    counts found;
    for (std::string_view rest = block; !rest.empty();) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      count_line(rest.substr(0, end), found);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    results.send(std::move(found));
  }
}

void merge(in<counts> results, counts& all) {
  for (const counts& one : results) {
    all.lines += one.lines;
    for (const auto& [status, number] : one.by_status) all.by_status[status] += number;
  }
}

counts analyse(const std::vector<std::string>& files) {
  sukima::objects::program p;
  const auto blocks = p.stream<std::string>("blocks", capacity{16});
  const auto results = p.stream<counts>("results");
  for (std::size_t i = 0; i < files.size(); ++i)  // the same file may be named twice
    p.object("read " + std::to_string(i) + ": " + files[i], read_blocks, files[i], blocks.out());
  for (int i = 0; i < 3; ++i) p.object("parse " + std::to_string(i), parse, blocks.in(), results.out());
  counts all;
  p.object("merge", merge, results.in(), std::ref(all));
  p.run();
  return all;
}

/// 100,000 lines: each tenth has status 404, each thousandth 500.
std::string write_sample() {
  const auto path = std::filesystem::temp_directory_path() / ("sukima-log-" + std::to_string(getpid()));
  std::ofstream file(path);
  for (int i = 0; i < 100'000; ++i)
    file << "10.0.0." << i % 256 << " GET /page/" << i << ' '
         << (i % 1000 == 0 ? "500"
             : i % 10 == 0 ? "404"
                           : "200")
         << '\n';
  return path;
}

int main(int argc, char** argv) {
  std::vector<std::string> files(argv + 1, argv + argc);
  std::string sample;
  if (files.empty()) files = {sample = write_sample()};
  const counts found = analyse(files);
  if (!sample.empty()) std::filesystem::remove(sample);
  std::printf("%ld lines\n", found.lines);
  for (const auto& [status, number] : found.by_status) std::printf("%s: %ld\n", status.c_str(), number);
}
