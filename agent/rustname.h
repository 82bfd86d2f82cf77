/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rustname.h - Rust's symbol and type names as text: demangling, and cutting out the future.
 *
 * Pure functions over strings that come from foreign files: any bytes are fine, output is bounded,
 * valid UTF-8 without control characters, and always ends in NUL.
 */
#ifndef DIAL9_RUSTNAME_H
#define DIAL9_RUSTNAME_H

#include <stddef.h>

#define RUSTNAME_MANGLED_MAX 16384u /* longer symbols are not demangled */

/*
 * "tokio::runtime::task::raw::poll::<F, S>" from a v0 or legacy symbol, without hashes; any other
 * symbol is copied as it is. A name that does not fit is cut.
 */
void rustname_demangle(const char *mangled, char *buf, size_t sz);

/*
 * The future F in the name of a function of its task: "poll<F, S>" (DWARF), "...::poll::<F, S>"
 * (v0), "core::ptr::drop_in_place<...Cell<F,S>...>" (legacy drop glue; also Core, CoreStage and
 * Stage). A blocking task gives its closure. 0, or -ENOENT when it is no such name.
 */
int rustname_future(const char *function, char *buf, size_t sz);

/* Makes foreign bytes printable in place: control and invalid bytes become '?'. */
void rustname_clean(char *text);

#endif /* DIAL9_RUSTNAME_H */
