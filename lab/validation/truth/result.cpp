// SPDX-License-Identifier: Apache-2.0
// Writes and reads the results as lines of JSON.
#include "truth/result.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

namespace sukima::truth {

namespace {

nlohmann::json json_of(const estimates& values) {
  nlohmann::json list = nlohmann::json::array();
  for (const estimate& one : values) list.push_back({one.low, one.usable, one.high});
  return list;
}

estimates estimates_of(const nlohmann::json& list) {
  estimates values;
  for (std::size_t i = 0; i < values.size(); i++) {
    values[i] = {list.at(i).at(0).get<double>(), list.at(i).at(1).get<double>(),
                 list.at(i).at(2).get<double>()};
  }
  return values;
}

}  // namespace

bool is_disturbed(const cell_result& result, const cell& one) {
  const bool in_root = one.where == place::root_group || one.where == place::own_sessions;
  return result.foreign > most_foreign && (!result.shielded || in_root);
}

void to_json(nlohmann::json& json, const cell_result& result) {
  nlohmann::json changes = nlohmann::json::array();
  for (const after_change& one : result.changes)
    changes.push_back({one.after_seconds, one.estimated_now, one.got});
  json = {{"name", result.name},
          {"got", result.got},
          {"windows", result.windows},
          {"tree_idle", json_of(result.tree_idle)},
          {"tree", json_of(result.tree)},
          {"blind_idle", json_of(result.blind_idle)},
          {"blind", json_of(result.blind)},
          {"changes", changes},
          {"experiment_said", result.experiment_estimate},
          {"experiment_got", result.experiment_got},
          {"shielded", result.shielded},
          {"foreign", result.foreign},
          {"cost", result.cost}};
}

void from_json(const nlohmann::json& json, cell_result& result) {
  json.at("name").get_to(result.name);
  json.at("got").get_to(result.got);
  json.at("windows").get_to(result.windows);
  result.tree_idle = estimates_of(json.at("tree_idle"));
  result.tree = estimates_of(json.at("tree"));
  result.blind_idle = estimates_of(json.at("blind_idle"));
  result.blind = estimates_of(json.at("blind"));
  result.changes.clear();
  for (const nlohmann::json& one : json.at("changes")) {
    result.changes.push_back({one.at(0).get<double>(), one.at(1).get<double>(), one.at(2).get<double>()});
  }
  json.at("experiment_said").get_to(result.experiment_estimate);
  json.at("experiment_got").get_to(result.experiment_got);
  json.at("shielded").get_to(result.shielded);
  json.at("foreign").get_to(result.foreign);
  json.at("cost").get_to(result.cost);
}

std::vector<cell_result> read_results(const std::string& path) {
  std::vector<cell_result> results;
  std::ifstream in(path);
  std::string line;
  for (int number = 1; std::getline(in, line); number++) {
    if (in.eof()) break;  // no newline: the program was interrupted while it wrote the line
    const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
    try {
      results.push_back(json.get<cell_result>());
    } catch (const nlohmann::json::exception&) {
      throw std::runtime_error(
          fmt::format("{}, line {}: this is not a result of sukima-truth; name another file", path, number));
    }
  }
  return results;
}

std::ofstream append_results(const std::string& path) {
  std::error_code missing;
  if (std::filesystem::is_regular_file(path, missing)) {
    std::ifstream in(path);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const std::size_t whole = text.rfind('\n') + 1;  // 0 without a newline
    if (whole != text.size()) std::filesystem::resize_file(path, whole);
  }
  std::ofstream out(path, std::ios::app);
  if (!out)
    throw std::runtime_error(fmt::format("the file {} cannot be written: name another with --file", path));
  return out;
}

}  // namespace sukima::truth
