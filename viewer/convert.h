/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert.h - `dial9-view convert`: one recording as one raw, gzip or zstd file.
 *
 * A directory's segments are put one behind the other, which the format allows. The bytes are
 * those of the input but for cut-off or damaged tails, which end at the last whole event. gzip
 * output is one member (dial9's readers take no more); zstd windows are at most 8 MiB. OUT is
 * written beside its place and renamed when whole; an existing OUT is kept without --force.
 */
#ifndef DIAL9_CONVERT_H
#define DIAL9_CONVERT_H

struct request;
struct traceset;

/* Returns an exit code of notice.h. */
int convert_run(const struct request *req, const struct traceset *set);

#endif /* DIAL9_CONVERT_H */
