/*
 * background: TCP flows that come and go between two network namespaces of one kernel, by a schedule.
 *
 *   background --from NETNS --to NETNS --address IP --port N --congestion NAME SCHEDULE
 *
 * Each line of the file SCHEDULE is a flow, "START STOP BYTES": START and STOP in ns of CLOCK_MONOTONIC after the common
 * start, in the order of START.  A flow connects at START, and then either sends BYTES and closes, or (BYTES 0) sends
 * all it can until STOP, when it is reset.  Every flow is a connection of its own, to one port.
 *
 * As in flow.c both ends are threads of this process, blocked in the kernel in sendfile() and recv(MSG_TRUNC).
 *
 * It runs until SIGTERM, and then writes to standard output, one line each:
 *   start NS                          the common start
 *   flow I START END RECEIVED RETRANSMITS STATE   of each flow that began: START and END in ns after the common start;
 *                                     what the receiver acknowledged; STATE is finished, or cut (by SIGTERM)
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>

#include "common.h"
#include "stream.h"

enum {
	BACKLOG = 4096,
};

struct flow {
	long long start_ns, stop_ns, bytes;
	long long began_ns, ended_ns, received_bytes;
	unsigned retransmits;
	int sender;
	pthread_mutex_t lock;      /* of what follows, and of the socket's being open */
	bool began, open, finished;
};

static struct {
	const char *from, *to, *address, *congestion;
	int port;
} asked;

static struct flow *flows;
static int count_of_flows, listener;
static long long start_ns;

static void *receive(void *argument)
{
	int fd = (int)(long)argument;

	receive_bytes(fd, -1);
	close(fd);
	return NULL;
}

static void *accept_all(void *nothing)
{
	for (;;) {
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

		if (fd >= 0)
			spawn(receive, (void *)(long)fd, NULL);
		else if (errno != EINTR && errno != ECONNABORTED)
			die("cannot accept");
	}
	return nothing;
}

/* What the receiver has acknowledged, and what was sent again; with the flow's lock held and its socket open. */
static void look(struct flow *f)
{
	struct tcp_info info = { 0 };
	socklen_t length = sizeof info;
	long long acknowledged;

	if (getsockopt(f->sender, IPPROTO_TCP, TCP_INFO, &info, &length) < 0)
		die("cannot read TCP_INFO");
	acknowledged = info.tcpi_bytes_acked;
	if (f->bytes && acknowledged > f->bytes)
		acknowledged = f->bytes;   /* a FIN counts as a byte */
	f->received_bytes = acknowledged;
	f->retransmits = info.tcpi_total_retrans;
	f->ended_ns = now_ns() - start_ns;
}

static void end(struct flow *f, bool reset)
{
	struct sockaddr nowhere = { .sa_family = AF_UNSPEC };

	pthread_mutex_lock(&f->lock);
	if (f->open) {
		look(f);
		f->finished = true;
		f->open = false;
		if (reset)
			connect(f->sender, &nowhere, sizeof nowhere);
		else
			close(f->sender);
	}
	pthread_mutex_unlock(&f->lock);
}

static void *send_for_ever(void *argument)
{
	struct flow *f = argument;

	send_bytes(f->sender, -1);
	return NULL;
}

static void *run_flow(void *argument)
{
	struct flow *f = argument;
	struct sockaddr_storage a;
	socklen_t length = address_of(&a, asked.address, asked.port);
	pthread_t sending;
	char nowhere[1];

	f->began_ns = now_ns() - start_ns;
	f->sender = tcp_socket(a.ss_family, asked.congestion);
	pthread_mutex_lock(&f->lock);
	f->began = f->open = true;
	pthread_mutex_unlock(&f->lock);
	if (connect(f->sender, (void *)&a, length) < 0) {
		end(f, false);         /* the path lost every attempt: nothing was received */
		return NULL;
	}
	if (f->bytes) {
		send_bytes(f->sender, f->bytes);
		shutdown(f->sender, SHUT_WR);
		while (recv(f->sender, nowhere, sizeof nowhere, 0) > 0)   /* until the receiver closes: it has all */
			;
		end(f, false);
		return NULL;
	}
	spawn(send_for_ever, f, &sending);
	sleep_until(start_ns + f->stop_ns);
	end(f, true);
	pthread_join(sending, NULL);
	close(f->sender);
	return NULL;
}

