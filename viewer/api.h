/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api.h - the questions that the page can ask: PAGE.md says each. A path is found in one table.
 */
#ifndef DIAL9_API_H
#define DIAL9_API_H

#include <stdint.h>

struct api_call;

/* Answers a path below /api/ into call->reply. */
void api_answer(struct api_call *call, const char *path);

/* One function for each question, by the file it is in. */
void api_trace(struct api_call *call); /* apitrace.c */
void api_recording(struct api_call *call);
void api_records(struct api_call *call); /* apichart.c */
void api_queues(struct api_call *call);
void api_cells(struct api_call *call); /* apicells.c */
void api_strip(struct api_call *call);
void api_at(struct api_call *call);
void api_rows(struct api_call *call); /* apirows.c */
void api_wakes(struct api_call *call);
void api_range(struct api_call *call); /* apirange.c */
void api_heat(struct api_call *call);
void api_flame(struct api_call *call); /* apiflame.c */
void api_one_poll(struct api_call *call); /* apifind.c */
void api_task(struct api_call *call);
void api_worst(struct api_call *call);
void api_search(struct api_call *call); /* apisearch.c */
void api_levels(struct api_call *call); /* apilevels.c */
void api_spans(struct api_call *call); /* apispans.c */
void api_parked(struct api_call *call); /* apiparked.c */
void api_why(struct api_call *call, uint32_t poll); /* apiwhy.c; a part of api_one_poll's answer */
void api_off(struct api_call *call, uint32_t off); /* apiwhy.c: a time without CPU, as a map */
void api_glimpses(struct api_call *call); /* apiglimpse.c */
void api_busy(struct api_call *call); /* apibusy.c */
void api_pool(struct api_call *call); /* apichart.c */
void api_timed(struct api_call *call); /* apitimed.c */
void api_events(struct api_call *call); /* apievents.c */
void api_issues(struct api_call *call); /* apiissues.c */

#endif /* DIAL9_API_H */
