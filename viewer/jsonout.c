// SPDX-License-Identifier: Apache-2.0
/* jsonout.c - yajl_gen over a FILE. */
#include "jsonout.h"

#include "plain.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_gen.h>

struct json {
	yajl_gen gen;
	FILE *out;
	char *text; /* the last string that had to be made valid */
	size_t text_sz;
	int err;
};

static void json_write(void *ctx, const char *p, size_t len)
{
	struct json *j = ctx;

	if (j->err == 0 && fwrite(p, 1, len, j->out) != len)
		j->err = errno ? -errno : -EIO;
}

struct json *json_open(FILE *out, bool pretty)
{
	struct json *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->out = out;
	j->gen = yajl_gen_alloc(NULL);
	if (!j->gen) {
		free(j);
		return NULL;
	}
	yajl_gen_config(j->gen, yajl_gen_print_callback, json_write, j);
	yajl_gen_config(j->gen, yajl_gen_beautify, (int)pretty);
	yajl_gen_config(j->gen, yajl_gen_indent_string, "  ");
	return j;
}

int json_close(struct json *j)
{
	int err;

	if (!j)
		return 0;
	err = j->err;
	if (fflush(j->out) != 0 && err == 0)
		err = -errno;
	yajl_gen_free(j->gen);
	free(j->text);
	free(j);
	return err;
}

static void json_check(struct json *j, yajl_gen_status status)
{
	/* beyond memory only a wrong call order can fail: both end the output */
	if (status != yajl_gen_status_ok && j->err == 0)
		j->err = -ENOMEM;
}

void json_line(struct json *j)
{
	yajl_gen_reset(j->gen, "\n");
}

void json_map(struct json *j)
{
	json_check(j, yajl_gen_map_open(j->gen));
}

void json_map_end(struct json *j)
{
	json_check(j, yajl_gen_map_close(j->gen));
}

void json_list(struct json *j)
{
	json_check(j, yajl_gen_array_open(j->gen));
}

void json_list_end(struct json *j)
{
	json_check(j, yajl_gen_array_close(j->gen));
}

void json_u64(struct json *j, uint64_t value)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, value);

	json_check(j, yajl_gen_number(j->gen, digits, (size_t)len));
}

void json_i64(struct json *j, int64_t value)
{
	json_check(j, yajl_gen_integer(j->gen, value));
}

void json_f64(struct json *j, double value)
{
	char digits[PLAIN_SZ];

	if (!isfinite(value)) {
		json_null(j);
		return;
	}
	plain_f64(digits, value);
	json_check(j, yajl_gen_number(j->gen, digits, strlen(digits)));
}

void json_bool(struct json *j, bool value)
{
	json_check(j, yajl_gen_bool(j->gen, value));
}

void json_null(struct json *j)
{
	json_check(j, yajl_gen_null(j->gen));
}

void json_text(struct json *j, const char *text)
{
	json_bytes(j, text, strlen(text));
}

void json_bytes(struct json *j, const char *p, size_t len)
{
	static const char replacement[] = "\xef\xbf\xbd";
	size_t good = 0, at = 0, step;
	char *grown;

	if (len == 0) /* p may be NULL then */
		p = "";
	while (good < len && (step = plain_char(p + good, len - good, NULL)) > 0)
		good += step;
	if (good == len) {
		json_check(j, yajl_gen_string(j->gen, (const unsigned char *)p, len));
		return;
	}
	if (j->text_sz < 3 * len) { /* a bad byte becomes three */
		grown = realloc(j->text, 3 * len);
		if (!grown) {
			j->err = -ENOMEM;
			return;
		}
		j->text = grown;
		j->text_sz = 3 * len;
	}
	for (size_t i = 0; i < len; i += step) {
		step = plain_char(p + i, len - i, NULL);
		memcpy(j->text + at, step ? p + i : replacement, step ? step : 3);
		at += step ? step : 3;
		step = step ? step : 1;
	}
	json_check(j, yajl_gen_string(j->gen, (const unsigned char *)j->text, at));
}

void json_hex(struct json *j, const uint8_t *p, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	char *text = malloc(2 * len + 1);

	if (!text) {
		j->err = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < len; i++) {
		text[2 * i] = digits[p[i] >> 4];
		text[2 * i + 1] = digits[p[i] & 15];
	}
	json_check(j, yajl_gen_string(j->gen, (const unsigned char *)text, 2 * len));
	free(text);
}

void json_key(struct json *j, const char *key)
{
	json_text(j, key);
}

void json_key_bytes(struct json *j, const char *p, size_t len)
{
	json_bytes(j, p, len);
}

void json_put_u64(struct json *j, const char *key, uint64_t value)
{
	json_key(j, key);
	json_u64(j, value);
}

void json_put_text(struct json *j, const char *key, const char *text)
{
	json_key(j, key);
	json_text(j, text);
}

void json_put_bytes(struct json *j, const char *key, const char *p, size_t len)
{
	json_key(j, key);
	json_bytes(j, p, len);
}

void json_put_null(struct json *j, const char *key)
{
	json_key(j, key);
	json_null(j);
}
