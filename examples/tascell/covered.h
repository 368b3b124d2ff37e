/* SPDX-License-Identifier: Apache-2.0 */
/* COVERED(STATEMENT…) runs statements as they are, or with -DWITH_TRY within a `try` to which nothing is
 * thrown: for measuring what that costs. */
#ifndef COVERED_H
#define COVERED_H

#ifdef WITH_TRY
#define COVERED(...) \
  try {              \
    __VA_ARGS__      \
  } catch (1) {      \
    abort();         \
  }
#else
#define COVERED(...) {__VA_ARGS__}
#endif

#endif
