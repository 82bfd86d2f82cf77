/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor.h - `dial9-agent doctor`: what this machine allows, what is missing, what mends it.
 */
#ifndef DIAL9_DOCTOR_H
#define DIAL9_DOCTOR_H

#include <stdio.h>

struct opt;

/* Prints a line per need; 0 when recording can work, -EOPNOTSUPP when something is missing. */
int doctor_run(const struct opt *o, FILE *out);

#endif /* DIAL9_DOCTOR_H */
