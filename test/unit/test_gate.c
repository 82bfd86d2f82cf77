// SPDX-License-Identifier: Apache-2.0
/* test_gate.c - who may ask: each rule alone, against a request that passes. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "viewer/gate.h"

#include <string.h>

static struct gate gate;
static struct gate_request ask;

static int setup(void **state)
{
	(void)state;
	gate = (struct gate){ 0 };
	assert_true(gate_add_host(&gate, "127.0.0.1", 8080));
	assert_true(gate_add_host(&gate, "LocalHost", 8080));
	ask = (struct gate_request){
		.method = "GET", .path = "/api/trace", .host = "127.0.0.1:8080", .hosts_cnt = 1
	};
	return 0;
}

static unsigned int check(void)
{
	const char *why = NULL;
	unsigned int status = gate_check(&gate, &ask, &why);

	assert_int_equal(status != 0, why != NULL);
	return status;
}

static void test_methods_and_bodies(void **state)
{
	static const char *const refused[] = { "POST", "PUT", "get", "GETX", "", "OPTIONS" };

	(void)state;
	assert_int_equal(check(), 0);
	ask.method = "HEAD";
	assert_int_equal(check(), 0);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		ask.method = refused[i];
		assert_int_equal(check(), 405);
	}
	ask.method = "GET";
	ask.has_body = true;
	assert_int_equal(check(), 400);
}

static void test_host_is_ours_to_the_letter(void **state)
{
	static const char *const refused[] = { "127.0.0.1",
					       "127.0.0.1:80",
					       "127.0.0.1:80800",
					       "127.0.0.1:8080.x",
					       "x127.0.0.1:8080",
					       "127.0.0.1:8080 ",
					       "",
					       "localhost",
					       "[::1]:8080" };

	(void)state;
	ask.host = "LOCALHOST:8080";
	assert_int_equal(check(), 0);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		ask.host = refused[i];
		assert_int_equal(check(), 421);
	}
	ask.host = NULL;
	assert_int_equal(check(), 400);
	ask.host = "127.0.0.1:8080";
	ask.hosts_cnt = 2;
	assert_int_equal(check(), 400);
	ask.hosts_cnt = 0;
	assert_int_equal(check(), 400);
}

static void test_origin_is_the_host(void **state)
{
	static const char *const refused[] = {
		"null",
		"http://127.0.0.1",
		"https://127.0.0.1:8080",
		"http://localhost:8080", /* ours, but not the one asked */
		"http://127.0.0.1:8080/",
		"127.0.0.1:8080",
		""
	};

	(void)state;
	ask.origin = "http://127.0.0.1:8080";
	assert_int_equal(check(), 0);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		ask.origin = refused[i];
		assert_int_equal(check(), 403);
	}
}

static void test_only_our_page_asks_the_api(void **state)
{
	(void)state;
	ask.site = "same-origin";
	assert_int_equal(check(), 0);
	ask.site = "none";
	assert_int_equal(check(), 0);
	ask.site = "cross-site";
	assert_int_equal(check(), 403);
	ask.mode = "navigate"; /* a link to the API is no way in */
	assert_int_equal(check(), 403);
	ask.path = "/";
	assert_int_equal(check(), 0);
	ask.mode = "no-cors";
	assert_int_equal(check(), 403);
	ask.mode = NULL;
	assert_int_equal(check(), 403);
}

static void test_token_guards_the_api_alone(void **state)
{
	(void)state;
	strcpy(gate.token, "0123456789abcdef0123456789abcdef");
	assert_int_equal(check(), 401);
	ask.token = "0123456789abcdef0123456789abcdeF";
	assert_int_equal(check(), 401);
	ask.token = "0123456789abcdef0123456789abcdef0";
	assert_int_equal(check(), 401);
	ask.token = "";
	assert_int_equal(check(), 401);
	ask.token = gate.token;
	assert_int_equal(check(), 0);
	ask.token = NULL;
	ask.path = "/app.js";
	assert_int_equal(check(), 0);
}

static void test_names_that_are_none(void **state)
{
	char longest[GATE_HOST_SZ + 1];

	(void)state;
	assert_false(gate_add_host(&gate, "", 80));
	assert_false(gate_add_host(&gate, "a b", 80));
	assert_false(gate_add_host(&gate, "a/b", 80));
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_false(gate_add_host(&gate, longest, 80));
	assert_int_equal(gate.hosts_cnt, 2);
	/* port 80 is left out by browsers: both forms */
	assert_true(gate_add_host(&gate, "example", 80));
	ask.host = "example";
	assert_int_equal(check(), 0);
	ask.host = "example:80";
	assert_int_equal(check(), 0);
	while (gate_add_host(&gate, "more", 8080))
		;
	assert_int_equal(gate.hosts_cnt, GATE_HOSTS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_methods_and_bodies, setup),
		cmocka_unit_test_setup(test_host_is_ours_to_the_letter, setup),
		cmocka_unit_test_setup(test_origin_is_the_host, setup),
		cmocka_unit_test_setup(test_only_our_page_asks_the_api, setup),
		cmocka_unit_test_setup(test_token_guards_the_api_alone, setup),
		cmocka_unit_test_setup(test_names_that_are_none, setup),
	};

	return cmocka_run_group_tests_name("gate", tests, NULL, NULL);
}
