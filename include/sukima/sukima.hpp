// SPDX-License-Identifier: Apache-2.0
// Sukima's C++ interface: everything.
#pragma once

#include <sukima/detail/required_cxx.hpp>  // first

#include <sukima/version.h>
#include <sukima/blocking.hpp>
#include <sukima/cancel.hpp>
#include <sukima/context.hpp>
#include <sukima/errors.hpp>
#include <sukima/filter.hpp>
#include <sukima/fold.hpp>
#include <sukima/fork.hpp>
#include <sukima/future.hpp>
#include <sukima/hints.hpp>
#include <sukima/loop.hpp>
#include <sukima/on.hpp>
#include <sukima/other_threads.hpp>
#include <sukima/place.hpp>
#include <sukima/promise.hpp>
#include <sukima/ranges.hpp>
#include <sukima/runtime.hpp>
#include <sukima/scan.hpp>
#include <sukima/search.hpp>
#include <sukima/set_bits.hpp>
#include <sukima/settings.hpp>
#include <sukima/shared_future.hpp>
#include <sukima/sort.hpp>
#include <sukima/statistics.hpp>
#include <sukima/suspend.hpp>
#include <sukima/task_group.hpp>
#include <sukima/worker_local.hpp>
