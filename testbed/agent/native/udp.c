/*
 * udp: datagrams at a constant rate between two network namespaces of one kernel.
 *
 *   udp --from NETNS --to NETNS --address IP --port N --length BYTES --rate BIT/S
 *       --duration NS --linger NS [--flows N] [--burst N]
 *
 * Each flow sends at --rate, counted in payload, for --duration: groups of --burst datagrams, group K at the time
 * K × (burst × length × 8 / rate) after the start, taken from an absolute clock so that no error adds up.  A group
 * leaves with one sendmmsg(), back to back.  Flow I has port N + I and starts a share I / flows of a group later.
 *
 * In virtual time a system call is the expensive thing, a packet is not: the receiver does not wake up for each
 * datagram.  The kernel stamps a datagram when it arrives (SO_TIMESTAMPNS); every DRAIN_NS all that came is read at once.
 * Both ends are in one kernel, so that one clock tells when a datagram was sent and when it arrived.
 *
 * After the last datagram the receiver waits until nothing has come for --linger.  SIGTERM ends the sending at once,
 * and not the waiting: what is still on its way is not lost.  Written to standard output, one line each:
 *   start NS                          CLOCK_MONOTONIC at the start
 *   end NS                            the same when the last datagram was sent
 *   flow I PORT SENT ARRIVED TWICE OVERTAKEN OVERFLOWED JITTER JITTERS DELAY_MIN DELAYS DELAY_MAX FIRST LAST LATE
 *                                     ARRIVED are different datagrams, TWICE repetitions, OVERTAKEN came after one that
 *                                     was sent later, OVERFLOWED were lost because the receiver's socket was full;
 *                                     JITTER is RFC 3550's (6.4.1) at the end, JITTERS the sum of all |D|, DELAYS the
 *                                     sum of all delays one way; FIRST and LAST arrival count from the start, LATE is
 *                                     how late a group was sent at worst; all in ns
 *   second I K SENT LOST ARRIVED      what was sent in second K and how much of it was lost; what arrived in it
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <linux/sock_diag.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/prctl.h>

#include "common.h"

enum {
	MAX_FLOWS = 128,
	MAX_BURST = 1024,
	MAX_LENGTH = 65507,
	READ_MAX = 1024,
	DRAIN_NS = 5000000,
	READY_NS = 1000000,        /* until the first group, so that it is not late */
	BUFFER_BYTES = 1 << 29,    /* of a socket: what is not read for DRAIN_NS, and what the path keeps of the sender's */
};

struct stamp {
	uint64_t number;
	int64_t sent_ns;           /* CLOCK_REALTIME, as the kernel's own stamps */
};

struct flow {
	int sender, receiver;
	long long sent, arrived, twice, overtaken, next;
	double jitter, jitters, delays;
	long long delay_min, delay_max, last_transit, first_ns, last_ns, late_ns;
	bool any;
	unsigned char *seen;       /* a bit for each datagram */
	long long *sent_in, *lost_in, *arrived_in;
};

static struct {
	const char *from, *to, *address;
	int port, length, flows, burst;
	long long rate_bps, duration_ns, linger_ns;
} asked = { .flows = 1, .burst = 1 };

static struct flow flows[MAX_FLOWS];
static long long start_ns, start_real_ns, groups, seconds;
static atomic_bool sent_all, stopped;

static int udp_socket(int family, int buffer_option)
{
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0), bytes = BUFFER_BYTES, on = 1;

	if (fd < 0)
		die("cannot open a socket");
	if (setsockopt(fd, SOL_SOCKET, buffer_option, &bytes, sizeof bytes) < 0
	    || setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) < 0)
		die("the kernel refuses a socket option");
	return fd;
}

static void *allocated(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (!memory)
		die("out of memory");
	return memory;
}

static void open_receivers(void)
{
	for (int i = 0; i < asked.flows; i++) {
		struct sockaddr_storage a;
		socklen_t length = address_of(&a, asked.address, asked.port + i);

		flows[i].receiver = udp_socket(a.ss_family, SO_RCVBUFFORCE);
		if (bind(flows[i].receiver, (void *)&a, length) < 0)
			die("cannot receive on %s port %d", asked.address, asked.port + i);
		flows[i].seen = allocated(groups * asked.burst / 8 + 1, 1);
		flows[i].sent_in = allocated(3 * seconds, sizeof(long long));
		flows[i].lost_in = flows[i].sent_in + seconds;
		flows[i].arrived_in = flows[i].lost_in + seconds;
	}
}

static void open_senders(void)
{
	for (int i = 0; i < asked.flows; i++) {
		struct sockaddr_storage a;
		socklen_t length = address_of(&a, asked.address, asked.port + i);

		flows[i].sender = udp_socket(a.ss_family, SO_SNDBUFFORCE);
		if (connect(flows[i].sender, (void *)&a, length) < 0)
			die("cannot reach %s port %d", asked.address, asked.port + i);
	}
}

