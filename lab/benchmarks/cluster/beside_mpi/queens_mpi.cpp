// SPDX-License-Identifier: Apache-2.0
// The ways to place N queens with MPI: mpirun.openmpi -n 4 queens-openmpi N
//
// Every rank lists the boards with queens in the first rows. A counter in a window of rank 0 hands them out
// one by one. So no rank only manages, and a slow one takes fewer boards.
#include "cluster/beside_mpi/arguments.hpp"
#include "kernels/nqueens.hpp"
#include "sequential/searches.hpp"

#include <mpi.h>

#include <cstdio>
#include <vector>

using kernels::queens;

/// Tuned: a board takes below a millisecond with 16 queens, and a step of the counter about a microsecond.
constexpr int listed_rows = 4;

void list_boards(queens board, int rows, std::vector<queens>& into) {
  if (rows == 0 || board.complete()) {
    into.push_back(board);
    return;
  }
  for (std::uint32_t free = board.free(); free != 0; free &= free - 1)
    list_boards(board.with(free & -free), rows - 1, into);
}

int main(int count, char** words) {
  std::vector<queens> boards;
  list_boards(board_of(count, words), listed_rows, boards);
  MPI_Init(&count, &words);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::int64_t* next = nullptr;
  MPI_Win window{};
  MPI_Win_allocate(rank == 0 ? sizeof *next : 0, sizeof *next, MPI_INFO_NULL, MPI_COMM_WORLD, &next, &window);
  if (rank == 0) *next = 0;
  MPI_Barrier(MPI_COMM_WORLD);

  MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  std::int64_t found = 0;
  for (;;) {
    const std::int64_t one = 1;
    std::int64_t taken = 0;
    MPI_Fetch_and_op(&one, &taken, MPI_INT64_T, 0, 0, MPI_SUM, window);
    MPI_Win_flush(0, window);
    if (taken >= static_cast<std::int64_t>(boards.size())) break;
    found += sequential::solutions(boards[static_cast<std::size_t>(taken)]);
  }
  MPI_Win_unlock_all(window);
  std::int64_t all = 0;
  MPI_Reduce(&found, &all, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%lld\n", static_cast<long long>(all));
  MPI_Win_free(&window);
  MPI_Finalize();
}
