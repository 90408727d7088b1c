/*
 * arrivals: TCP flows that arrive by a schedule between two network namespaces of one kernel, and what became of each.
 *
 *   arrivals --from NETNS --to NETNS --address IP --port N --ports N --congestion NAME --until NS
 *            [--rate BYTES] [--request BYTES [--connections N]] SCHEDULE
 *
 * Each line of the file SCHEDULE is a flow, "START BYTES ...": START in ns of CLOCK_MONOTONIC after the common start, in
 * this order.  At START flow I connects from --from to port N + I % PORTS of the address in --to, sends its bytes and
 * closes.  With --request it is the receiver in --to that connects to the address in --from, and sends a request of that
 * many bytes, which begins with I; the answer is the bytes.  With --connections there are so many connections, opened
 * before the start; connection C takes the requests C, C + N, C + 2 N, ..., each when the one before has its answer.
 *
 * As in flow.c both ends are threads of this process, blocked in the kernel in sendfile() and recv(MSG_TRUNC), so that a
 * packet wakes no program.  A flow ends when its receiver has got its last byte.  All flows that have not ended --until
 * NS after the start are cut.  --rate is SO_MAX_PACING_RATE of the sockets that send the data.
 *
 * Written to standard output, one line each:
 *   start NS                          the common start
 *   socket CONGESTION RATE            what the kernel says it set, of every socket that sent (RATE 0: no limit)
 *   accepted N                        connections that the listening end accepted
 *   flow I PORT BEGAN CONNECTED ENDED RECEIVED RETRANSMITS REQUESTED   PORT is that of the end that connected; times in ns after the
 *                                     start: when it was begun, was connected (0: never, or before the start) and ended
 *                                     (0: cut).  RECEIVED is what the receiver has got, or of a flow that was cut what it
 *                                     acknowledged.  REQUESTED is what the end that answers got of the request, as its
 *                                     kernel counts it
 *   end NS                            when all had ended or were cut, ns after the start
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/prctl.h>

#include "common.h"
#include "stream.h"

enum {
	BACKLOG = 4096,
	PORTS_MAX = 128,
	OPEN_MAX = 2000,
	REQUEST_MAX = 1 << 20,
};

struct flow {
	long long start_ns, bytes;
	long long began_ns, connected_ns, ended_ns, received_bytes;
	long long requested_bytes;
	unsigned retransmits, port;
	int sender;                /* the socket that sends the data; -1 while there is none */
	long long acked_before;    /* what that socket had before this flow */
	unsigned retransmits_before;
	bool began;
};

static struct {
	const char *from, *to, *address, *congestion;
	int port, ports, connections;
	long long until_ns, rate_bytes, request_bytes;
} asked;

static struct flow *flows;
static int count_of_flows, from_netns, to_netns;
static long long start_ns, seen_rate;
static _Atomic int owners[PORTS_MAX][65536];   /* which flow comes from a port of the other end, plus 1 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;   /* of the flows, and of what follows */
static pthread_cond_t all_ended;
static int ended, open_now, accepted;

static void inside(int netns)
{
	if (setns(netns, CLONE_NEWNET) < 0)
		die("cannot enter a network namespace");
}

static int netns_of(const char *name)
{
	enter(name);
	return open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
}

/* What the kernel says of a flow's sender; with the lock held. */
static void look(struct flow *f, struct tcp_info *info)
{
	char congestion[16] = "";
	socklen_t length = sizeof *info, sixteen = sizeof congestion;

	memset(info, 0, sizeof *info);
	if (getsockopt(f->sender, IPPROTO_TCP, TCP_INFO, info, &length) < 0
	    || getsockopt(f->sender, IPPROTO_TCP, TCP_CONGESTION, congestion, &sixteen) < 0)
		die("cannot read back the options of a flow");
	errno = 0;
	if (strcmp(congestion, asked.congestion) != 0)
		die("a flow used the congestion control %s instead of %s", congestion, asked.congestion);
	seen_rate = rate_of(f->sender);
	if (seen_rate != asked.rate_bytes)
		die("a flow had a rate of %lld bytes in a second instead of %lld", seen_rate, asked.rate_bytes);
	f->retransmits = info->tcpi_total_retrans - f->retransmits_before;
	if (!f->ended_ns) {
		f->received_bytes = (long long)info->tcpi_bytes_acked - f->acked_before;
		if (f->received_bytes > f->bytes)
			f->received_bytes = f->bytes;
	}
}

