/* SPDX-License-Identifier: Apache-2.0 */
/* Programs in which each call declares a closure, one for each way in which closures are made. */
#ifndef SUKIMA_BENCH_CLOSURES_WAYS_H
#define SUKIMA_BENCH_CLOSURES_WAYS_H

#ifdef __cplusplus
extern "C" {
#endif

/** Whether a closure is called at the leaves. It never is, but no compiler knows that. */
extern int closure_wanted;

/** fib(n), and the solutions of n queens on arrays. Each call declares a closure that changes two of its
 * variables and calls the caller's closure; the closure is never called. The compiler makes the functions
 * with _by_ in their names, and the others are written by hand. */
long fib_none(int n);
long fib_frame(int n);
long fib_by_unwind(int n);
long fib_by_exceptions(int n);
long fib_unwind(int n);
long fib_exceptions(int n);
long queens_none(int n);
long queens_frame(int n);
long queens_by_unwind(int n);
long queens_by_exceptions(int n);
long queens_unwind(int n);
long queens_exceptions(int n);

/** Calls itself down to a depth, makes one call of a closure there that visits all frames, and returns.
 * \returns depth + the sum of the values that the closure read */
long descent_none(int depth);
long descent_frame(int depth);
long descent_by_unwind(int depth);
long descent_by_exceptions(int depth);
long descent_unwind(int depth);
long descent_exceptions(int depth);

/** The board of n queens. */
enum { most_queens = 16 };
extern int queens_count;
extern char queens_used[most_queens], queens_up[2 * most_queens], queens_down[2 * most_queens];
#define QUEENS_OPEN(k, p) (!(queens_used[p] || queens_up[(k) + (p)] || queens_down[(k) - (p) + queens_count]))
#define QUEENS_SET(k, p, v) \
  (queens_used[p] = queens_up[(k) + (p)] = queens_down[(k) - (p) + queens_count] = (char)(v))

#ifdef __cplusplus
}
#endif

#endif
