/* SPDX-License-Identifier: Apache-2.0 */
/* C entries of the programs that were emitted by hand. */
#ifndef SUKIMA_TESTS_EMITTED_H
#define SUKIMA_TESTS_EMITTED_H

#ifdef __cplusplus
extern "C" {
#endif

long emitted_fib(int n);
/** Number of solutions; -1: the board was not restored. */
long emitted_queens(int n);
/** Number of solutions of the 6 x 10 board, from the pieces [0, to) in its first corner; -1: not restored. */
long emitted_pentomino(int to);

#ifdef __cplusplus
}
#endif

#endif
