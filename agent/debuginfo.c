// SPDX-License-Identifier: Apache-2.0
/* debuginfo.c - libdw, opened with care, and the chain of inlined calls at an address. */
#include "debuginfo.h"

#include "dieindex.h"
#include "log.h"
#include "sections.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define COMPRESSION_MAX 32

struct debuginfo {
	Elf *elf;
	Dwarf *dwarf;
	struct dieindex *index;
};

/* 0 if libdw may read this file. */
static int debuginfo_check(const struct sections *sections)
{
	uint64_t sz = 0;

	if (!sections_find(sections, ".debug_info") || !sections_find(sections, ".debug_abbrev"))
		return -ENOENT;
	for (size_t i = 0; i < sections->cnt; i++) {
		const struct section *s = &sections->list[i];

		if (strstr(s->name, "debug") && /* also .gnu.debuglto_.debug_info */
		    __builtin_add_overflow(sz, s->full_sz, &sz))
			sz = UINT64_MAX;
		/* honest debug info compresses to a fifth */
		if (s->full_sz / COMPRESSION_MAX > s->file_sz + 4096) {
			log_debug("debug info section %s claims to unpack to %llu bytes: not used",
				  s->name, (unsigned long long)s->full_sz);
			return -ENOENT;
		}
		/* an old compression whose size cannot be known before */
		if (strncmp(s->name, ".zdebug", 7) == 0 ||
		    strcmp(s->name, ".gnu_debugaltlink") == 0) {
			log_debug("debug info with section %s is not used", s->name);
			return -ENOENT;
		}
	}
	if (sz > DEBUGINFO_MAX_SZ) {
		log_debug("debug info of %llu bytes is too large, symbols only",
			  (unsigned long long)sz);
		return -ENOENT;
	}
	return 0;
}

int debuginfo_open(int fd, const struct sections *sections, struct debuginfo **ret)
{
	struct debuginfo *d;
	int err = debuginfo_check(sections);

	if (err)
		return err;
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	err = -ENOENT;
	elf_version(EV_CURRENT);
	d->elf = elf_begin(fd, ELF_C_READ, NULL);
	if (d->elf && elf_kind(d->elf) == ELF_K_ELF)
		d->dwarf = dwarf_begin_elf(d->elf, DWARF_C_READ, NULL);
	if (d->dwarf)
		err = dieindex_open(d->dwarf, &d->index);
	if (err) {
		debuginfo_close(d);
		return err;
	}
	*ret = d;
	return 0;
}

void debuginfo_close(struct debuginfo *d)
{
	if (!d)
		return;
	dieindex_close(d->index);
	dwarf_end(d->dwarf);
	elf_end(d->elf);
	free(d);
}

/*
 * From a function down to the innermost inlined call at `vaddr`. chain[0] is the function.
 * Returns the length of the chain.
 */
static size_t debuginfo_chain(uint64_t vaddr, Dwarf_Die chain[DEBUGINFO_FRAMES_MAX])
{
	Dwarf_Die at = chain[0], child;
	size_t cnt = 1;
	unsigned steps = 0;
	bool found = true;

	while (found && cnt < DEBUGINFO_FRAMES_MAX && dwarf_child(&at, &child) == 0) {
		found = false;
		do {
			int tag = dwarf_tag(&child);

			if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block) &&
			    dwarf_haspc(&child, vaddr) == 1) {
				at = child;
				found = true;
				if (tag == DW_TAG_inlined_subroutine)
					chain[cnt++] = child;
			}
		} while (!found && ++steps < DEBUGINFO_STEPS_MAX &&
			 dwarf_siblingof(&child, &child) == 0);
	}
	return cnt;
}

static const char *debuginfo_string(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	const char *text = NULL;

	if (dwarf_attr_integrate(die, name, &attr))
		text = dwarf_formstring(&attr);
	return text ? text : "";
}

static uint32_t debuginfo_number(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value = 0;

	if (!dwarf_attr(die, name, &attr) || dwarf_formudata(&attr, &value) != 0 ||
	    value > UINT32_MAX)
		return 0;
	return (uint32_t)value;
}

/* As the compiler was given it, which is how Tokio's own locations print it. */
static const char *debuginfo_relative(Dwarf_Die *unit, const char *file)
{
	const char *dir = debuginfo_string(unit, DW_AT_comp_dir);
	size_t len = strlen(dir);

	if (!file)
		return "";
	if (len && strncmp(file, dir, len) == 0 && file[len] == '/')
		return file + len + 1;
	return file;
}

/* Where the innermost frame stands: the line table. */
static void debuginfo_line(Dwarf_Die *unit, uint64_t vaddr, struct debuginfo_frame *f)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, vaddr);
	int number = 0, column = 0;

	if (!line)
		return;
	f->file = debuginfo_relative(unit, dwarf_linesrc(line, NULL, NULL));
	if (dwarf_lineno(line, &number) == 0 && number > 0)
		f->line = (uint32_t)number;
	if (dwarf_linecol(line, &column) == 0 && column > 0)
		f->column = (uint32_t)column;
}

/* Where a frame stands that has called the inlined function `inlined`. */
static void debuginfo_call(Dwarf_Die *unit, Dwarf_Die *inlined, struct debuginfo_frame *f)
{
	uint32_t file = debuginfo_number(inlined, DW_AT_call_file);
	Dwarf_Files *files;
	size_t cnt;

	if (dwarf_getsrcfiles(unit, &files, &cnt) == 0 && file < cnt)
		f->file = debuginfo_relative(unit, dwarf_filesrc(files, file, NULL, NULL));
	f->line = debuginfo_number(inlined, DW_AT_call_line);
	f->column = debuginfo_number(inlined, DW_AT_call_column);
}

int debuginfo_frames(struct debuginfo *d, uint64_t vaddr,
		     struct debuginfo_frame ret[DEBUGINFO_FRAMES_MAX],
		     struct debuginfo_range *ret_range)
{
	Dwarf_Die unit, chain[DEBUGINFO_FRAMES_MAX];
	uint64_t low, high;
	size_t cnt;
	int err = dieindex_find(d->index, vaddr, &unit, &chain[0], &low, &high);

	if (err)
		return err;
	cnt = debuginfo_chain(vaddr, chain);
	for (size_t i = 0; i < cnt; i++) {
		ret[i] = (struct debuginfo_frame){ .file = "" };
		ret[i].linkage = debuginfo_string(&chain[i], DW_AT_linkage_name);
		if (!ret[i].linkage[0])
			ret[i].linkage = debuginfo_string(&chain[i], DW_AT_MIPS_linkage_name);
		ret[i].name = debuginfo_string(&chain[i], DW_AT_name);
		if (i + 1 < cnt)
			debuginfo_call(&unit, &chain[i + 1], &ret[i]);
		else
			debuginfo_line(&unit, vaddr, &ret[i]);
	}
	if (ret_range) {
		Dwarf_Addr entry = low;

		dwarf_entrypc(&chain[0], &entry);
		*ret_range = (struct debuginfo_range){ .entry = entry, .sz = high - low };
	}
	return (int)cnt;
}
