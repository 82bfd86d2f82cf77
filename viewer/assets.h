/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assets.h - the files of the page, as built in viewer/page/dist, inside the executable.
 *
 * A URL is looked up in this table and nowhere else: no file is opened for one.
 */
#ifndef DIAL9_ASSETS_H
#define DIAL9_ASSETS_H

#include <stddef.h>

struct asset {
	const char *path; /* of the URL */
	const char *type; /* content type */
	const char *from, *to; /* its bytes */
};

/* NULL: there is none of this name. */
const struct asset *asset_find(const char *path);

#define ASSET_ETAG_SZ 20
/* A quoted hash of its bytes. Returns `to`. */
const char *asset_etag(char to[ASSET_ETAG_SZ], const struct asset *a);

#endif /* DIAL9_ASSETS_H */
