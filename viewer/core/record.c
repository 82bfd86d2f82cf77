// SPDX-License-Identifier: Apache-2.0
/* record.c - any event to varints. */
#include "record.h"

#include "gather.h"
#include "format/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_DEPTH_MAX 32u /* lists in lists; deeper ones print as null */

static void record_varint(struct gather *g, uint64_t u)
{
	uint8_t *p;

	do {
		p = gather_row(g, &g->record_bytes);
		if (!p)
			return;
		*p = (uint8_t)((u & 0x7f) | (u > 0x7f ? 0x80 : 0));
		u >>= 7;
	} while (u);
}

static void record_string(FILE *f, const char *p, size_t len)
{
	fputc('"', f);
	for (size_t i = 0; i < len; i++) {
		unsigned char ch = (unsigned char)p[i];

		if (ch == '"' || ch == '\\')
			fprintf(f, "\\%c", ch);
		else if (ch < 0x20 || ch == 0x7f)
			fprintf(f, "\\u%04x", ch);
		else
			fputc(ch, f);
	}
	fputc('"', f);
}

/* One value within a list or map. Depth is bounded by RECORD_DEPTH_MAX. */
static void record_json(FILE *f, const struct d9_value *v, unsigned int depth)
{
	struct d9_iter it = { 0 };
	struct d9_value item;
	struct d9_pair pair;
	bool is_map = v->type == D9_T_DYN_MAP || v->type == D9_T_MAP;
	const char *between = "";

	switch (depth < RECORD_DEPTH_MAX ? v->type : D9_T_NONE) {
	case D9_T_BOOL:
		fputs(v->u ? "true" : "false", f);
		break;
	case D9_T_VARINT:
	case D9_T_U8:
	case D9_T_U16:
	case D9_T_U32:
		fprintf(f, "%llu", (unsigned long long)v->u);
		break;
	case D9_T_I64:
		fprintf(f, "%lld", (long long)v->i);
		break;
	case D9_T_F64:
		if (v->f - v->f == 0)
			fprintf(f, "%.17g", v->f);
		else
			fputs("null", f);
		break;
	case D9_T_STRING:
		record_string(f, v->str, v->cnt);
		break;
	case D9_T_MAP:
		fputc('{', f);
		while (d9_map_next(v, &it, &pair)) {
			fputs(between, f);
			record_string(f, pair.key.p, pair.key.len);
			fputc(':', f);
			record_string(f, pair.val.p, pair.val.len);
			between = ",";
		}
		fputc('}', f);
		break;
	case D9_T_DYN_LIST:
	case D9_T_DYN_MAP:
		/* a map's keys may be of any type: it prints as [key,value,key,value] */
		fputs(is_map ? "{\"pairs\":[" : "[", f);
		while (d9_dyn_next(v, &it, &item)) {
			fputs(between, f);
			record_json(f, &item, depth + 1);
			between = ",";
		}
		fputs(is_map ? "]}" : "]", f);
		break;
	default:
		fputs("null", f);
		break;
	}
}

static uint32_t record_json_text(struct gather *g, const struct d9_value *v)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	uint32_t number = 0;

	if (!f) {
		g->err = -ENOMEM;
		return 0;
	}
	record_json(f, v, 0);
	if (fclose(f) == 0)
		number = dict_put(&g->texts, text, len, &g->err);
	else
		g->err = -ENOMEM;
	free(text);
	return number;
}

static void record_value(struct gather *g, const struct d9_ev *ev, const struct d9_value *v)
{
	uint8_t *type = gather_row(g, &g->record_bytes);

	if (!type)
		return;
	*type = v->type;
	switch (v->type) {
	case D9_T_NONE:
		break;
	case D9_T_STRING:
	case D9_T_PSTRING:
		record_varint(g, gather_text(g, ev, v));
		break;
	case D9_T_PSTACK:
	case D9_T_STACK:
		record_varint(g, gather_stack(g, ev, v));
		break;
	case D9_T_BYTES:
		record_varint(g, dict_put(&g->texts, v->bytes, v->cnt, &g->err));
		break;
	case D9_T_MAP:
	case D9_T_DYN_LIST:
	case D9_T_DYN_MAP:
		record_varint(g, record_json_text(g, v));
		break;
	default:
		record_varint(g, v->u);
		break;
	}
}

/* A schema as one string: its name, then type and name of each field. Same string, same number. */
static uint32_t record_schema(struct gather *g, const struct d9_schema *s)
{
	struct gather_schema *known = &g->schema_of[s->type_id & (GATHER_SCHEMAS - 1)];
	size_t len = s->name_len + 1u, at;
	char *key;

	if (known->batch == g->batch && known->schema == s)
		return known->number;
	for (uint16_t i = 0; i < s->field_cnt; i++)
		len += s->fields[i].name_len + 2u;
	key = malloc(len);
	if (!key) {
		g->err = -ENOMEM;
		return 0;
	}
	memcpy(key, s->name, s->name_len + 1u);
	at = s->name_len + 1u;
	for (uint16_t i = 0; i < s->field_cnt; i++) {
		key[at++] = (char)(s->fields[i].type & ~D9_T_OPTIONAL);
		memcpy(key + at, s->fields[i].name, s->fields[i].name_len + 1u);
		at += s->fields[i].name_len + 1u;
	}
	*known = (struct gather_schema){ g->batch, s, dict_put(&g->schemas, key, len, &g->err) };
	free(key);
	return known->number;
}

void record_gather(struct gather *g, const struct d9_ev *ev)
{
	struct gather_record *r;

	g->batch = g->batch_base + ev->batch;
	r = gather_row(g, &g->records);
	if (!r)
		return;
	*r = (struct gather_record){ ev->ts_ns, 0, record_schema(g, ev->schema),
				     g->record_bytes.cnt };
	for (uint16_t i = 0; i < ev->schema->field_cnt; i++)
		record_value(g, ev, &ev->values[i]);
}
