/* Small text files of /proc and /sys, by formatted path. */
#ifndef WARPLIGHT_SOURCE_SMALL_FILE_H
#define WARPLIGHT_SOURCE_SMALL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/reading.h"

/* Reads at most size - 1 bytes of a file into text, which always ends. Returns how many, or -1 and errno. */
long small_file_read(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* A file that holds one whole number, as a reading: unsupported where there is no such file. */
struct reading small_file_number(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What an errno means for a value. */
enum reading_state small_file_why(int error);
/* The number that begins text; false where none does, or it passes int64_t. */
bool small_number(const char *text, int64_t *value);
/* The text after "key" at the beginning of a line of text, up to its end; false where no line begins so. */
bool small_line(char *out, size_t size, const char *text, const char *key);

#endif
