/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scratch.h - a directory of its own for each unit test, made before and removed after it.
 */
#ifndef DIAL9_SCRATCH_H
#define DIAL9_SCRATCH_H

extern char scratch[64]; /* its path, without a slash at the end */

/* As cmocka's setup and teardown; 0 or -1. */
int scratch_make(void **state);
int scratch_remove(void **state);

#define SCRATCH_TEST(f) cmocka_unit_test_setup_teardown(f, scratch_make, scratch_remove)

#endif /* DIAL9_SCRATCH_H */
