// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <oneapi/tbb/tbb_allocator.h>
