// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <oneapi/tbb/queuing_rw_mutex.h>