static void *start_all(void *nothing)
{
	for (int i = 0; i < count_of_flows; i++) {
		sleep_until(start_ns + flows[i].start_ns);
		spawn(run_flow, &flows[i], NULL);
	}
	return nothing;
}

static void read_schedule(const char *path)
{
	FILE *file = fopen(path, "r");
	struct flow f = { 0 };
	int room = 0;

	if (!file)
		die("cannot read %s", path);
	while (fscanf(file, "%lld %lld %lld", &f.start_ns, &f.stop_ns, &f.bytes) == 3) {
		if (count_of_flows == room) {
			room = room ? 2 * room : 64;
			flows = realloc(flows, room * sizeof *flows);
			if (!flows)
				die("out of memory");
		}
		flows[count_of_flows++] = f;
	}
	if (!feof(file))
		die("line %d of %s is not START STOP BYTES", count_of_flows + 1, path);
	fclose(file);
	for (int i = 0; i < count_of_flows; i++)
		pthread_mutex_init(&flows[i].lock, NULL);
}

static void report(void)
{
	printf("start %lld\n", start_ns);
	for (int i = 0; i < count_of_flows; i++) {
		struct flow *f = &flows[i];

		pthread_mutex_lock(&f->lock);
		if (f->open)
			look(f);
		if (f->began)
			printf("flow %d %lld %lld %lld %u %s\n", i, f->began_ns, f->ended_ns, f->received_bytes, f->retransmits,
			       f->finished ? "finished" : "cut");
		/* not unlocked: nothing ends any more */
	}
}

static const char *parse(int count, char **words)
{
	static const struct option options[] = {
		{ "from", 1, 0, 'f' }, { "to", 1, 0, 't' }, { "address", 1, 0, 'a' }, { "port", 1, 0, 'p' },
		{ "congestion", 1, 0, 'c' }, { 0 },
	};
	int option;

	while ((option = getopt_long(count, words, "", options, NULL)) != -1) {
		switch (option) {
		case 'f': asked.from = optarg; break;
		case 't': asked.to = optarg; break;
		case 'a': asked.address = optarg; break;
		case 'p': asked.port = atoi(optarg); break;
		case 'c': asked.congestion = optarg; break;
		default: exit(2);
		}
	}
	if (!asked.from || !asked.to || !asked.address || !asked.port || !asked.congestion || count - optind != 1)
		die("usage: background --from NETNS --to NETNS --address IP --port N --congestion NAME SCHEDULE");
	return words[optind];
}

int main(int count, char **words)
{
	struct sockaddr_storage a;
	socklen_t length;
	sigset_t term;
	int got;

	prctl(PR_SET_TIMERSLACK, 1);           /* 50 µs otherwise */
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);   /* for all threads: this one waits for it below */
	signal(SIGPIPE, SIG_IGN);
	read_schedule(parse(count, words));
	make_source();

	enter(asked.to);
	length = address_of(&a, asked.address, asked.port);
	listener = tcp_socket(a.ss_family, asked.congestion);
	if (bind(listener, (void *)&a, length) < 0 || listen(listener, BACKLOG) < 0)
		die("cannot listen on %s port %d", asked.address, asked.port);
	spawn(accept_all, NULL, NULL);
	enter(asked.from);

	start_ns = now_ns();
	spawn(start_all, NULL, NULL);        /* its threads are in the namespace that this one is in now */
	sigwait(&term, &got);
	report();
	fflush(stdout);
	_exit(ferror(stdout) ? 1 : 0);
}
