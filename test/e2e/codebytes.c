// SPDX-License-Identifier: Apache-2.0
/*
 * codebytes.c - is the code of a running process the code of its files?
 *
 *     codebytes PID
 *
 * Compares every executable, file-backed mapping of the process, read through /proc/PID/mem, with
 * the file it maps, read through /proc/PID/map_files (so a deleted file is compared too). Prints
 * each difference up to a few and then "N bytes differ in M bytes of code". Exits 0 when none
 * differs, 1 when some do (a uprobe is one byte 0xcc), 3 when the process cannot be read.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WINDOW_SZ (1 << 20)
#define SHOWN_MAX 8

struct tally {
	uint64_t code_sz, differ_cnt;
};

static int compare_mapping(int mem_fd, int file_fd, uint64_t start, uint64_t end, uint64_t off,
			   const char *path, struct tally *t)
{
	static unsigned char mem[WINDOW_SZ], file[WINDOW_SZ];

	while (start < end) {
		size_t want = end - start < WINDOW_SZ ? (size_t)(end - start) : WINDOW_SZ;
		ssize_t got = pread(file_fd, file, want, (off_t)off);

		if (got < 0)
			return -errno;
		if (got == 0) /* the page behind the end of the file */
			return 0;
		if (pread(mem_fd, mem, (size_t)got, (off_t)start) != got)
			return errno ? -errno : -EIO;
		for (ssize_t i = 0; i < got; i++)
			if (mem[i] != file[i] && ++t->differ_cnt <= SHOWN_MAX)
				printf("%s offset 0x%" PRIx64 ": %02x in the file, %02x in memory\n",
				       path, off + (uint64_t)i, file[i], mem[i]);
		t->code_sz += (uint64_t)got;
		start += (uint64_t)got;
		off += (uint64_t)got;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct tally t = { 0, 0 };
	char name[64], line[4096 + 128];
	FILE *maps;
	int mem_fd;

	if (argc != 2) {
		fprintf(stderr, "usage: codebytes PID\n");
		return 2;
	}
	snprintf(name, sizeof(name), "/proc/%s/mem", argv[1]);
	mem_fd = open(name, O_RDONLY | O_CLOEXEC);
	snprintf(name, sizeof(name), "/proc/%s/maps", argv[1]);
	maps = fopen(name, "re");
	if (mem_fd < 0 || !maps) {
		fprintf(stderr, "codebytes: %s: %s\n", argv[1], strerror(errno));
		return 3;
	}
	while (fgets(line, sizeof(line), maps)) {
		uint64_t start, end, off, ino;
		char perms[5], link[128];
		int path_at = 0, fd, err;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %" SCNu64 " %n", &start,
			   &end, perms, &off, &ino, &path_at) != 5 ||
		    perms[2] != 'x' || ino == 0)
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(link, sizeof(link), "/proc/%s/map_files/%" PRIx64 "-%" PRIx64, argv[1],
			 start, end);
		fd = open(link, O_RDONLY | O_CLOEXEC);
		err = fd < 0 ? -errno :
			       compare_mapping(mem_fd, fd, start, end, off, line + path_at, &t);
		if (fd >= 0)
			close(fd);
		if (err) {
			fprintf(stderr, "codebytes: %s: %s\n", line + path_at, strerror(-err));
			return 3;
		}
	}
	fclose(maps);
	close(mem_fd);
	printf("%" PRIu64 " bytes differ in %" PRIu64 " bytes of code\n", t.differ_cnt, t.code_sz);
	if (t.code_sz == 0)
		return 3;
	return t.differ_cnt ? 1 : 0;
}
