// SPDX-License-Identifier: Apache-2.0
// Reading and writing short texts without stdio, without memory management and without the locale.
#ifndef SUKIMA_CAPACITY_TEXT_H
#define SUKIMA_CAPACITY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A piece of text that is still to be read; it need not end with a zero.
typedef struct sukima_text {
  const char* begin;
  const char* end;
} sukima_text;

/// The length of a text.
size_t sukima_text_length(const sukima_text* text);

/// Skips blanks, tabs and line ends (also "\r").
void sukima_text_skip_blanks(sukima_text* text);

/// Nothing is left.
bool sukima_text_at_end(const sukima_text* text);

/// Takes one character if it is the next one.
bool sukima_text_take(sukima_text* text, char character);

/// Takes a word of ordinary characters if the text starts with it.
bool sukima_text_take_prefix(sukima_text* text, const char* prefix);

/// Takes a decimal number without a sign; false (and nothing taken) if there is none or it exceeds 64 bits.
bool sukima_text_take_number(sukima_text* text, uint64_t* value);

/// Takes everything up to `separator` (which is taken, too, but not given) or to the end.
/// \return false at the end of the text
bool sukima_text_take_until(sukima_text* text, char separator, sukima_text* part);

bool sukima_text_equals(const sukima_text* text, const char* other);

/// A text being written into memory of fixed size, always ended by a zero; what does not fit is left out.
typedef struct sukima_writer {
  char* memory;
  size_t size;
  size_t length;
  bool overflow;
} sukima_writer;

sukima_writer sukima_writer_make(char* memory, size_t size);
void sukima_write(sukima_writer* out, const char* text);
void sukima_write_bytes(sukima_writer* out, const char* text, size_t length);
void sukima_write_number(sukima_writer* out, uint64_t value);

/// Writes at most three decimals, and no trailing zeros; a value above 0 never as 0.
void sukima_write_decimal(sukima_writer* out, double value);

#endif
