/*
 * flow: bulk TCP flows between two network namespaces of one kernel.
 *
 *   flow --from NETNS --to NETNS --address IP --port N
 *        [--leave-out NS] [--bytes N] [--rate BYTES] [--write BYTES --every NS] CONGESTION:WINDOW:START:STOP ...
 *
 * Both ends live in this one process: a socket belongs to the namespace in which it was made, so a thread that
 * enters a namespace, opens its socket and stays blocked in the kernel is a whole application.  One process sees
 * both ends at the same instant of the kernel's clock, and can say what the receiver had got when the time was up.
 *
 * In virtual time a system call is the expensive thing, a packet is not.  The sender is one blocking sendfile()
 * after another, the receiver one blocking recv(MSG_WAITALL | MSG_TRUNC) of megabytes: both loops run inside the
 * kernel, which still sees an application that reads at once, and no payload is ever copied.
 *
 * WINDOW is in bytes, put into SO_SNDBUF of the sender and SO_RCVBUF of the receiver (the kernel doubles both and
 * stops tuning them); 0 leaves both to autotuning.  START, STOP and --leave-out are in ns of CLOCK_MONOTONIC after
 * the common start; with --bytes a flow ends when its receiver has them all, and STOP is not used.
 *
 * --rate is SO_MAX_PACING_RATE of the senders, in bytes a second: TCP paces what it sends.  With --write the application
 * of each sender writes so many bytes every so many ns, and nothing in between.
 *
 * Written to standard output, one line each, "KEY VALUE ...":
 *   start NS                          the common start
 *   flow I PORT CONGESTION SNDBUF RCVBUF [RATE]   what the kernel says it set, read back from the sockets
 *   info WHEN I MOMENT END HEX        struct tcp_info at WHEN (ns); MOMENT is start, steady (--leave-out), first (the
 *                                     first flow stops) or stop (flow I stops), END is sender or receiver
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>

#include "common.h"
#include "stream.h"

enum {
	ACCEPT_MS = 130000,
	MAX_FLOWS = 128,
};

struct flow {
	char congestion[16];
	long long window_bytes, start_ns, stop_ns;
	int sender, receiver;      /* sockets; -1 until they exist */
	pthread_t sending, receiving;
};

static struct {
	const char *from, *to, *address;
	int port;
	long long leave_out_ns, bytes, rate_bytes, piece_bytes, every_ns;
	int flows;
} asked;

static struct flow flows[MAX_FLOWS];
static long long start_ns;

/* A TCP socket with its congestion control and, for a fixed window, its buffer; before it connects or listens. */
static int flow_socket(int family, const struct flow *f, int buffer_option)
{
	int fd = tcp_socket(family, f->congestion), bytes = f->window_bytes;

	if (bytes && setsockopt(fd, SOL_SOCKET, buffer_option, &bytes, sizeof bytes) < 0)
		die("the kernel refuses a window of %d bytes", bytes);
	return fd;
}

struct snapshot {
	unsigned char info[512];
	socklen_t length;
};

static void take(int fd, struct snapshot *s)
{
	s->length = sizeof s->info;
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, s->info, &s->length) < 0)
		die("cannot read TCP_INFO");
}

static void print_snapshot(long long when, int i, const char *moment, const char *end, const struct snapshot *s)
{
	printf("info %lld %d %s %s ", when, i, moment, end);
	for (socklen_t k = 0; k < s->length; k++)
		printf("%02x", s->info[k]);
	putchar('\n');
}

/* TCP_INFO of both ends of some flows; all are read before any is printed, so that they belong to one instant. */
static void snapshot(const char *moment, const struct flow *first, const struct flow *end)
{
	static struct snapshot senders[MAX_FLOWS], receivers[MAX_FLOWS];
	static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
	int from = first - flows, to = end - flows;
	long long when = now_ns();

	pthread_mutex_lock(&one_at_a_time);
	for (int i = from; i < to; i++) {
		take(flows[i].receiver, &receivers[i]);
		take(flows[i].sender, &senders[i]);
	}
	for (int i = from; i < to; i++) {
		print_snapshot(when, i, moment, "sender", &senders[i]);
		print_snapshot(when, i, moment, "receiver", &receivers[i]);
	}
	pthread_mutex_unlock(&one_at_a_time);
}

