// SPDX-License-Identifier: Apache-2.0
#include "dynsym.h"

#include "image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct image *open_image(const char *path, int *ret_fd)
{
	struct image *img = NULL;
	struct stat st;

	*ret_fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(*ret_fd >= 0);
	assert_int_equal(fstat(*ret_fd, &st), 0);
	assert_int_equal(image_open(*ret_fd, (uint64_t)st.st_size, &img), 0);
	return img;
}

/* what the dynamic linker itself found is the truth */
static void test_libc(void **state)
{
	static const char *const names[] = { "getppid", "abort", "srand", "truncate" };
	struct image *img;
	uint64_t vaddr;
	int fd;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		void *addr = dlsym(RTLD_DEFAULT, names[i]);
		struct link_map *map;
		Dl_info info;

		assert_non_null(addr);
		assert_int_not_equal(dladdr1(addr, &info, (void **)&map, RTLD_DL_LINKMAP), 0);
		if (strstr(info.dli_fname, "san"))
			continue; /* a sanitizer stands in front of it */
		img = open_image(info.dli_fname, &fd);
		assert_int_equal(dynsym_find(img, names[i], true, &vaddr), 0);
		assert_int_equal(vaddr + map->l_addr, (uintptr_t)addr);
		image_close(img);
		close(fd);
	}
}

int dynsym_test_marker(void);
int dynsym_test_marker(void)
{
	return 5;
}

static int own_bias(struct dl_phdr_info *info, size_t sz, void *ctx)
{
	(void)sz;
	*(uint64_t *)ctx = info->dlpi_addr;
	return 1;
}

/* a function that only .symtab names */
static void test_symtab(void **state)
{
	struct image *img;
	uint64_t vaddr, bias = 0;
	int fd;

	(void)state;
	dl_iterate_phdr(own_bias, &bias);
	img = open_image("/proc/self/exe", &fd);
	assert_int_equal(dynsym_find(img, "dynsym_test_marker", true, &vaddr), 0);
	assert_int_equal(vaddr + bias, (uintptr_t)dynsym_test_marker);
	/* a tail of a name, a name that is only used, one that is nowhere, one that is too long */
	assert_int_equal(dynsym_find(img, "test_marker", true, &vaddr), -ENOENT);
	assert_int_equal(dynsym_find(img, "dlsym", true, &vaddr), -ENOENT);
	assert_int_equal(dynsym_find(img, "no_such_function", true, &vaddr), -ENOENT);
	assert_int_equal(dynsym_find(img,
				     "a_name_that_is_longer_than_any_name_that_is_ever_looked_"
				     "up_here_by_anyone",
				     true, &vaddr),
			 -ENOENT);
	image_close(img);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_libc),
		cmocka_unit_test(test_symtab),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
