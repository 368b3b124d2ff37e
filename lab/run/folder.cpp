// SPDX-License-Identifier: Apache-2.0
// The folder of a run; see folder.hpp.
#include "shared/folder.hpp"

#include <capacity/shared/output_file.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <base/shared/read_text.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "experiment/json_place.hpp"

namespace sukima::lab {

namespace fs = std::filesystem;

namespace {

constexpr const char* facts_name = "the description of the runs";

std::map<std::string, std::string> read_texts(const place& from) {
  from.expect_printable_names();
  std::map<std::string, std::string> texts;
  for (const auto& [name, unused] : from.value().items()) texts[name] = from.member(name.c_str()).text(4000);
  return texts;
}

std::string fact(const run_facts& facts, const std::string& name) {
  for (const auto& [key, value] : facts.machine)
    if (key == name) return value;
  return {};
}

std::string differ(const std::string& property, const std::string& before, const std::string& now) {
  const auto shown = [](const std::string& text) { return text.empty() ? "not set" : "'" + text + "'"; };
  return "its " + property + " is " + shown(before) + ", here it is " + shown(now);
}

/// A version that differs from that of the runs.
std::string other_versions(const run_facts& before, const std::map<std::string, std::string>& now) {
  for (const auto& [name, version] : now)
    if (const auto known = before.versions.find(name);
        known != before.versions.end() && known->second != version)
      return differ("version of " + name, known->second, version);
  return {};
}

/// Returns the length of a file without an incomplete last line. -1: errno is the reason why it cannot be
/// read.
off_t whole_lines(int file, off_t size) {
  std::array<char, 4096> piece{};
  for (off_t end = size; end > 0;) {
    const off_t begin = std::max<off_t>(end - static_cast<off_t>(piece.size()), 0);
    const ssize_t count = pread(file, piece.data(), static_cast<std::size_t>(end - begin), begin);
    if (count < 0 && errno == EINTR) continue;
    if (count >= 0 && count != end - begin) errno = EIO;
    if (count != end - begin) return -1;
    const std::size_t last = std::string_view(piece.data(), static_cast<std::size_t>(count)).rfind('\n');
    if (last != std::string_view::npos) return begin + static_cast<off_t>(last) + 1;
    end = begin;
  }
  return 0;
}

}  // namespace

std::string facts_text(const run_facts& facts) {
  nlohmann::ordered_json document = {{"sukima-lab-runs", 1}, {"machine", json::array()}};
  for (const auto& [name, value] : facts.machine) document["machine"].push_back({name, value});
  document["versions"] = facts.versions;
  document["cpus"] = facts.bed.cpus;
  if (!facts.bed.accelerator.empty()) document["accelerator"] = facts.bed.accelerator;
  document["obstacles"] = facts.bed.obstacles;
  document["quick"] = facts.choice.quick;
  if (facts.choice.repetitions) document["repetitions"] = *facts.choice.repetitions;
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

run_facts parse_facts(std::string_view text) {
  const json document = parse_json<experiment_error>(text, facts_name);
  const place root(document, "", facts_name);
  root.expect_members(
      {"sukima-lab-runs", "machine", "versions", "cpus", "accelerator", "obstacles", "quick", "repetitions"});
  if (root.member("sukima-lab-runs").value() != 1)
    root.member("sukima-lab-runs").fail("only version 1 is known");
  run_facts result;
  root.member("machine").each([&](const place& one) {
    std::vector<std::string> words;
    one.each([&](const place& word) { words.push_back(word.text()); });
    if (words.size() != 2) one.fail("must be a name and a value");
    result.machine.emplace_back(words[0], words[1]);
  });
  result.versions = read_texts(root.member("versions"));
  result.bed.cpus = static_cast<unsigned>(root.member("cpus").whole(1, 65536));
  result.choice.cpus = result.bed.cpus;
  if (root.has("accelerator")) result.bed.accelerator = root.member("accelerator").name();
  result.bed.obstacles = read_texts(root.member("obstacles"));
  result.choice.quick = root.member("quick").flag();
  if (root.has("repetitions"))
    result.choice.repetitions = static_cast<unsigned>(root.member("repetitions").whole(1, 1000));
  return result;
}

std::string variables_text(const char* const* environment) {
  std::vector<std::string> variables;
  for (; *environment != nullptr; ++environment)
    if (std::string_view(*environment).starts_with("SUKIMA_")) variables.push_back(on_one_line(*environment));
  std::ranges::sort(variables);
  std::string text;
  for (const std::string& one : variables) text += (text.empty() ? "" : " ") + one;
  // As the file stores it: invalid bytes are replaced, and no character is cut.
  text = json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace)).get<std::string>();
  std::size_t end = std::min<std::size_t>(text.size(), 2000);
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end);
}

