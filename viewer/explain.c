// SPDX-License-Identifier: Apache-2.0
/* explain.c - findings that another finding causes. */
#include "explain.h"

#include "judge.h"

#include <stddef.h>
#include <string.h>

static const struct finding *explain_critical(const struct findings *f, const char *kind)
{
	for (uint32_t i = 0; i < f->cnt; i++) {
		const struct finding *at = &f->at[i];

		if (at->severity == SEVERITY_CRITICAL && !at->explained &&
		    strcmp(at->kind, kind) == 0)
			return at;
	}
	return NULL;
}

/* What a critical finding of another kind explains is a warning, and so is a second one that says
 * the same of one type. Causes first: those without `explained`. */
void explain(struct findings *f)
{
	static const char *const causes[] = { "long-poll", "lock-in-poll", "blocking-in-poll",
					      "wake-storm", "cpu-starved" };
	const struct finding *cause;

	for (uint32_t i = 0; i < f->cnt; i++) {
		struct finding *at = &f->at[i];

		if (at->severity != SEVERITY_CRITICAL)
			continue;
		if (at->explained && *at->explained == '\0') {
			at->explained = NULL;
			for (size_t k = 0; k < sizeof(causes) / sizeof(causes[0]); k++)
				if (explain_critical(f, causes[k]) && !at->explained &&
				    strcmp(at->kind, causes[k]) != 0)
					at->explained = causes[k];
		} else if (at->explained && !explain_critical(f, at->explained)) {
			at->explained = NULL;
		} else if (strcmp(at->kind, "blocking-in-poll") == 0 ||
			   strcmp(at->kind, "lock-in-poll") == 0) {
			for (uint32_t k = 0; k < f->cnt && !at->explained; k++) {
				cause = &f->at[k];
				if (strcmp(cause->kind, "long-poll") == 0 && !cause->explained &&
				    cause->severity == SEVERITY_CRITICAL && cause->type == at->type)
					at->explained = "long-poll";
			}
		}
		if (at->explained)
			at->severity = SEVERITY_WARNING;
	}
	for (uint32_t i = 0; i < f->cnt; i++) /* below critical it says nothing of severity */
		if (f->at[i].explained && !explain_critical(f, f->at[i].explained))
			f->at[i].explained = NULL;
}