static void has_ended(struct flow *f)
{
	pthread_mutex_lock(&lock);
	f->ended_ns = now_ns() - start_ns;
	f->received_bytes = f->bytes;
	if (++ended == count_of_flows)
		pthread_cond_signal(&all_ended);
	pthread_mutex_unlock(&lock);
}

static int port_of(int fd, bool of_peer)
{
	struct sockaddr_in6 a = { 0 };
	socklen_t length = sizeof a;

	if ((of_peer ? getpeername : getsockname)(fd, (void *)&a, &length) < 0)
		return 0;
	return ntohs(a.sin6_port);   /* at the same place as in sockaddr_in */
}

/* The receiving end of a flow that its sender opened: which flow it is, the sender said before it sent. */
static void *receive(void *argument)
{
	int fd = (int)(long)argument, peer = port_of(fd, true), own = port_of(fd, false);

	if (peer && receive_bytes(fd, 1)) {
		struct flow *f = &flows[atomic_load(&owners[own - asked.port][peer]) - 1];

		if (receive_bytes(fd, f->bytes - 1)) {
			has_ended(f);
			receive_bytes(fd, 1);   /* until the sender closes */
		}
	}
	close(fd);
	return NULL;
}

/* All that the kernel has received for a socket. */
static long long got_by(int fd)
{
	struct tcp_info info = { 0 };
	socklen_t length = sizeof info;

	return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) < 0 ? 0 : (long long)info.tcpi_bytes_received;
}

/* The end that answers requests: what it sends is the data. */
static void *answer(void *argument)
{
	int fd = (int)(long)argument;
	struct tcp_info info = { 0 };
	struct flow *f = NULL;
	bool more = true;
	uint64_t number;
	long long got_before = 0, got;

	while (more) {
		more = recv(fd, &number, sizeof number, MSG_WAITALL) == sizeof number && number < (uint64_t)count_of_flows
		       && receive_bytes(fd, asked.request_bytes - (long long)sizeof number);
		got = more ? got_by(fd) : 0;
		pthread_mutex_lock(&lock);
		if (f) {                       /* the receiver has all of the answer before */
			look(f, &info);
			f->sender = -1;
		}
		f = more ? &flows[number] : NULL;
		if (more) {
			f->acked_before = info.tcpi_bytes_acked;
			f->retransmits_before = info.tcpi_total_retrans;
			f->sender = fd;
			f->requested_bytes = got - got_before;
			got_before = got;
		} else {
			close(fd);
		}
		pthread_mutex_unlock(&lock);
		if (more)
			send_bytes(fd, f->bytes);
	}
	return NULL;
}

static void *accept_all(void *argument)
{
	int listener = (int)(long)argument;

	for (;;) {
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

		if (fd >= 0) {
			pthread_mutex_lock(&lock);
			accepted++;
			pthread_mutex_unlock(&lock);
		}
		if (fd >= 0)
			spawn(asked.request_bytes ? answer : receive, (void *)(long)fd, NULL);
		else if (errno != EINTR && errno != ECONNABORTED)
			die("cannot accept");
	}
	return NULL;
}

static void listen_all(void)
{
	for (int i = 0; i < asked.ports; i++) {
		struct sockaddr_storage a;
		socklen_t length = address_of(&a, asked.address, asked.port + i);
		int fd = tcp_socket(a.ss_family, asked.congestion);

		if (asked.request_bytes && asked.rate_bytes)
			set_rate(fd, asked.rate_bytes);   /* what it accepts inherits it, and the congestion control */
		if (bind(fd, (void *)&a, length) < 0 || listen(fd, BACKLOG) < 0)
			die("cannot listen on %s port %d", asked.address, asked.port + i);
		spawn(accept_all, (void *)(long)fd, NULL);
	}
}

