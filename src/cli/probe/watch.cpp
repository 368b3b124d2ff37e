// SPDX-License-Identifier: Apache-2.0
// `sukima probe --watch`; see watch.hpp.
#include "probe/watch.hpp"

#include <fmt/format.h>
#include <sukima/capacity.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <thread>

#include "capacity/meter.hpp"
#include "probe/answer.hpp"
#include "shared/console.hpp"

namespace sukima::cli::probe {
namespace {

constexpr std::size_t chart_height = 6;
/// Characters of the scale on the left of the chart.
constexpr std::size_t scale_width = 7;
constexpr std::size_t most_values = 1000;

/// Block characters by eighths, from empty to full.
constexpr std::array<const char*, 9> blocks{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

/// The time between two samples.
constexpr std::chrono::milliseconds sampling{100};

/// One measurement.
struct reading {
  sukima_capacity_facts facts;
  sukima_capacity_load load;
  sukima_capacity_estimate estimate;
  sukima_capacity_kind cause;
};

std::string time_of_day() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  return fmt::format("{:02}:{:02}:{:02}", parts.tm_hour, parts.tm_min, parts.tm_sec);
}

/// "1.50", or "?" if the number of CPUs is unknown, as the others' is where /proc/stat cannot be read.
std::string amount_text(double cpus) {
  return std::isnan(cpus) ? std::string("?") : fmt::format("{:.2f}", cpus);
}

/// Prints measurements.
class screen {
 public:
  explicit screen(const watch_options& options)
      : options_(options), terminal_(!options.json && moves_cursor(STDOUT_FILENO)) {}

  void show(const reading& now) {
    if (now.load.host_malformed != 0 && !complained_) {
      complain(
          "the message of this machine's host is malformed and is ignored: docs/estimating.md has its "
          "format");
      complained_ = true;
      lines_ = 0;  // the chart continues below
    }
    const char* const basis = sukima_capacity_basis_name(now.estimate.basis);
    if (options_.json) {
      fmt::print("{}\n", nlohmann::json{{"schema", json_schema},
                                        {"time", time_of_day()},
                                        {"usable", now.estimate.usable},
                                        {"low", now.estimate.low},
                                        {"high", now.estimate.high},
                                        {"basis", basis},
                                        {"now", now.load.now},
                                        {"others", now.load.others},
                                        {"cap", now.facts.cap},
                                        {"binding", sukima_capacity_kind_name(now.cause)}}
                             .dump());
    } else if (terminal_) {
      draw(now);
    } else {
      fmt::print("{}\n", line_of(now));
    }
    std::fflush(stdout);
  }

 private:
  static std::string line_of(const reading& now) {
    return fmt::format("{}  {:6.2f} CPUs usable ({}), {} used now, {} used by others, at most {}",
                       time_of_day(), now.estimate.usable, sukima_capacity_basis_name(now.estimate.basis),
                       amount_text(now.load.now), amount_text(now.load.others), now.facts.cap);
  }

  /// Returns a line that fits into 80 columns. A longer line would wrap, and redrawing would not replace its
  /// rest.
  static std::string short_line_of(const reading& now) {
    return fmt::format("{}  {:.2f} CPUs usable ({}), {} used, {} by others, at most {}", time_of_day(),
                       now.estimate.usable, sukima_capacity_basis_name(now.estimate.basis),
                       amount_text(now.load.now), amount_text(now.load.others), now.facts.cap);
  }

  void draw(const reading& now) {
    values_.push_back(now.estimate.usable);
    if (values_.size() > most_values) values_.erase(values_.begin());
    const double top = std::max<double>(now.facts.cap, *std::ranges::max_element(values_));
    std::string text = lines_ > 0 ? fmt::format("\r\033[{}A\033[J", lines_) : std::string();
    const std::size_t width = std::max(terminal_width(STDOUT_FILENO), scale_width + 2);
    text += cut_lines(short_line_of(now), width - 1) + "\n\n";
    text += chart(values_, top, width - scale_width - 1, chart_height);
    lines_ = static_cast<std::size_t>(std::ranges::count(text, '\n'));
    fmt::print("{}", text);
  }

  const watch_options& options_;
  bool terminal_;
  std::vector<double> values_;
  std::size_t lines_ = 0;
  bool complained_ = false;
};

}  // namespace

std::string chart(const std::vector<double>& values, double cap, std::size_t width, std::size_t height) {
  const std::size_t shown = std::min(values.size(), width);
  std::string text;
  for (std::size_t row = height; row-- > 0;) {
    const bool labelled = row + 1 == height || row == 0;
    const double scale = cap * static_cast<double>(row + 1) / static_cast<double>(height);
    const std::string label = scale >= 1000 ? fmt::format("{:.0f}", scale) : fmt::format("{:.4g}", scale);
    text += labelled ? fmt::format("{:>6} ", row == 0 ? "0" : label) : std::string(scale_width, ' ');
    for (std::size_t i = values.size() - shown; i < values.size(); ++i) {
      const double eighths = std::clamp(values[i] / cap, 0.0, 1.0) * static_cast<double>(height) * 8;
      const long here = std::lround(eighths) - static_cast<long>(row) * 8;
      text += blocks[static_cast<std::size_t>(std::clamp(here, 0L, 8L))];
    }
    text += '\n';
  }
  return text;
}

int watch(const watch_options& options) {
  capacity_meter meter(options.process);
  screen output(options);
  meter.sample();
  const auto interval =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(options.interval));
  pace due(pace::clock::now() + std::min<std::chrono::nanoseconds>(interval, sampling * 2), interval);
  for (unsigned done = 0; is_there(options.process);) {
    const auto left = due.next() - pace::clock::now();
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(left, sampling));
    meter.sample();
    if (!due.take(pace::clock::now())) continue;
    const sukima_capacity_estimate estimate = meter.usable();
    output.show({meter.facts(), meter.load(), estimate, meter.cause(estimate)});
    if (std::ferror(stdout) != 0) break;  // run_command_line reports it
    if (options.count && ++done == *options.count) break;
  }
  return process::exit_success;
}

}  // namespace sukima::cli::probe
