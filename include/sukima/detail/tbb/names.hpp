// SPDX-License-Identifier: Apache-2.0
// The two names of TBB's namespace.
#pragma once

#if defined(__TBB_task_group_H) || defined(__TBB_parallel_for_H) || defined(__TBB_task_arena_H)
#error "headers of TBB and of sukima::tbb meet: put the folder sukima/tbb-compat first in the include path"
#endif

namespace tbb {}
namespace oneapi {
namespace tbb = ::tbb;
}