static int connected(int i)
{
	struct sockaddr_storage a;
	socklen_t length = address_of(&a, asked.address, asked.port + i % asked.ports);
	int fd = tcp_socket(a.ss_family, asked.congestion);

	if (!asked.request_bytes && asked.rate_bytes)
		set_rate(fd, asked.rate_bytes);
	if (connect(fd, (void *)&a, length) == 0)
		return fd;
	close(fd);
	return -1;                     /* the path lost every attempt */
}

static bool request(int fd, int i)
{
	static char padding[REQUEST_MAX];
	uint64_t number = i;
	ssize_t rest = asked.request_bytes - (ssize_t)sizeof number;

	return send(fd, &number, sizeof number, rest ? MSG_MORE : 0) == sizeof number
	       && (!rest || send(fd, padding, rest, 0) == rest) && receive_bytes(fd, flows[i].bytes);
}

/* A flow with a connection of its own. */
static void *run_flow(void *argument)
{
	int i = (int)(long)argument, fd;
	struct flow *f = &flows[i];
	struct tcp_info info;

	f->began_ns = now_ns() - start_ns;
	f->began = true;
	fd = connected(i);
	if (fd >= 0) {
		f->connected_ns = now_ns() - start_ns;
		f->port = port_of(fd, false);
	}
	if (fd >= 0 && asked.request_bytes) {
		if (request(fd, i))
			has_ended(f);
		close(fd);
	} else if (fd >= 0) {
		atomic_store(&owners[i % asked.ports][f->port], i + 1);
		pthread_mutex_lock(&lock);
		f->sender = fd;
		f->acked_before = 1;           /* the SYN */
		pthread_mutex_unlock(&lock);
		if (send_bytes(fd, f->bytes)) {
			shutdown(fd, SHUT_WR);
			receive_bytes(fd, -1);         /* until the receiver closes: it has all */
		}
		pthread_mutex_lock(&lock);
		look(f, &info);
		f->sender = -1;
		close(fd);
		pthread_mutex_unlock(&lock);
	}
	pthread_mutex_lock(&lock);
	open_now--;
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void *start_all(void *nothing)
{
	for (int i = 0; i < count_of_flows; i++) {
		int others;

		sleep_until(start_ns + flows[i].start_ns);
		pthread_mutex_lock(&lock);
		others = open_now++;
		pthread_mutex_unlock(&lock);
		errno = 0;
		if (others >= OPEN_MAX)
			die("more than %d flows are open at once; allowed: fewer arrivals, or a lower load", OPEN_MAX);
		spawn(run_flow, (void *)(long)i, NULL);
	}
	return nothing;
}

/* The requests of one connection that stays open. */
static void *run_connection(void *argument)
{
	int fd = (int)((long)argument >> 32), first = (int)((long)argument & INT32_MAX);

	for (int i = first; i < count_of_flows; i += asked.connections) {
		struct flow *f = &flows[i];

		sleep_until(start_ns + f->start_ns);
		f->began_ns = now_ns() - start_ns;
		f->began = true;
		f->port = port_of(fd, false);
		if (!request(fd, i))
			return NULL;
		has_ended(f);
	}
	close(fd);
	return NULL;
}

static void read_schedule(const char *path)
{
	FILE *file = fopen(path, "r");
	struct flow f = { .sender = -1 };
	int room = 0;

	if (!file)
		die("cannot read %s", path);
	while (fscanf(file, "%lld %lld%*[^\n]", &f.start_ns, &f.bytes) == 2) {
		if (f.bytes < 1)
			die("line %d of %s has no bytes", count_of_flows + 1, path);
		if (count_of_flows == room) {
			room = room ? 2 * room : 64;
			flows = realloc(flows, room * sizeof *flows);
			if (!flows)
				die("out of memory");
		}
		flows[count_of_flows++] = f;
	}
	if (!feof(file) || !count_of_flows)
		die("line %d of %s is not START BYTES", count_of_flows + 1, path);
	fclose(file);
}

/* With the lock held, which nobody gets any more: nothing ends after this. */
static void report(void)
{
	long long end_ns = now_ns() - start_ns;
	struct tcp_info info;

	for (int i = 0; i < count_of_flows; i++)
		if (flows[i].sender >= 0)
			look(&flows[i], &info);
	printf("socket %s %lld\naccepted %d\n", asked.congestion, seen_rate, accepted);
	for (int i = 0; i < count_of_flows; i++) {
		struct flow *f = &flows[i];

		if (f->began)
			printf("flow %d %u %lld %lld %lld %lld %u %lld\n", i, f->port, f->began_ns, f->connected_ns,
			       f->ended_ns, f->received_bytes, f->retransmits, f->requested_bytes);
	}
	printf("end %lld\n", end_ns);
}

static const char *parse(int count, char **words)
{
	static const struct option options[] = {
		{ "from", 1, 0, 'f' }, { "to", 1, 0, 't' }, { "address", 1, 0, 'a' }, { "port", 1, 0, 'p' },
		{ "ports", 1, 0, 'P' }, { "congestion", 1, 0, 'c' }, { "until", 1, 0, 'u' }, { "rate", 1, 0, 'r' },
		{ "request", 1, 0, 'q' }, { "connections", 1, 0, 'n' }, { 0 },
	};
	int option;

	while ((option = getopt_long(count, words, "", options, NULL)) != -1) {
		switch (option) {
		case 'f': asked.from = optarg; break;
		case 't': asked.to = optarg; break;
		case 'a': asked.address = optarg; break;
		case 'p': asked.port = atoi(optarg); break;
		case 'P': asked.ports = atoi(optarg); break;
		case 'c': asked.congestion = optarg; break;
		case 'u': asked.until_ns = atoll(optarg); break;
		case 'r': asked.rate_bytes = atoll(optarg); break;
		case 'q': asked.request_bytes = atoll(optarg); break;
		case 'n': asked.connections = atoi(optarg); break;
		default: exit(2);
		}
	}
	if (!asked.from || !asked.to || !asked.address || !asked.port || !asked.congestion || asked.until_ns <= 0
	    || asked.ports < 1 || asked.ports > PORTS_MAX || count - optind != 1
	    || asked.request_bytes > REQUEST_MAX || (asked.request_bytes && asked.request_bytes < 8))
		die("usage: arrivals --from NETNS --to NETNS --address IP --port N --ports N --congestion NAME --until NS"
		    " [--rate BYTES] [--request BYTES [--connections N]] SCHEDULE");
	return words[optind];
}

static void wait_for_all(void)
{
	long long end_ns = start_ns + asked.until_ns;
	struct timespec end = { end_ns / SECOND, end_ns % SECOND };

	pthread_mutex_lock(&lock);
	while (ended < count_of_flows && pthread_cond_timedwait(&all_ended, &lock, &end) == 0)
		;
}

int main(int count, char **words)
{
	pthread_condattr_t monotonic;
	int *kept = NULL;

	prctl(PR_SET_TIMERSLACK, 1);           /* 50 µs otherwise */
	signal(SIGPIPE, SIG_IGN);
	read_schedule(parse(count, words));
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&all_ended, &monotonic);
	make_source();

	to_netns = netns_of(asked.to);
	from_netns = netns_of(asked.from);
	inside(asked.request_bytes ? from_netns : to_netns);
	listen_all();
	inside(asked.request_bytes ? to_netns : from_netns);   /* the threads that connect begin here */
	if (asked.connections) {
		kept = calloc(asked.connections, sizeof *kept);
		for (int c = 0; c < asked.connections; c++)
			if (!kept || (kept[c] = connected(c)) < 0)
				die("cannot open a connection");
	}
	start_ns = now_ns();
	printf("start %lld\n", start_ns);
	fflush(stdout);                        /* others wait for it */
	for (int c = 0; c < asked.connections; c++)
		spawn(run_connection, (void *)((long)kept[c] << 32 | c), NULL);
	if (!asked.connections)
		spawn(start_all, NULL, NULL);
	wait_for_all();
	report();
	fflush(stdout);
	_exit(ferror(stdout) ? 1 : 0);
}