static void *receive(void *argument)
{
	struct flow *f = argument;

	receive_bytes(f->receiver, -1);
	if (asked.bytes)
		snapshot("stop", f, f + 1);
	return NULL;
}

/* As an application that writes a piece every so often, by an absolute clock: late if the socket took none for a while. */
static void send_pieces(int fd, long long bytes)
{
	for (long long due_ns = now_ns(); bytes != 0; due_ns += asked.every_ns) {
		long long piece = bytes > 0 && bytes < asked.piece_bytes ? bytes : asked.piece_bytes;

		sleep_until(due_ns);
		if (!send_bytes(fd, piece))
			return;
		if (bytes > 0)
			bytes -= piece;
	}
}

static void *send_all(void *argument)
{
	struct flow *f = argument;
	long long bytes = asked.bytes ? asked.bytes : -1;

	sleep_until(start_ns + f->start_ns);
	if (asked.piece_bytes)
		send_pieces(f->sender, bytes);
	else
		send_bytes(f->sender, bytes);
	if (asked.bytes)
		shutdown(f->sender, SHUT_WR);
	return NULL;
}

/* Flow I has a port of its own, so that captures and counters can tell flows apart. */
static void listen_all(int *listeners)
{
	for (int i = 0; i < asked.flows; i++) {
		struct sockaddr_storage a;
		socklen_t length = address_of(&a, asked.address, asked.port + i);

		listeners[i] = flow_socket(a.ss_family, &flows[i], SO_RCVBUFFORCE);
		if (bind(listeners[i], (void *)&a, length) < 0 || listen(listeners[i], 1) < 0)
			die("cannot listen on %s port %d", asked.address, asked.port + i);
	}
}

/* The end of a handshake that is lost too often leaves the sender connected and the receiver without: the kernel gives up after about a
 * minute (tcp_synack_retries), and nobody would ever know.
 */
static int accept_one(int listener, int port)
{
	struct pollfd ready = { listener, POLLIN, 0 };
	int receiver;

	if (poll(&ready, 1, ACCEPT_MS) == 0) {
		errno = ETIMEDOUT;
		die("cannot accept on port %d: too many packets of the handshake are lost", port);
	}
	receiver = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (receiver < 0)
		die("cannot accept on port %d", port);
	return receiver;
}

static void connect_all(const int *listeners)
{
	for (int i = 0; i < asked.flows; i++) {
		struct flow *f = &flows[i];
		struct sockaddr_storage a;
		socklen_t length = address_of(&a, asked.address, asked.port + i);

		f->sender = flow_socket(a.ss_family, f, SO_SNDBUFFORCE);
		if (asked.rate_bytes)
			set_rate(f->sender, asked.rate_bytes);
		if (connect(f->sender, (void *)&a, length) < 0)
			die("cannot connect to %s port %d", asked.address, asked.port + i);
		f->receiver = accept_one(listeners[i], asked.port + i);
	}
}

static void print_flow(int i)
{
	char congestion[16] = "";
	int sndbuf = 0, rcvbuf = 0;
	socklen_t length = sizeof congestion, four = sizeof sndbuf;

	if (getsockopt(flows[i].sender, IPPROTO_TCP, TCP_CONGESTION, congestion, &length) < 0
	    || getsockopt(flows[i].sender, SOL_SOCKET, SO_SNDBUF, &sndbuf, &four) < 0
	    || getsockopt(flows[i].receiver, SOL_SOCKET, SO_RCVBUF, &rcvbuf, &four) < 0)
		die("cannot read back the options of flow %d", i);
	printf("flow %d %d %s %d %d", i, asked.port + i, congestion, sndbuf, rcvbuf);
	if (asked.rate_bytes)
		printf(" %llu", rate_of(flows[i].sender));
	putchar('\n');
}

static void parse_flow(struct flow *f, const char *word)
{
	if (sscanf(word, "%15[a-z0-9_]:%lld:%lld:%lld", f->congestion, &f->window_bytes, &f->start_ns, &f->stop_ns) != 4)
		die("'%s' is not CONGESTION:WINDOW:START:STOP", word);
	f->sender = f->receiver = -1;
}

