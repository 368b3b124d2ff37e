// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <oneapi/tbb/cache_aligned_allocator.h>
