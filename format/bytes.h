/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.h - little-endian loads and stores and the varint, for both directions.
 * Stores do not check room: the encoder has checked a worst-case bound before. Loads work on a
 * cursor that ends at the last byte given, and check each step.
 */
#ifndef DIAL9_BYTES_H
#define DIAL9_BYTES_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define VARINT_MAX_SZ 10u

static inline uint16_t load16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return le16toh(v);
}

static inline uint32_t load32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

static inline uint64_t load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

static inline uint8_t *store16(uint8_t *p, uint16_t v)
{
	v = htole16(v);
	memcpy(p, &v, sizeof(v));
	return p + sizeof(v);
}

static inline uint8_t *store32(uint8_t *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, sizeof(v));
	return p + sizeof(v);
}

static inline uint8_t *store64(uint8_t *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, sizeof(v));
	return p + sizeof(v);
}

static inline uint8_t *store_bytes(uint8_t *p, const void *src, size_t len)
{
	if (len)
		memcpy(p, src, len);
	return p + len;
}

static inline uint8_t *store_varint(uint8_t *p, uint64_t v)
{
	while (unlikely(v >= 0x80)) {
		*p++ = (uint8_t)v | 0x80;
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

static inline uint32_t varint_sz(uint64_t v)
{
	return (uint32_t)(63 - __builtin_clzll(v | 1)) / 7 + 1;
}

#endif
