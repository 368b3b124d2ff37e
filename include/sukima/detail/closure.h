/* SPDX-License-Identifier: Apache-2.0 */
/* Closures in compiled programs of the Tascell language.
 *
 * A pointer to closures is one word, like the pointer to functions that it is in C: either a function's
 * address, or that of a closure's record with the highest bit set, which no function of a program has. So
 * null and plain functions convert by themselves, and what reads `sizeof` need not know. */
#ifndef SUKIMA_DETAIL_CLOSURE_H
#define SUKIMA_DETAIL_CLOSURE_H

/* As language.h: no other header, no word of a newer C, and only names that begin with sukima. */

/** First member of every closure's record. Behind it lies what the block captures. */
typedef struct sukima_closure {
  void (*sukima_code)(void); /**< takes the record's address in front of the user's parameters */
} sukima_closure;

#define SUKIMA_CLOSURE_BIT ((__UINTPTR_TYPE__)1 << 63)

/** Is a pointer to closures one to a record (1), or to a function or null (0)? */
__attribute__((always_inline)) static __inline__ int sukima_is_closure(__UINTPTR_TYPE__ sukima_pointer) {
  return (__INTPTR_TYPE__)sukima_pointer < 0;
}

/** The record behind a pointer that sukima_is_closure. */
__attribute__((always_inline)) static __inline__ void* sukima_closure_self(__UINTPTR_TYPE__ sukima_pointer) {
  return (void*)(sukima_pointer & ~SUKIMA_CLOSURE_BIT);
}

/** The function of a closure, to be cast to its type. */
__attribute__((always_inline)) static __inline__ void (*sukima_closure_code(__UINTPTR_TYPE__ sukima_pointer))(
    void) {
  return ((sukima_closure*)sukima_closure_self(sukima_pointer))->sukima_code;
}

/** The pointer to a record, as what a pointer to closures is initialised with. */
__attribute__((always_inline)) static __inline__ void* sukima_closure_pointer(
    const sukima_closure* sukima_r) {
  return (void*)((__UINTPTR_TYPE__)sukima_r | SUKIMA_CLOSURE_BIT);
}

#endif
