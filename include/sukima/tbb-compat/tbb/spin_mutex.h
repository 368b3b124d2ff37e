// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <oneapi/tbb/spin_mutex.h>
