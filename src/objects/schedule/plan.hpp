// SPDX-License-Identifier: Apache-2.0
// Chooses the execution model of a program.
#pragma once

#include "shared/execution_model.hpp"

namespace sukima::objects::detail {

struct program_core;

/// Returns the model that program::model or SUKIMA_OBJECTS names. A plan file also sets the groups of the
/// objects and the capacities of the streams.
/// \throws bad_setting
model::execution_model chosen_model(program_core& p);

/// Whether the runtime's workers run the islands, which can then be divided.
inline bool runs_on_workers(const model::model_parts& how) noexcept {
  return how.name == "workers:simulated";
}

}  // namespace sukima::objects::detail
