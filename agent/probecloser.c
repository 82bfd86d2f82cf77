// SPDX-License-Identifier: Apache-2.0
#include "probecloser.h"

#include <stdlib.h>

#include <bpf/libbpf.h>

struct probecloser_job {
	struct probecloser *closer;
	struct bpf_link **links;
	size_t cnt;
};

void probecloser_init(struct probecloser *c)
{
	*c = (struct probecloser){ .lock = PTHREAD_MUTEX_INITIALIZER,
				   .is_done = PTHREAD_COND_INITIALIZER };
}

static void probecloser_close(struct bpf_link **links, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		bpf_link__destroy(links[i]);
	free(links);
}

static void *probecloser_run(void *arg)
{
	struct probecloser_job *job = arg;
	struct probecloser *c = job->closer;

	probecloser_close(job->links, job->cnt);
	free(job);
	pthread_mutex_lock(&c->lock);
	if (!--c->running_cnt)
		pthread_cond_broadcast(&c->is_done);
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

void probecloser_take(struct probecloser *c, struct bpf_link **links, size_t cnt)
{
	struct probecloser_job *job = cnt ? malloc(sizeof(*job)) : NULL;
	pthread_t thread;

	if (job) {
		*job = (struct probecloser_job){ c, links, cnt };
		pthread_mutex_lock(&c->lock);
		c->running_cnt++;
		pthread_mutex_unlock(&c->lock);
		if (!pthread_create(&thread, NULL, probecloser_run, job)) {
			pthread_detach(thread);
			return;
		}
		pthread_mutex_lock(&c->lock);
		c->running_cnt--;
		pthread_mutex_unlock(&c->lock);
		free(job);
	}
	probecloser_close(links, cnt);
}

void probecloser_wait(struct probecloser *c)
{
	pthread_mutex_lock(&c->lock);
	while (c->running_cnt)
		pthread_cond_wait(&c->is_done, &c->lock);
	pthread_mutex_unlock(&c->lock);
}
