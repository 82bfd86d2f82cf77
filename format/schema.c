// SPDX-License-Identifier: Apache-2.0
/*
 * schema.c - static facts about the events of records.def, and words for types and errors.
 */
#include "schema.h"

#include <errno.h>
#include <string.h>

#define T_V D9_T_VARINT
#define T_U8 D9_T_U8
#define T_U16 D9_T_U16
#define T_U32 D9_T_U32
#define T_BOOL D9_T_BOOL
#define T_F64 D9_T_F64
#define T_PS D9_T_PSTRING
#define T_PK D9_T_PSTACK
#define T_STR D9_T_STRING
#define T_MAP D9_T_MAP
#define T_oV (D9_T_VARINT | D9_T_OPTIONAL)
#define T_oPS (D9_T_PSTRING | D9_T_OPTIONAL)
#define T_oPK (D9_T_PSTACK | D9_T_OPTIONAL)

/* clang-format off */
#define D9_EVENT(NAME, name, wire, use, doc) \
	static const struct d9_field_def fields_##name[] = {
#define D9_FIELD(name, field, type, doc) { #field, T_##type, doc },
#define D9_END(name) }; \
	_Static_assert(D9F_##name##_cnt <= D9_SLOT_CNT, "raise D9_SLOT_CNT");
#include "records.def"
/* clang-format on */

_Static_assert((int)D9_EV_CNT <= (int)D9_TYPE_ANY_MIN,
	       "encoder's set of declared events is one word");

#define USE_W true
#define USE_R false
static const struct d9_event_def events[] = {
#define D9_EVENT(NAME, name, wire, use, doc) \
	{ #name, wire, doc, USE_##use, D9F_##name##_cnt, fields_##name },
#include "records.def"
};

const struct d9_event_def *d9_event_def(enum d9_event ev)
{
	return (unsigned int)ev < D9_EV_CNT ? &events[ev] : NULL;
}

enum d9_event d9_event_by_name(const char *name, size_t len)
{
	/* Once per schema, so a walk over some thirty names is cheap enough. */
	for (unsigned int i = 0; i < D9_EV_CNT; i++)
		if (strlen(events[i].name) == len && !memcmp(events[i].name, name, len))
			return (enum d9_event)i;
	return D9_EV_OTHER;
}

bool d9_loss_is_flaw(const char *kind, size_t len)
{
	static const char *const kinds[] = { "Stack", "Parks", "Order", "ReturnSite", "TaskId",
					     "SwitchTime" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (len == strlen(kinds[i]) && !memcmp(kind, kinds[i], len))
			return true;
	return false;
}

const char *d9_type_name(uint8_t type)
{
	static const char *const names[][2] = {
		[D9_T_I64] = { "I64", "optional I64" },
		[D9_T_F64] = { "F64", "optional F64" },
		[D9_T_BOOL] = { "Bool", "optional Bool" },
		[D9_T_STRING] = { "String", "optional String" },
		[D9_T_BYTES] = { "Bytes", "optional Bytes" },
		[D9_T_PSTACK] = { "PooledStack", "optional PooledStack" },
		[D9_T_PSTRING] = { "PooledString", "optional PooledString" },
		[D9_T_STACK] = { "Stack", "optional Stack" },
		[D9_T_VARINT] = { "Varint", "optional Varint" },
		[D9_T_MAP] = { "StringMap", "optional StringMap" },
		[D9_T_U8] = { "U8", "optional U8" },
		[D9_T_U16] = { "U16", "optional U16" },
		[D9_T_U32] = { "U32", "optional U32" },
		[D9_T_DYN_LIST] = { "DynamicList", "optional DynamicList" },
		[D9_T_DYN_MAP] = { "DynamicMap", "optional DynamicMap" },
	};

	if (!type_is_known(type))
		return "?";
	return names[type & ~D9_T_OPTIONAL][!!(type & D9_T_OPTIONAL)];
}

const char *d9_strerror(int rc)
{
	switch (rc) {
#define D9_ERROR(name, number, text) \
	case -D9_E_##name:           \
		return text;
#include "errors.def"
#undef D9_ERROR
	}
	return rc < 0 ? strerror(-rc) : "no error";
}
