// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <oneapi/tbb/blocked_nd_range.h>
