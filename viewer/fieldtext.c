// SPDX-License-Identifier: Apache-2.0
/*
 * fieldtext.c - values as text and JSON. Lists and maps nest, at most D9_NEST_MAX deep: the
 * decoder has refused deeper ones, so recursion is safe here.
 */
#include "fieldtext.h"

#include "jsonout.h"
#include "plain.h"
#include "format/trace.h"

#include <inttypes.h>
#include <string.h>

static void fieldtext_quote(FILE *out, const char *p, size_t len)
{
	const char *quote;

	putc('"', out);
	while (len > 0 && (quote = memchr(p, '"', len))) {
		plain_write(out, p, (size_t)(quote - p));
		fputs("\\\"", out);
		len -= (size_t)(quote + 1 - p);
		p = quote + 1;
	}
	plain_write(out, p, len);
	putc('"', out);
}

static void fieldtext_map(FILE *out, const struct d9_value *v)
{
	struct d9_iter it = { 0 };
	struct d9_pair pair;
	const char *between = "";

	putc('{', out);
	while (d9_map_next(v, &it, &pair)) {
		fputs(between, out);
		fieldtext_quote(out, pair.key.p, pair.key.len);
		fputs(": ", out);
		fieldtext_quote(out, pair.val.p, pair.val.len);
		between = ", ";
	}
	putc('}', out);
}

static void fieldtext_dyn(FILE *out, const struct d9_value *v)
{
	struct d9_iter it = { 0 };
	struct d9_value item;
	bool is_map = v->type == D9_T_DYN_MAP;

	putc(is_map ? '{' : '[', out);
	for (uint32_t i = 0; d9_dyn_next(v, &it, &item); i++) {
		if (i > 0)
			fputs(is_map && i % 2 ? ": " : ", ", out);
		fieldtext_write(out, &item);
	}
	putc(is_map ? '}' : ']', out);
}

void fieldtext_write(FILE *out, const struct d9_value *v)
{
	char number[PLAIN_SZ];

	switch (v->type) {
	case D9_T_NONE:
		putc('-', out);
		break;
	case D9_T_I64:
		fprintf(out, "%" PRId64, v->i);
		break;
	case D9_T_F64:
		fputs(plain_f64(number, v->f), out);
		break;
	case D9_T_BOOL:
		fputs(v->u ? "true" : "false", out);
		break;
	case D9_T_VARINT:
	case D9_T_U8:
	case D9_T_U16:
	case D9_T_U32:
		fprintf(out, "%" PRIu64, v->u);
		break;
	case D9_T_STRING:
	case D9_T_PSTRING:
		if (v->str)
			fieldtext_quote(out, v->str, v->cnt);
		else
			fprintf(out, "unresolved#%" PRIu32, v->pool_id);
		break;
	case D9_T_STACK:
	case D9_T_PSTACK:
		if (!v->frames && v->type == D9_T_PSTACK) {
			fprintf(out, "unresolved#%" PRIu32, v->pool_id);
			break;
		}
		putc('[', out);
		for (uint32_t i = 0; i < v->cnt; i++)
			fprintf(out, "%s0x%" PRIx64, i ? " " : "", v->frames[i]);
		putc(']', out);
		break;
	case D9_T_BYTES:
		for (uint32_t i = 0; i < v->cnt; i++)
			fprintf(out, "%02x", v->bytes[i]);
		break;
	case D9_T_MAP:
		fieldtext_map(out, v);
		break;
	case D9_T_DYN_LIST:
	case D9_T_DYN_MAP:
		fieldtext_dyn(out, v);
		break;
	}
}

static void fieldtext_json_unresolved(struct json *j, uint32_t id)
{
	json_map(j);
	json_put_u64(j, "unresolved", id);
	json_map_end(j);
}

static void fieldtext_json_map(struct json *j, const struct d9_value *v)
{
	struct d9_iter it = { 0 };
	struct d9_pair pair;

	json_map(j);
	while (d9_map_next(v, &it, &pair)) {
		json_key_bytes(j, pair.key.p, pair.key.len);
		json_bytes(j, pair.val.p, pair.val.len);
	}
	json_map_end(j);
}

/* Keys of a dynamic map may be of any type: it is a list of [key, value]. */
static void fieldtext_json_dyn(struct json *j, const struct d9_value *v)
{
	struct d9_iter it = { 0 };
	struct d9_value item;
	bool is_map = v->type == D9_T_DYN_MAP;

	json_list(j);
	for (uint32_t i = 0; d9_dyn_next(v, &it, &item); i++) {
		if (is_map && i % 2 == 0)
			json_list(j);
		fieldtext_json(j, &item);
		if (is_map && i % 2 == 1)
			json_list_end(j);
	}
	json_list_end(j);
}

void fieldtext_json(struct json *j, const struct d9_value *v)
{
	switch (v->type) {
	case D9_T_I64:
		json_i64(j, v->i);
		return;
	case D9_T_F64:
		json_f64(j, v->f);
		return;
	case D9_T_BOOL:
		json_bool(j, v->u != 0);
		return;
	case D9_T_VARINT:
	case D9_T_U8:
	case D9_T_U16:
	case D9_T_U32:
		json_u64(j, v->u);
		return;
	case D9_T_STRING:
	case D9_T_PSTRING:
		if (v->str)
			json_bytes(j, v->str, v->cnt);
		else
			fieldtext_json_unresolved(j, v->pool_id);
		return;
	case D9_T_STACK:
	case D9_T_PSTACK:
		if (!v->frames && v->type == D9_T_PSTACK) {
			fieldtext_json_unresolved(j, v->pool_id);
			return;
		}
		json_list(j);
		for (uint32_t i = 0; i < v->cnt; i++)
			json_u64(j, v->frames[i]);
		json_list_end(j);
		return;
	case D9_T_BYTES:
		json_hex(j, v->bytes, v->cnt);
		return;
	case D9_T_MAP:
		fieldtext_json_map(j, v);
		return;
	case D9_T_DYN_LIST:
	case D9_T_DYN_MAP:
		fieldtext_json_dyn(j, v);
		return;
	}
	json_null(j);
}
