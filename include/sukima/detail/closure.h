/* SPDX-License-Identifier: Apache-2.0 */
/* Closures in compiled programs of the Tascell language.
 *
 * A pointer to closures is one word, like the pointer to functions that it is in C: either a function's
 * address, or that of a closure's record with the highest bit set, which no function of a program has. So null
 * and plain functions convert by themselves, and what reads `sizeof` need not know. */
#ifndef SUKIMA_DETAIL_CLOSURE_H
#define SUKIMA_DETAIL_CLOSURE_H

#include <stddef.h>
#include <stdint.h>

/** First member of every closure's record. Behind it lies what the block captures. */
typedef struct sukima_closure {
  void (*code)(void); /**< takes the record's address in front of the user's parameters */
} sukima_closure;

#define SUKIMA_CLOSURE_BIT ((uintptr_t)1 << 63)

/** Is a pointer to closures one to a record (1), or to a function or null (0)? */
__attribute__((always_inline)) static inline int sukima_is_closure(uintptr_t pointer) {
  return (intptr_t)pointer < 0;
}

/** The record behind a pointer that sukima_is_closure. */
__attribute__((always_inline)) static inline void* sukima_closure_self(uintptr_t pointer) {
  return (void*)(pointer & ~SUKIMA_CLOSURE_BIT);
}

/** The function of a closure, to be cast to its type. */
__attribute__((always_inline)) static inline void (*sukima_closure_code(uintptr_t pointer))(void) {
  return ((sukima_closure*)sukima_closure_self(pointer))->code;
}

/** The pointer to a record, as what a pointer to closures is initialised with. */
__attribute__((always_inline)) static inline void* sukima_closure_pointer(const sukima_closure* record) {
  return (void*)((uintptr_t)record | SUKIMA_CLOSURE_BIT);
}

#endif
