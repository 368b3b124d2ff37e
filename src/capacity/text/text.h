// SPDX-License-Identifier: Apache-2.0
// Parses and writes short texts without stdio, without memory management and without the locale.
#ifndef SUKIMA_CAPACITY_TEXT_TEXT_H
#define SUKIMA_CAPACITY_TEXT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A text that is not parsed yet. It need not end with a zero.
typedef struct cap_text {
  const char* begin;
  const char* end;
} cap_text;

/// The length of a text.
size_t cap_text_length(const cap_text* text);

/// Skips blanks, tabs and line ends (also "\r").
void cap_text_skip_blanks(cap_text* text);

/// Whether no character is left.
bool cap_text_at_end(const cap_text* text);

/// Takes one character if it is the next one.
bool cap_text_take(cap_text* text, char character);

/// Takes `prefix` if the text starts with it.
bool cap_text_take_prefix(cap_text* text, const char* prefix);

/// Takes a decimal number without a sign. \return false, without taking anything, if there is none or it
/// exceeds 64 bits
bool cap_text_take_number(cap_text* text, uint64_t* value);

/// Takes the digits after a decimal point; there may be none.
/// \return `whole` with these digits as its fraction, rounded once; digits after the fifteenth of both
///   together are ignored
double cap_text_take_fraction(cap_text* text, uint64_t whole);

/// Takes the text up to `separator` or to the end. Also takes the separator, but does not add it to `part`.
/// \return false at the end of the text
bool cap_text_take_until(cap_text* text, char separator, cap_text* part);

bool cap_text_equals(const cap_text* text, const char* other);

/// A text that is written into memory of fixed size. It always ends with a zero; characters that do not fit
/// are dropped.
typedef struct cap_writer {
  char* memory;
  size_t size;
  size_t length;
  bool overflow;
} cap_writer;

cap_writer cap_writer_make(char* memory, size_t size);
void cap_write(cap_writer* out, const char* text);
void cap_write_bytes(cap_writer* out, const char* text, size_t length);
/// Writes a text that another program chose, with '?' for each control character, which could act on a
/// terminal.
void cap_write_printable(cap_writer* out, const char* text, size_t length);
void cap_write_number(cap_writer* out, uint64_t value);

/// Writes at most three decimals, without trailing zeros. A value above 0 is never written as 0.
void cap_write_decimal(cap_writer* out, double value);

#endif