static long long second_of(long long since_start_ns)
{
	long long k = since_start_ns / SECOND;

	return k < 0 ? 0 : k < seconds ? k : seconds - 1;
}

/* When group K of flow I is due, after the start: no error adds up. */
static long long due_ns(long long k, int i)
{
	__int128 bits = (__int128)asked.burst * asked.length * 8 * SECOND;

	return (bits * k + bits * i / asked.flows) / asked.rate_bps;
}

static void send_group(struct flow *f, const long long count)
{
	static struct stamp stamps[MAX_BURST];
	static struct iovec parts[MAX_BURST][2];
	static struct mmsghdr messages[MAX_BURST];
	static unsigned char filling[MAX_LENGTH];
	long long now = clock_ns(CLOCK_REALTIME), done = 0;

	for (int k = 0; k < count; k++) {
		stamps[k] = (struct stamp){ f->sent + k, now };
		parts[k][0] = (struct iovec){ &stamps[k], sizeof stamps[k] };
		parts[k][1] = (struct iovec){ filling, asked.length - sizeof stamps[k] };
		messages[k].msg_hdr = (struct msghdr){ .msg_iov = parts[k], .msg_iovlen = 2 };
	}
	while (done < count) {
		int n = sendmmsg(f->sender, messages + done, count - done, 0);

		if (n < 0 && errno != EINTR && errno != ENOBUFS && errno != ECONNREFUSED)
			die("cannot send");
		if (n < 0 && errno == ENOBUFS)
			n = 1;             /* the sender's own device dropped it: it was sent, and is lost */
		done += n > 0 ? n : 0;
	}
	f->sent_in[second_of(now - start_real_ns)] += count;
	f->sent += count;
}

static void send_all(void)
{
	for (long long k = 0; k < groups && !stopped; k++)
		for (int i = 0; i < asked.flows && !stopped; i++) {
			long long due = due_ns(k, i), late;

			if (due >= asked.duration_ns)
				continue;
			while (!slept_until(start_ns + due) && !stopped)
				;
			if (stopped)
				break;
			late = now_ns() - start_ns - due;
			if (late > flows[i].late_ns)
				flows[i].late_ns = late;
			send_group(&flows[i], asked.burst);
		}
}

static void count_in(struct flow *f, const struct stamp *s, long long arrived_ns)
{
	long long since = arrived_ns - start_real_ns, transit = arrived_ns - s->sent_ns;
	unsigned char bit = 1 << s->number % 8;

	if ((long long)s->number >= groups * asked.burst)
		return;                /* not one of ours */
	if (f->seen[s->number / 8] & bit) {
		f->twice++;
		return;
	}
	f->seen[s->number / 8] |= bit;
	f->arrived_in[second_of(since)]++;
	f->lost_in[second_of(s->sent_ns - start_real_ns)]--;   /* sent and not lost: the sum with SENT is what was lost */
	if ((long long)s->number < f->next)
		f->overtaken++;
	else
		f->next = s->number + 1;
	if (f->any) {
		double d = transit > f->last_transit ? transit - f->last_transit : f->last_transit - transit;

		f->jitter += (d - f->jitter) / 16;
		f->jitters += d;
	} else {
		f->delay_min = f->delay_max = transit;
		f->first_ns = since;
		f->any = true;
	}
	f->last_transit = transit;
	f->delay_min = transit < f->delay_min ? transit : f->delay_min;
	f->delay_max = transit > f->delay_max ? transit : f->delay_max;
	f->delays += transit;
	f->last_ns = since;
	f->arrived++;
}

static long long stamp_of(struct msghdr *header)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c; c = CMSG_NXTHDR(header, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_TIMESTAMPNS) {
			struct timespec t;

			memcpy(&t, CMSG_DATA(c), sizeof t);
			return t.tv_sec * SECOND + t.tv_nsec;
		}
	die("a datagram without the time of its arrival");
	return 0;
}

/* Read all that has arrived; whether there was anything. */
static bool drain(struct flow *f)
{
	static struct stamp stamps[READ_MAX];
	static struct iovec parts[READ_MAX];
	static struct mmsghdr messages[READ_MAX];
	static char controls[READ_MAX][64];
	bool any = false;
	int n;

	do {
		for (int k = 0; k < READ_MAX; k++) {
			parts[k] = (struct iovec){ &stamps[k], sizeof stamps[k] };
			messages[k].msg_hdr = (struct msghdr){
				.msg_iov = &parts[k], .msg_iovlen = 1,
				.msg_control = controls[k], .msg_controllen = sizeof controls[k],
			};
		}
		n = recvmmsg(f->receiver, messages, READ_MAX, MSG_DONTWAIT | MSG_TRUNC, NULL);
		for (int k = 0; k < n; k++)
			if ((int)messages[k].msg_len == asked.length)
				count_in(f, &stamps[k], stamp_of(&messages[k].msg_hdr));
		any |= n > 0;
	} while (n == READ_MAX);
	return any;
}