static void parse(int count, char **words)
{
	static const struct option options[] = {
		{ "from", 1, 0, 'f' }, { "to", 1, 0, 't' }, { "address", 1, 0, 'a' }, { "port", 1, 0, 'p' },
		{ "leave-out", 1, 0, 'l' }, { "bytes", 1, 0, 'b' },
		{ "rate", 1, 0, 'r' }, { "write", 1, 0, 'w' }, { "every", 1, 0, 'e' }, { 0 },
	};
	int option;

	while ((option = getopt_long(count, words, "", options, NULL)) != -1) {
		switch (option) {
		case 'f': asked.from = optarg; break;
		case 't': asked.to = optarg; break;
		case 'a': asked.address = optarg; break;
		case 'p': asked.port = atoi(optarg); break;
		case 'l': asked.leave_out_ns = atoll(optarg); break;
		case 'b': asked.bytes = atoll(optarg); break;
		case 'r': asked.rate_bytes = atoll(optarg); break;
		case 'w': asked.piece_bytes = atoll(optarg); break;
		case 'e': asked.every_ns = atoll(optarg); break;
		default: exit(2);
		}
	}
	asked.flows = count - optind;
	if (!asked.from || !asked.to || !asked.address || !asked.port || asked.flows < 1 || asked.flows > MAX_FLOWS)
		die("usage: flow --from NETNS --to NETNS --address IP --port N [--leave-out NS] [--bytes N]"
		    " [--rate BYTES] [--write BYTES --every NS]"
		    " CONGESTION:WINDOW:START:STOP ... (1 to %d flows)", MAX_FLOWS);
	for (int i = 0; i < asked.flows; i++)
		parse_flow(&flows[i], words[optind + i]);
}

/* End a connection now, with all that waits in its buffer: connecting to nowhere is how TCP is told to (connect(2)). */
static void reset(int fd)
{
	struct sockaddr nowhere = { .sa_family = AF_UNSPEC };

	if (connect(fd, &nowhere, sizeof nowhere) < 0)
		die("cannot reset a connection");
}

/* Stop each flow at its own time: what its receiver has got by then is its result. */
static void stop_all(void)
{
	bool stopped[MAX_FLOWS] = { 0 };

	for (int left = asked.flows; left > 0; left--) {
		int next = -1;

		for (int i = 0; i < asked.flows; i++)
			if (!stopped[i] && (next < 0 || flows[i].stop_ns < flows[next].stop_ns))
				next = i;
		sleep_until(start_ns + flows[next].stop_ns);
		if (left == asked.flows)
			snapshot("first", flows, flows + asked.flows);
		snapshot("stop", &flows[next], &flows[next + 1]);
		reset(flows[next].sender);
		stopped[next] = true;
	}
}

int main(int count, char **words)
{
	int listeners[MAX_FLOWS];

	parse(count, words);
	if (asked.piece_bytes)
		prctl(PR_SET_TIMERSLACK, 1);   /* 50 µs otherwise */
	signal(SIGPIPE, SIG_IGN);   /* a flow that is stopped while it sends */
	make_source();

	enter(asked.to);
	listen_all(listeners);
	enter(asked.from);
	connect_all(listeners);

	start_ns = now_ns();
	printf("start %lld\n", start_ns);
	fflush(stdout);            /* others wait for it */
	for (int i = 0; i < asked.flows; i++)
		print_flow(i);
	snapshot("start", flows, flows + asked.flows);
	for (int i = 0; i < asked.flows; i++) {
		spawn(receive, &flows[i], &flows[i].receiving);
		spawn(send_all, &flows[i], &flows[i].sending);
	}
	if (asked.leave_out_ns) {
		sleep_until(start_ns + asked.leave_out_ns);
		snapshot("steady", flows, flows + asked.flows);
	}
	if (asked.bytes)
		for (int i = 0; i < asked.flows; i++)
			pthread_join(flows[i].receiving, NULL);
	else
		stop_all();
	return fflush(stdout) ? 1 : 0;   /* leaving resets what is still in flight */
}
