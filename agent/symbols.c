// SPDX-License-Identifier: Apache-2.0
/* symbols.c - finds the file behind an address and asks its sources in order. */
#include "symbols.h"

#include "debuginfo.h"
#include "elfsyms.h"
#include "futuretype.h"
#include "image.h"
#include "rustname.h"
#include "spawnplace.h"
#include "symfile.h"
#include "target.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#define NAME_SZ 4096u
#define PLACE_SZ 1024u
#define VDSO_SZ_MAX (64u << 10)

struct symbols {
	struct symfile *files;
	size_t files_cnt;
	char name[NAME_SZ], file[PLACE_SZ]; /* of the frame being given out */
};

/* The kernel's code page has no file. It is the same in every 64-bit process: ours serves. */
static int symbols_add_vdso(struct symbols *s, const struct target *t)
{
	const void *own = (const void *)getauxval(AT_SYSINFO_EHDR);
	struct target_file f = {
		.fd = memfd_create("vdso", MFD_CLOEXEC),
		.sz = t->vdso_end - t->vdso_start,
		.path = "[vdso]",
		.map_start = t->vdso_start,
		.map_end = t->vdso_end,
	};
	int err = -ENOENT;

	if (own && f.fd >= 0 && f.sz <= VDSO_SZ_MAX && write(f.fd, own, f.sz) == (ssize_t)f.sz)
		err = symfile_init(&s->files[s->files_cnt], &f);
	if (!err)
		s->files_cnt++;
	if (f.fd >= 0)
		close(f.fd);
	return err;
}

int symbols_open(const struct target *t, struct symbols **ret)
{
	struct symbols *s = calloc(1, sizeof(*s));
	int err = 0;

	if (!s)
		return -ENOMEM;
	s->files = calloc(t->files_cnt + 1, sizeof(*s->files));
	if (!s->files)
		err = -ENOMEM;
	for (size_t i = 0; i < t->files_cnt && err == 0; i++) {
		err = symfile_init(&s->files[i], &t->files[i]);
		if (err == 0)
			s->files_cnt++;
	}
	if (err == 0 && t->vdso_start)
		symbols_add_vdso(s, t); /* without it its frames stay without a name */
	if (err) {
		symbols_close(s);
		return err;
	}
	*ret = s;
	return 0;
}

void symbols_close(struct symbols *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->files_cnt; i++)
		symfile_done(&s->files[i]);
	free(s->files);
	free(s);
}

/* The file with code at a runtime address, opened; NULL. */
static struct symfile *symbols_file(struct symbols *s, uint64_t addr, uint64_t *ret_vaddr)
{
	for (size_t i = 0; i < s->files_cnt; i++) {
		struct symfile *f = &s->files[i];

		if (addr < f->map_start || addr >= f->map_end)
			continue;
		symfile_prepare(f);
		*ret_vaddr = addr - f->bias;
		return f->image ? f : NULL;
	}
	/* a further executable segment, of a file that is known already */
	for (size_t i = 0; i < s->files_cnt; i++) {
		struct symfile *f = &s->files[i];

		if (f->image && addr >= f->bias && image_is_code(f->image, addr - f->bias)) {
			*ret_vaddr = addr - f->bias;
			return f;
		}
	}
	return NULL;
}

int symbols_type_name(struct symbols *s, uint64_t poll, uint64_t dealloc, char *buf, size_t sz)
{
	uint64_t poll_vaddr, dealloc_vaddr;
	struct symfile *f = symbols_file(s, poll, &poll_vaddr);
	int cnt = 0;

	if (!f || sz == 0)
		return -ENOENT;
	if (futuretype_of_poll(f, poll_vaddr, buf, sz) == 0)
		return 0;
	if (symbols_file(s, dealloc, &dealloc_vaddr) == f)
		cnt = futuretype_of_glue(f, poll_vaddr, dealloc_vaddr, buf, sz);
	/* several types that share their glue: their async bodies tell them apart */
	if (cnt == 1 || futuretype_of_code(f, poll_vaddr, buf, sz) == 0)
		return 0;
	return cnt > 1 ? 0 : -ENOENT;
}

int symbols_spawn_place(struct symbols *s, uint64_t return_addr, char *buf, size_t sz)
{
	uint64_t vaddr;
	struct symfile *f = symbols_file(s, return_addr, &vaddr);

	/* the call, not what follows it */
	return f ? spawnplace_find(f, vaddr - 1, buf, sz) : -ENOENT;
}

static void symbols_give(struct symbols *s, const char *mangled, const char *file,
			 struct symbols_frame *frame,
			 void (*cb)(const struct symbols_frame *frame, void *ctx), void *ctx)
{
	rustname_demangle(mangled, s->name, sizeof(s->name));
	snprintf(s->file, sizeof(s->file), "%s", file);
	rustname_clean(s->file);
	frame->name = s->name;
	frame->file = s->file;
	cb(frame, ctx);
}

int symbols_resolve(struct symbols *s, uint64_t addr,
		    void (*cb)(const struct symbols_frame *frame, void *ctx), void *ctx)
{
	struct debuginfo_frame frames[DEBUGINFO_FRAMES_MAX];
	struct symbols_frame frame = { 0 };
	struct debuginfo_range range = { 0 };
	struct elfsym sym;
	uint64_t vaddr;
	struct symfile *f = symbols_file(s, addr, &vaddr);
	int cnt = f && f->debug ? debuginfo_frames(f->debug, vaddr, frames, &range) : 0;

	frame.size = range.sz;
	for (int i = 0; i < cnt; i++) {
		const char *name = frames[i].linkage[0] ? frames[i].linkage : frames[i].name;

		frame.depth = (unsigned)i;
		frame.line = frames[i].line;
		symbols_give(s, name[0] ? name : "?", frames[i].file, &frame, cb, ctx);
	}
	if (cnt > 0)
		return cnt;
	if (!f || !f->syms || elfsyms_find(f->syms, vaddr, &sym))
		return 0;
	frame = (struct symbols_frame){ .size = sym.size };
	symbols_give(s, sym.name, "", &frame, cb, ctx);
	return 1;
}

int symbols_module(struct symbols *s, uint64_t addr, char *buf, size_t sz)
{
	uint64_t vaddr;
	struct symfile *f = symbols_file(s, addr, &vaddr);

	if (!f || sz == 0)
		return -ENOENT;
	snprintf(buf, sz, "%s+0x%" PRIx64, f->module, vaddr);
	return 0;
}
