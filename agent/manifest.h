/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest.h - what a recording says about itself in every segment: process, build, options, and
 * which events it claims to hold. What is not claimed was not recorded; readers must not take its
 * absence for "did not happen".
 */
#ifndef DIAL9_MANIFEST_H
#define DIAL9_MANIFEST_H

#include <stdint.h>

struct metadata;
struct opt;
struct plan;
struct target;

/*
 * A metadata list with all of it; `now_ns` names the session (agent.session): a directory may hold
 * several, one after another, and nothing carries over from one to the next. track adds runtimes
 * and unknowns later. 0, or the first failure (logged), with *ret untouched. Free with
 * metadata_free.
 */
int manifest_new(const struct opt *o, const struct target *t, const struct plan *p,
		 const char *boot_id, uint64_t now_ns, struct metadata **ret);

#endif /* DIAL9_MANIFEST_H */