void learn(run_facts& facts, const std::string& accelerator,
           const std::map<std::string, std::string>& versions) {
  std::string why = other_versions(facts, versions);
  if (!facts.bed.accelerator.empty() && facts.bed.accelerator != accelerator)
    why = differ("accelerator of virtual machines", facts.bed.accelerator, accelerator);
  if (!why.empty())
    throw experiment_error("the folder is of other runs: " + why + "; choose another --folder");
  facts.bed.accelerator = accelerator;
  facts.versions.insert(versions.begin(), versions.end());
}

std::string difference(const run_facts& before, const run_facts& now) {
  for (const char* name : {"cpu", "kernel", variables_fact})
    if (fact(before, name) != fact(now, name)) return differ(name, fact(before, name), fact(now, name));
  if (std::string why = other_versions(before, now.versions); !why.empty()) return why;
  if (before.bed.cpus != now.bed.cpus)
    return "it has runs on " + std::to_string(before.bed.cpus) + " CPUs, here are " +
           std::to_string(now.bed.cpus);
  if (before.choice.quick != now.choice.quick)
    return before.choice.quick ? "it has quick runs: give --quick"
                               : "its runs are not quick: leave out --quick";
  return {};
}

std::string read_text(const fs::path& file) {
  std::error_code ignored;
  // Such as /dev/zero, which does not end.
  if (fs::is_character_file(file, ignored))
    throw experiment_error("'" + file.string() + "' cannot be read: it is a device; give a file");
  auto text = read_file_text(file);
  if (!text) throw experiment_error("'" + file.string() + "' cannot be read: " + read_error());
  return *std::move(text);
}

recorded_runs read_folder(const fs::path& folder) {
  const auto in_file = [&](const fs::path& file, auto read) {
    const std::string text = read_text(file);
    try {
      return read(text);
    } catch (const experiment_error& error) {
      throw experiment_error("'" + file.string() + "': " + error.what());
    }
  };
  recorded_runs result;
  std::error_code ignored;
  if (!fs::exists(folder / "machine.json", ignored))
    throw experiment_error("'" + folder.string() +
                           "' has no machine.json: give the folder of a 'sukima lab run' or 'all'");
  result.facts = in_file(folder / "machine.json", parse_facts);
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder / "experiments", error))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  if (error)
    throw experiment_error("'" + (folder / "experiments").string() + "' cannot be read: " + error.message());
  std::ranges::sort(files);
  for (const fs::path& file : files) result.experiments.push_back(in_file(file, parse_experiment));
  const fs::path runs = folder / "runs.jsonl";
  result.records = parse_records(fs::exists(runs, ignored) ? read_text(runs) : "", "'" + runs.string() + "'");
  return result;
}

record_file::record_file(const fs::path& file)
    : path_(file), file_(open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
  if (!file_) throw std::system_error(errno, std::generic_category(), file.string());
  if (flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    throw experiment_error("another run writes to '" + file.string() +
                           "': wait for its end, or choose another folder");
  }
  struct stat status{};
  if (fstat(file_.get(), &status) == 0 && S_ISREG(status.st_mode)) {
    const off_t whole = whole_lines(file_.get(), status.st_size);
    if (whole < 0 || (whole != status.st_size && ftruncate(file_.get(), whole) != 0))
      throw std::system_error(errno, std::generic_category(), file.string());
  }
}

void record_file::append(const record& one) {
  const std::string line = record_line(one) + "\n";
  struct stat before{};
  fstat(file_.get(), &before);
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t count = write(file_.get(), line.data() + done, line.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      const int why = count < 0 ? errno : EIO;
      // Half a line must not stay where the next run appends.
      if (S_ISREG(before.st_mode) && ftruncate(file_.get(), before.st_size) != 0) static_cast<void>(0);
      throw std::system_error(why, std::generic_category(), path_.string());
    }
    done += static_cast<std::size_t>(count);
  }
}

void write_text(const fs::path& file, const std::string& text) {
  cap_output_file out;
  int error = cap_output_open(&out, file.c_str());
  if (error == 0) {
    std::fwrite(text.data(), 1, text.size(), out.stream);
    error = cap_output_close(&out, true);
  }
  if (error != 0) throw std::system_error(error, std::generic_category(), file.string());
}

}  // namespace sukima::lab
