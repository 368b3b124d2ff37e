// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <oneapi/tbb/concurrent_unordered_set.h>
