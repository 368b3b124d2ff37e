// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <oneapi/tbb/blocked_range3d.h>
