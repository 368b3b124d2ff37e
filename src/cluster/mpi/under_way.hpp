// SPDX-License-Identifier: Apache-2.0
// Messages that MPI is sending or receiving, with the memory that it uses until they are complete.
#pragma once

#include "transport/transport.hpp"

#include <mpi.h>

namespace sukima::cluster {

struct outgoing {
  MPI_Request request = MPI_REQUEST_NULL;
  node_id to = 0;
  bytes content;
  bool leaves = false;  ///< it is the last message to that node
};
struct incoming {
  MPI_Request request = MPI_REQUEST_NULL;
  int tag = 0;
  bytes content;
};

}  // namespace sukima::cluster
