/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vec.h - appending to the arrays of side.h.
 */
#ifndef TRUTH_VEC_H
#define TRUTH_VEC_H

#include <stdlib.h>

/* The array with room for one more, moved if need be; ends the program when memory does. */
void *vec_room(void *at, size_t cnt, size_t *cap, size_t one_sz);

/* Appends a zeroed element and yields its address. */
#define vec_push(v) \
	((v)->at = vec_room((v)->at, (v)->cnt, &(v)->cap, sizeof(*(v)->at)), &(v)->at[(v)->cnt++])

#define vec_sort(v, cmp) \
	do { \
		if ((v)->cnt) \
			qsort((v)->at, (v)->cnt, sizeof(*(v)->at), cmp); \
	} while (0)

#endif
