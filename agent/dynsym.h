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
#include <stdint.h>

struct image;

/* Without `use_symtab` only where the dynamic linker looks: a few reads, however large the file.
 * -ENOENT: the file defines no function of that name; -EIO; -ENOMEM. */
int dynsym_find(struct image *img, const char *name, bool use_symtab, uint64_t *ret_vaddr);

#endif /* DIAL9_DYNSYM_H */
