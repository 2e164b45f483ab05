/* cmocka wants these before its own header. */
#ifndef WARPLIGHT_TESTS_UNIT_CMOCKA_ALL_H
#define WARPLIGHT_TESTS_UNIT_CMOCKA_ALL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
