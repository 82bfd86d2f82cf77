// SPDX-License-Identifier: Apache-2.0
/* guests.c - a fixed table under one lock. */
#include "guests.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>

struct guest {
	int fd; /* -1: the slot is free */
	uint64_t since_ns, time_ns; /* time_ns: what it has from then on; 0: as much as it takes */
};

struct guests {
	pthread_mutex_t lock;
	struct guest slots[GUESTS_MAX];
};

struct guests *guests_new(void)
{
	struct guests *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	pthread_mutex_init(&c->lock, NULL);
	for (unsigned int i = 0; i < GUESTS_MAX; i++)
		c->slots[i].fd = -1;
	return c;
}

void guests_free(struct guests *c)
{
	if (c)
		pthread_mutex_destroy(&c->lock);
	free(c);
}

int guests_enter(struct guests *c, int fd, uint64_t now_ns)
{
	int got = -1;

	pthread_mutex_lock(&c->lock);
	for (unsigned int i = 0; i < GUESTS_MAX && got < 0; i++)
		if (c->slots[i].fd < 0) {
			c->slots[i] = (struct guest){ fd, now_ns, GUESTS_REQUEST_NS };
			got = (int)i;
		}
	pthread_mutex_unlock(&c->lock);
	return got;
}

static void guests_set(struct guests *c, int slot, uint64_t time_ns, uint64_t now_ns)
{
	if (slot < 0)
		return;
	pthread_mutex_lock(&c->lock);
	c->slots[slot].time_ns = time_ns;
	c->slots[slot].since_ns = now_ns;
	pthread_mutex_unlock(&c->lock);
}

void guests_asked(struct guests *c, int slot)
{
	guests_set(c, slot, 0, 0);
}

void guests_sending(struct guests *c, int slot, uint64_t now_ns)
{
	guests_set(c, slot, GUESTS_ANSWER_NS, now_ns);
}

void guests_answered(struct guests *c, int slot, uint64_t now_ns)
{
	guests_set(c, slot, GUESTS_REQUEST_NS, now_ns);
}

void guests_leave(struct guests *c, int slot)
{
	if (slot < 0)
		return;
	pthread_mutex_lock(&c->lock);
	c->slots[slot].fd = -1;
	pthread_mutex_unlock(&c->lock);
}

unsigned int guests_expire(struct guests *c, uint64_t now_ns)
{
	static const struct linger gone = { .l_onoff = 1 };
	unsigned int cnt = 0;

	pthread_mutex_lock(&c->lock);
	for (unsigned int i = 0; i < GUESTS_MAX; i++) {
		struct guest *s = &c->slots[i];

		if (s->fd < 0 || !s->time_ns || now_ns < s->since_ns ||
		    now_ns - s->since_ns < s->time_ns)
			continue;
		/* what it has not read of its answer is not kept for it either */
		if (s->time_ns == GUESTS_ANSWER_NS)
			setsockopt(s->fd, SOL_SOCKET, SO_LINGER, &gone, sizeof(gone));
		shutdown(s->fd, SHUT_RDWR);
		s->time_ns = 0;
		cnt++;
	}
	pthread_mutex_unlock(&c->lock);
	return cnt;
}
