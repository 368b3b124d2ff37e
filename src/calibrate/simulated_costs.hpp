// SPDX-License-Identifier: Apache-2.0
// The costs of messages between simulated objects: objects of one group, run by the library itself.
#pragma once

#include <objects/shared/costs.hpp>

#include <cstddef>
#include <vector>

namespace sukima::calibrate_detail {

/// The median of several measurements, and the quartiles.
struct figure {
  double median = 0;
  objects::model::quartiles spread;
};
/// \pre not empty
figure figure_of(std::vector<double> values);

/// The two sides' costs of a message as they are entered into a table.
objects::model::message_cost message_line(objects::model::unit carrier, std::size_t bytes, unsigned cpus,
                                          const figure& sender, const figure& receiver);

/// Measures messages of 8 bytes, 64 bytes, 1 KiB and 64 KiB, and a switch, on that CPU.
/// \throws std::system_error memory or the CPU is refused
void measure_simulated(objects::model::cost_table& into, unsigned cpu);

/// Measures the cost, on the first CPU, of ending the wait of an object whose group the second CPU runs.
/// \pre the costs of messages are measured
/// \throws std::system_error memory is refused
void measure_resumes(objects::model::cost_table& into, unsigned first, unsigned second);

}  // namespace sukima::calibrate_detail
