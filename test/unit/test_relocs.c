// SPDX-License-Identifier: Apache-2.0
#include "relocs.h"

#include "elfmaker.h"
#include "image.h"

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

static void check_words(unsigned cnt)
{
	struct relocs *r = NULL;
	struct image *img = NULL;
	uint64_t sz, *words = malloc(cnt * 8);
	int fd = elfmaker_open(&maker, &sz);

	assert_non_null(words);
	assert_int_equal(image_open(fd, sz, &img), 0);
	assert_int_equal(relocs_open(img, &r), 0);
	assert_int_equal(relocs_read(r, ELFMAKER_DATA, words, cnt * 8), 0);
	for (unsigned i = 0; i < cnt; i++) {
		uint64_t word;

		assert_int_equal(words[i], ELFMAKER_CODE + i);
		assert_int_equal(relocs_read(r, ELFMAKER_DATA + 8 * i, &word, 8), 0);
		assert_int_equal(word, ELFMAKER_CODE + i);
	}
	/* a relocation that is only half inside is not applied, nor written outside */
	memset(words, 0xaa, 24);
	assert_int_equal(relocs_read(r, ELFMAKER_DATA + 4, words, 12), 0);
	assert_int_equal(((uint8_t *)words)[12], 0xaa);
	assert_memory_equal((uint8_t *)words + 4, &(uint64_t){ ELFMAKER_CODE + 1 }, 8);
	assert_int_equal(relocs_read(r, ELFMAKER_DATA - 8, words, 8), -EFAULT);
	relocs_close(r);
	relocs_close(NULL);
	image_close(img);
	close(fd);
	free(words);
}

static void test_sorted(void **state)
{
	(void)state;
	elfmaker_init(&maker, true);
	for (unsigned i = 0; i < 4096; i++)
		elfmaker_pointer(&maker, ELFMAKER_CODE + i);
	check_words(4096);
}

static void test_unsorted(void **state)
{
	(void)state;
	elfmaker_init(&maker, true);
	for (unsigned i = 0; i < 1000; i++)
		elfmaker_pointer(&maker, ELFMAKER_CODE + i);
	for (unsigned i = 0; i < 500; i++) {
		uint64_t at = maker.relas[i].at, addend = maker.relas[i].addend;

		maker.relas[i].at = maker.relas[999 - i].at;
		maker.relas[i].addend = maker.relas[999 - i].addend;
		maker.relas[999 - i].at = at;
		maker.relas[999 - i].addend = addend;
	}
	check_words(1000);
}

/* not PIE, or RELR: the data itself holds the addresses */
static void test_plain_data(void **state)
{
	(void)state;
	elfmaker_init(&maker, false);
	for (unsigned i = 0; i < 100; i++)
		elfmaker_pointer(&maker, ELFMAKER_CODE + i);
	check_words(100);
}

static void test_other_kinds_and_places(void **state)
{
	struct relocs *r = NULL;
	struct image *img = NULL;
	uint64_t sz, word;
	int fd;

	(void)state;
	elfmaker_init(&maker, true);
	elfmaker_pointer(&maker, 1);
	elfmaker_pointer(&maker, 2);
	elfmaker_pointer(&maker, 3);
	maker.relas[0].info = R_X86_64_64; /* by symbol: not resolved here */
	maker.relas[1].at = UINT64_MAX - 3;
	fd = elfmaker_open(&maker, &sz);
	assert_int_equal(image_open(fd, sz, &img), 0);
	assert_int_equal(relocs_open(img, &r), 0);
	assert_int_equal(relocs_read(r, ELFMAKER_DATA, &word, 8), 0);
	assert_int_equal(word, 0);
	assert_int_equal(relocs_read(r, ELFMAKER_DATA + 16, &word, 8), 0);
	assert_int_equal(word, 3);
	relocs_close(r);
	/* a table that lies outside the file */
	img->rela_sz = UINT64_MAX / 2;
	assert_int_equal(relocs_open(img, &r), -ENOEXEC);
	image_close(img);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sorted),
		cmocka_unit_test(test_unsorted),
		cmocka_unit_test(test_plain_data),
		cmocka_unit_test(test_other_kinds_and_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
