// SPDX-License-Identifier: Apache-2.0
// Measures the costs of messages between simulated objects: objects of one group, run by the library itself.
#pragma once

#include <objects/shared/costs.hpp>

#include <cstddef>
#include <vector>

namespace sukima::calibrate_detail {

/// The median of several measurements, with the quartiles.
struct figure {
  double median = 0;
  objects::model::quartiles spread;
};
/// \pre `values` is not empty
figure figure_of(std::vector<double> values);

/// Combines the costs of both sides of a message to a line of a table.
objects::model::message_cost message_line(objects::model::unit carrier, std::size_t bytes, unsigned cpus,
                                          const figure& sender, const figure& receiver);

/// Measures messages of 8 bytes to 64 KiB, and a switch, on this CPU.
/// \throws std::system_error  memory or the CPU is refused
void measure_simulated(objects::model::cost_table& into, unsigned cpu);

/// Measures the cost, on the first CPU, of ending the wait of an object whose group runs on the second CPU.
/// \pre the costs of messages have been measured
/// \throws std::system_error  memory is refused
void measure_resumes(objects::model::cost_table& into, unsigned first, unsigned second);

}  // namespace sukima::calibrate_detail
