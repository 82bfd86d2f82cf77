// SPDX-License-Identifier: Apache-2.0
#include "image.h"

#include "elfmaker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct elfmaker maker;

static struct image *open_maker(int *ret_fd)
{
	struct image *img = NULL;
	uint64_t sz;

	*ret_fd = elfmaker_open(&maker, &sz);
	assert_int_equal(image_open(*ret_fd, sz, &img), 0);
	return img;
}

static void test_headers(void **state)
{
	struct image *img;
	uint64_t off;
	int fd;

	(void)state;
	elfmaker_init(&maker, true);
	elfmaker_text(&maker, "text");
	img = open_maker(&fd);
	assert_true(img->is_pie);
	assert_int_equal(img->segs_cnt, 3);
	assert_string_equal(img->build_id, "deadbeef");
	assert_int_equal(img->tls_sz, 0x48);
	assert_true(image_is_code(img, ELFMAKER_CODE + 8));
	assert_false(image_is_code(img, ELFMAKER_TEXT));
	assert_false(image_is_code(img, ELFMAKER_CODE - 1));
	assert_false(image_is_code(img, ELFMAKER_CODE + maker.code_sz));
	assert_int_equal(image_file_off(img, ELFMAKER_CODE + 5, &off), 0);
	assert_int_equal(off, 0x1005);
	assert_int_equal(image_file_off(img, ELFMAKER_TEXT + 4, &off), -EFAULT);
	image_close(img);
	image_close(NULL);
	close(fd);
}

static void test_reads(void **state)
{
	struct image *img;
	char buf[8];
	int fd;

	(void)state;
	elfmaker_init(&maker, false);
	elfmaker_text(&maker, "0123456789");
	img = open_maker(&fd);
	assert_int_equal(image_read(img, ELFMAKER_TEXT + 2, buf, 8), 0);
	assert_memory_equal(buf, "23456789", 8);
	assert_int_equal(image_read(img, ELFMAKER_TEXT + 3, buf, 8), -EFAULT);
	assert_int_equal(image_read_some(img, ELFMAKER_TEXT + 6, buf, 8), 4);
	assert_memory_equal(buf, "6789", 4);
	assert_int_equal(image_read_some(img, ELFMAKER_TEXT + 10, buf, 8), 0);
	assert_int_equal(image_read(img, UINT64_MAX - 2, buf, 8), -EFAULT);
	/* the file shrinks after it was opened */
	assert_int_equal(ftruncate(fd, 100), 0);
	assert_int_equal(image_read(img, ELFMAKER_DATA, buf, 8), -EIO);
	image_close(img);
	close(fd);
}

static void test_bias(void **state)
{
	struct image *img;
	uint64_t bias;
	int fd;

	(void)state;
	elfmaker_init(&maker, true);
	img = open_maker(&fd);
	assert_int_equal(image_bias(img, 0x7f0000001000, 0x1000, &bias), 0);
	assert_int_equal(bias, 0x7f0000001000 - ELFMAKER_CODE);
	assert_int_equal(image_bias(img, 0x7f0000001000, 0x300000, &bias), -EINVAL);
	image_close(img);
	close(fd);
}

static void put16(uint8_t *file, size_t at, uint16_t v)
{
	memcpy(file + at, &v, sizeof(v));
}

static void test_refused(void **state)
{
	static const struct {
		size_t at;
		uint16_t v;
	} bad[] = {
		{ 0, 0 },
		{ 4, 1 },
		{ offsetof(Elf64_Ehdr, e_ident) + 4, 0x0101 },
		{ offsetof(Elf64_Ehdr, e_machine), EM_AARCH64 },
		{ offsetof(Elf64_Ehdr, e_type), ET_REL },
		{ offsetof(Elf64_Ehdr, e_phnum), 0 },
		{ offsetof(Elf64_Ehdr, e_phnum), PN_XNUM },
		{ offsetof(Elf64_Ehdr, e_phentsize), 32 },
		{ offsetof(Elf64_Ehdr, e_phoff) + 6, 0x7fff },
		/* the first segment: size, then address, beyond everything */
		{ 64 + offsetof(Elf64_Phdr, p_filesz) + 6, 0xffff },
		{ 64 + offsetof(Elf64_Phdr, p_offset) + 6, 0xffff },
		{ 64 + offsetof(Elf64_Phdr, p_vaddr) + 6, 0xffff },
	};
	struct image *img = NULL;
	uint8_t *file;
	uint64_t sz;
	int fd;

	(void)state;
	elfmaker_init(&maker, true);
	fd = elfmaker_open(&maker, &sz);
	file = malloc(sz);
	assert_non_null(file);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int bad_fd, err;

		assert_int_equal(pread(fd, file, sz, 0), (ssize_t)sz);
		put16(file, bad[i].at, bad[i].v);
		bad_fd = elfmaker_raw(file, sz);
		err = image_open(bad_fd, sz, &img);
		if (bad[i].at == 64 + offsetof(Elf64_Phdr, p_vaddr) + 6)
			assert_true(err == -ENOEXEC || img->segs[0].vaddr > UINT64_MAX / 2);
		else
			assert_int_equal(err, -ENOEXEC);
		if (!err)
			image_close(img);
		close(bad_fd);
	}
	free(file);
	close(fd);
}

/* A file cut inside its headers or segments is refused. */
static void test_cut(void **state)
{
	struct image *img;
	uint64_t sz;
	int fd;

	(void)state;
	elfmaker_init(&maker, true);
	elfmaker_pointer(&maker, ELFMAKER_CODE);
	fd = elfmaker_open(&maker, &sz);
	for (uint64_t n = 0; n < 0x2000; n += 7) {
		assert_int_equal(image_open(fd, n, &img), -ENOEXEC);
	}
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_headers), cmocka_unit_test(test_reads),
		cmocka_unit_test(test_bias),	cmocka_unit_test(test_refused),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
