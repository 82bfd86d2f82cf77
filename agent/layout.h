/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.h - where one build of Tokio keeps a thread's worker, learnt from a living worker.
 *
 *   thread pointer -> TLS word -> scheduler Context (on the thread's stack)
 *                                   -> Worker (Arc): Handle, index
 *                                   -> Core (Box): the worker's run queue
 *   Handle (Arc) -> Remotes[index]: the same run queue
 *
 * The two ways to the run queue must meet: that is the proof, and it cannot hold by chance. Which
 * offsets were used on the way is the layout; it is the same for all threads of a file.
 */
#ifndef DIAL9_LAYOUT_H
#define DIAL9_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "memory.h"
#include "remotes.h"

#define LAYOUT_TLS_MAX (64u << 10) /* bytes of one module's TLS block that are searched */
#define LAYOUT_MODULES_MAX 256 /* entries of a thread's DTV that are searched */
#define LAYOUT_STACK_MAX (1ull << 30) /* a thread's stack lies this far below its TLS at most */
#define LAYOUT_CONTEXT_WORDS 16
#define LAYOUT_WORKER_WORDS 6
#define LAYOUT_CORE_WORDS 192

struct layout {
	bool is_known;
	bool has_index; /* index_off is known (only a worker other than 0 tells) */
	uint16_t module; /* DTV index; 0 = the main program's static block */
	uint32_t tls_off; /* static block: below the thread pointer; module: from its start */
	uint16_t worker_off, core_off; /* in the Context */
	uint16_t handle_off, index_off; /* in the Worker's ArcInner */
	uint16_t remotes_off; /* in the Handle's ArcInner */
	uint16_t queue_off; /* in the Core: holds remotes[index].words[core_column] */
	uint8_t core_column;
	struct queue_shape queue;
};

struct layout_tls { /* where a file's thread-local words can be */
	bool is_main; /* static block, right below the thread pointer; else found through the DTV */
	uint32_t sz; /* of its TLS segment, with what alignment may add */
};

struct layout_worker { /* a thread's words, as found or as read by a known layout */
	uint64_t context, worker, handle, core; /* core 0: given away, or on the move */
	uint64_t queue; /* ArcInner of its run queue, 0 = not known which column */
	uint32_t index, workers_cnt;
};

/*
 * Searches the thread with thread pointer `fsbase` for a worker that holds its Core, and fills
 * *ret and *worker. `scratch` is overwritten. 0, -ENOENT (none, or it moved meanwhile: try again
 * later), -ESRCH, -E2BIG.
 */
int layout_search(struct memory *m, uint64_t fsbase, const struct layout_tls *tls,
		  struct remotes *scratch, struct layout *ret, struct layout_worker *worker);

/* Nothing is left to learn: layout_read costs at most 10 reads. */
bool layout_is_whole(const struct layout *l);

/*
 * Reads a thread by a known layout, and checks all of it again; learns what the layout lacks.
 * 0, -ENOENT (no worker, or not now), -EBADMSG (a Context, but not a worker's: a current_thread
 * runtime, or the layout is wrong), -ESRCH, -E2BIG.
 */
int layout_read(struct memory *m, struct layout *l, uint64_t fsbase, struct remotes *scratch,
		struct layout_worker *ret);

#endif /* DIAL9_LAYOUT_H */
