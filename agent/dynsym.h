/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dynsym.h - the address of one function by its name, for the few that are wanted by name.
 *
 * Looks where the dynamic linker looks (GNU or SysV hash), then, when the file has section headers
 * and a symbol table, there.
 */
#ifndef DIAL9_DYNSYM_H
#define DIAL9_DYNSYM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image;

/* Without `use_symtab` only where the dynamic linker looks: a few reads, however large the file.
 * -ENOENT: the file defines no function of that name; -EIO; -ENOMEM. */
int dynsym_find(struct image *img, const char *name, bool use_symtab, uint64_t *ret_vaddr);

/*
 * Functions of .symtab whose mangled name contains `part` and "5tokio" (Rust's length-prefixed
 * crate name). Returns how many of them were stored, at most `max`; 0 also on any failure.
 */
size_t dynsym_find_tokio(struct image *img, const char *part, uint64_t *ret_vaddrs, size_t max);

#endif /* DIAL9_DYNSYM_H */
