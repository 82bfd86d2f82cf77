/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waker.h - Tokio's static waker vtable: four functions (clone, wake, wake_by_ref, drop).
 *
 * The second sign of Tokio in files without source paths. clone adds 0x40 to the task's reference
 * count and names this very table; drop takes 0x40 off. No other vtable does both.
 */
#ifndef DIAL9_WAKER_H
#define DIAL9_WAKER_H

#include <stdint.h>

#define WAKER_TRIES_MAX 50000 /* tables of four functions looked at in one file */

struct image;
struct relocs;

/* -ENOENT: there is none, or not among the first WAKER_TRIES_MAX; -EIO; -ENOMEM. */
int waker_find(struct image *img, struct relocs *relocs, uint64_t *ret_vaddr);

#endif /* DIAL9_WAKER_H */