static void *receive(void *nothing)
{
	long long at = start_ns, heard = start_ns;

	while (!(sent_all && at - heard >= asked.linger_ns)) {
		at += DRAIN_NS;
		while (!slept_until(at) && !stopped)
			;
		for (int i = 0; i < asked.flows; i++)
			if (drain(&flows[i]))
				heard = at;
		if (!sent_all)
			heard = at;
	}
	return nothing;
}

static unsigned overflowed(int fd)
{
	unsigned memory[SK_MEMINFO_VARS] = { 0 };
	socklen_t length = sizeof memory;

	if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, memory, &length) < 0)
		die("cannot read the receiver's drops");
	return memory[SK_MEMINFO_DROPS];
}

static void report(long long end_ns)
{
	printf("start %lld\nend %lld\n", start_ns, end_ns);
	for (int i = 0; i < asked.flows; i++) {
		struct flow *f = &flows[i];

		printf("flow %d %d %lld %lld %lld %lld %u %.0f %.0f %lld %.0f %lld %lld %lld %lld\n", i, asked.port + i,
		       f->sent, f->arrived, f->twice, f->overtaken, overflowed(f->receiver), f->jitter, f->jitters,
		       f->delay_min, f->delays, f->delay_max, f->first_ns, f->last_ns, f->late_ns);
		for (long long k = 0; k < seconds; k++)
			if (f->sent_in[k] || f->arrived_in[k])
				printf("second %d %lld %lld %lld %lld\n", i, k, f->sent_in[k], f->sent_in[k] + f->lost_in[k],
				       f->arrived_in[k]);
	}
}

static void stop(int signal)
{
	(void)signal;
	stopped = true;
}

static void parse(int count, char **words)
{
	static const struct option options[] = {
		{ "from", 1, 0, 'f' }, { "to", 1, 0, 't' }, { "address", 1, 0, 'a' }, { "port", 1, 0, 'p' },
		{ "length", 1, 0, 'l' }, { "rate", 1, 0, 'r' }, { "duration", 1, 0, 'd' }, { "linger", 1, 0, 'g' },
		{ "flows", 1, 0, 'n' }, { "burst", 1, 0, 'b' }, { 0 },
	};
	int option;

	while ((option = getopt_long(count, words, "", options, NULL)) != -1) {
		switch (option) {
		case 'f': asked.from = optarg; break;
		case 't': asked.to = optarg; break;
		case 'a': asked.address = optarg; break;
		case 'p': asked.port = atoi(optarg); break;
		case 'l': asked.length = atoi(optarg); break;
		case 'r': asked.rate_bps = atoll(optarg); break;
		case 'd': asked.duration_ns = atoll(optarg); break;
		case 'g': asked.linger_ns = atoll(optarg); break;
		case 'n': asked.flows = atoi(optarg); break;
		case 'b': asked.burst = atoi(optarg); break;
		default: exit(2);
		}
	}
	if (!asked.from || !asked.to || !asked.address || !asked.port || asked.rate_bps < 1 || asked.duration_ns < 1
	    || asked.length < (int)sizeof(struct stamp) || asked.length > MAX_LENGTH
	    || asked.flows < 1 || asked.flows > MAX_FLOWS || asked.burst < 1 || asked.burst > MAX_BURST)
		die("usage: udp --from NETNS --to NETNS --address IP --port N --length BYTES (%zu to %d) --rate BIT/S"
		    " --duration NS --linger NS [--flows N (1 to %d)] [--burst N (1 to %d)]",
		    sizeof(struct stamp), MAX_LENGTH, MAX_FLOWS, MAX_BURST);
}

int main(int count, char **words)
{
	struct sigaction action = { .sa_handler = stop };
	pthread_t receiving;
	sigset_t term;
	long long end_ns;

	parse(count, words);
	prctl(PR_SET_TIMERSLACK, 1);           /* 50 µs otherwise */
	groups = (__int128)asked.duration_ns * asked.rate_bps / ((__int128)asked.burst * asked.length * 8 * SECOND) + 1;
	seconds = (asked.duration_ns + asked.linger_ns) / SECOND + 2;
	enter(asked.to);
	open_receivers();
	enter(asked.from);
	open_senders();

	start_ns = now_ns() + READY_NS;
	start_real_ns = clock_ns(CLOCK_REALTIME) + READY_NS;
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &term, NULL);   /* the receiver does not get it: this thread tells it */
	errno = pthread_create(&receiving, NULL, receive, NULL);
	if (errno)
		die("cannot start a thread");
	sigaction(SIGTERM, &action, NULL);
	pthread_sigmask(SIG_UNBLOCK, &term, NULL);
	send_all();
	end_ns = now_ns();
	sent_all = true;
	pthread_join(receiving, NULL);
	report(end_ns);
	return fflush(stdout) ? 1 : 0;
}
