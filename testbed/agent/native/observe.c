/*
 * observe: what the kernel says over netlink, again and again, unparsed.
 *
 *   observe FILE INTERVAL_NS SOURCE[/DEVICE]@NETNS ...
 *
 * Asks every source at once and then every INTERVAL_NS of CLOCK_MONOTONIC (0: once only), until SIGTERM, which is
 * answered by one last round.  Sources:
 *   tcp     every TCP socket but listening ones: sock_diag with TCP_INFO, congestion control and socket memory
 *   qdisc   every queueing discipline with its statistics
 *   class   every class of the queueing disciplines of DEVICE
 *   link    every device with its settings and counters
 *   nft     every named object of nftables in the family netdev: counters
 *   address, route, neighbour   every one of IPv4 and IPv6
 *   vlan    every port of bridges with its VLANs
 *   rule    every rule of nftables in every family
 *   feature DEVICE's offloads, which rtnetlink does not tell: one message of the u32 device number, TSO, GSO and GRO
 *
 * FILE, to which it appends, is a sequence of records: u64 time in ns, u32 index of the source on the command line, u32 number of bytes,
 * then the netlink messages of the answer as they came.  Parsing is the reader's business: here it would cost guest
 * time, and there a second implementation (pyroute2) can check what iproute2 set.
 *
 * Each round, and each second between rounds, writes "lab NS" to standard output: a sign of life that can be seen from
 * outside a lab kernel.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>          /* before the kernel's own */
#include <linux/ethtool.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/inet_diag.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static const long long LIFE_NS = 1000000000LL;   /* at least one sign of life in so long a time */

enum { MAX_SOURCES = 4096, ANSWER_BYTES = 1 << 20 };

struct source {
	int kind, socket, device;
};

static struct source sources[MAX_SOURCES];
static volatile sig_atomic_t asked_to_stop;

static void die(const char *what, const char *which)
{
	fprintf(stderr, "observe: %s %s: %s\n", what, which, strerror(errno));
	exit(1);
}

static void stop(int number)
{
	(void)number;
	asked_to_stop = 1;
}

static long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void send_request(const struct source *s, struct nlmsghdr *header, void *body, size_t length)
{
	char message[256] = { 0 };
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };

	header->nlmsg_len = NLMSG_LENGTH(length);
	header->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	memcpy(message, header, sizeof *header);
	memcpy(NLMSG_DATA(message), body, length);
	if (sendto(s->socket, message, header->nlmsg_len, 0, (void *)&kernel, sizeof kernel) < 0)
		die("cannot ask", "the kernel");
}

static void ask_tcp(const struct source *s, int family)
{
	struct nlmsghdr header = { .nlmsg_type = SOCK_DIAG_BY_FAMILY };
	struct inet_diag_req_v2 body = {
		.sdiag_family = family,
		.sdiag_protocol = IPPROTO_TCP,
		.idiag_ext = 1 << (INET_DIAG_INFO - 1) | 1 << (INET_DIAG_CONG - 1) | 1 << (INET_DIAG_SKMEMINFO - 1),
		.idiag_states = ~(1u << TCP_LISTEN | 1u << TCP_TIME_WAIT),
	};

	send_request(s, &header, &body, sizeof body);
}

static void ask_tcp4(const struct source *s) { ask_tcp(s, AF_INET); }

static void ask_tcp6(const struct source *s) { ask_tcp(s, AF_INET6); }

static void ask_qdisc(const struct source *s)
{
	struct nlmsghdr header = { .nlmsg_type = RTM_GETQDISC };
	struct tcmsg body = { .tcm_family = AF_UNSPEC };

	send_request(s, &header, &body, sizeof body);
}

static void ask_class(const struct source *s)
{
	struct nlmsghdr header = { .nlmsg_type = RTM_GETTCLASS };
	struct tcmsg body = { .tcm_family = AF_UNSPEC, .tcm_ifindex = s->device };

	send_request(s, &header, &body, sizeof body);
}

static void ask_link(const struct source *s)
{
	struct nlmsghdr header = { .nlmsg_type = RTM_GETLINK };
	struct ifinfomsg body = { .ifi_family = AF_UNSPEC };

	send_request(s, &header, &body, sizeof body);
}

static void ask_nft(const struct source *s)
{
	struct nlmsghdr header = { .nlmsg_type = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETOBJ };
	struct nfgenmsg body = { .nfgen_family = NFPROTO_NETDEV, .version = NFNETLINK_V0 };

	send_request(s, &header, &body, sizeof body);
}

static void ask_address(const struct source *s)
{
	struct nlmsghdr header = { .nlmsg_type = RTM_GETADDR };
	struct ifaddrmsg body = { .ifa_family = AF_UNSPEC };

	send_request(s, &header, &body, sizeof body);
}

static void ask_route(const struct source *s)
{
	struct nlmsghdr header = { .nlmsg_type = RTM_GETROUTE };
	struct rtmsg body = { .rtm_family = AF_UNSPEC };

	send_request(s, &header, &body, sizeof body);
}

static void ask_neighbour(const struct source *s)
{
	struct nlmsghdr header = { .nlmsg_type = RTM_GETNEIGH };
	struct ndmsg body = { .ndm_family = AF_UNSPEC };

	send_request(s, &header, &body, sizeof body);
}

static void ask_vlan(const struct source *s)
{
	struct nlmsghdr header = { .nlmsg_type = RTM_GETLINK };
	struct {
		struct ifinfomsg link;
		struct rtattr attribute;
		uint32_t mask;
	} body = {
		{ .ifi_family = AF_BRIDGE },
		{ .rta_len = RTA_LENGTH(sizeof(uint32_t)), .rta_type = IFLA_EXT_MASK },
		RTEXT_FILTER_BRVLAN,
	};

	send_request(s, &header, &body, sizeof body);
}

static void ask_rule(const struct source *s)
{
	struct nlmsghdr header = { .nlmsg_type = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETRULE };
	struct nfgenmsg body = { .nfgen_family = NFPROTO_UNSPEC, .version = NFNETLINK_V0 };

	send_request(s, &header, &body, sizeof body);
}

static uint32_t feature(const struct source *s, uint32_t which)
{
	struct ethtool_value value = { .cmd = which };
	struct ifreq request = { .ifr_ifindex = s->device };

	if (ioctl(s->socket, SIOCGIFNAME, &request) < 0)
		die("cannot name", "a device");
	request.ifr_data = (void *)&value;
	if (ioctl(s->socket, SIOCETHTOOL, &request) < 0)
		die("cannot read the features of", request.ifr_name);
	return value.data;
}

/* The answer of a device, as if it came over netlink. */
static size_t tell_features(const struct source *s, char *answer)
{
	uint32_t told[] = { s->device, feature(s, ETHTOOL_GTSO), feature(s, ETHTOOL_GGSO), feature(s, ETHTOOL_GGRO) };
	struct nlmsghdr header = { .nlmsg_len = NLMSG_LENGTH(sizeof told) };

	memcpy(answer, &header, sizeof header);
	memcpy(answer + NLMSG_HDRLEN, told, sizeof told);
	return header.nlmsg_len;
}

static const struct kind {
	const char *name;
	int protocol;
	void (*ask[2])(const struct source *);
} kinds[] = {
	{ "tcp", NETLINK_SOCK_DIAG, { ask_tcp4, ask_tcp6 } },
	{ "qdisc", NETLINK_ROUTE, { ask_qdisc, NULL } },
	{ "class", NETLINK_ROUTE, { ask_class, NULL } },
	{ "link", NETLINK_ROUTE, { ask_link, NULL } },
	{ "nft", NETLINK_NETFILTER, { ask_nft, NULL } },
	{ "address", NETLINK_ROUTE, { ask_address, NULL } },
	{ "route", NETLINK_ROUTE, { ask_route, NULL } },
	{ "neighbour", NETLINK_ROUTE, { ask_neighbour, NULL } },
	{ "vlan", NETLINK_ROUTE, { ask_vlan, NULL } },
	{ "rule", NETLINK_NETFILTER, { ask_rule, NULL } },
	{ "feature", NETLINK_ROUTE, { NULL, NULL } },
};

static void open_source(struct source *s, const char *word)
{
	const char *at = strchr(word, '@'), *slash = memchr(word, '/', at ? at - word : 0), *end = slash ? slash : at;
	char path[256], device[IFNAMSIZ];
	int netns;

	s->kind = -1;
	for (size_t i = 0; at && i < sizeof kinds / sizeof *kinds; i++)
		if (strlen(kinds[i].name) == (size_t)(end - word) && !strncmp(kinds[i].name, word, end - word))
			s->kind = i;
	if (s->kind < 0)
		die("no such source", word);
	snprintf(path, sizeof path, "/run/netns/%s", at + 1);
	netns = open(path, O_RDONLY | O_CLOEXEC);
	if (netns < 0 || setns(netns, CLONE_NEWNET) < 0)
		die("cannot enter the network namespace", at + 1);
	close(netns);
	if (slash) {
		snprintf(device, sizeof device, "%.*s", (int)(at - slash - 1), slash + 1);
		s->device = if_nametoindex(device);
		if (!s->device)
			die("no such device", word);
	}
	s->socket = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, kinds[s->kind].protocol);
	if (s->socket < 0)
		die("cannot open netlink in", at + 1);
}

/* Everything up to the end of the dump, appended to `answer`; returns its new length. */
static size_t receive(const struct source *s, char *answer, size_t length)
{
	for (;;) {
		ssize_t n = recv(s->socket, answer + length, ANSWER_BYTES - length, MSG_TRUNC);
		struct nlmsghdr *m = (void *)(answer + length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || (size_t)n > ANSWER_BYTES - length)
			die("no answer from", kinds[s->kind].name);
		for (size_t left = n; NLMSG_OK(m, left); m = NLMSG_NEXT(m, left)) {
			if (m->nlmsg_type == NLMSG_ERROR)
				die("an error from", kinds[s->kind].name);
			if (m->nlmsg_type == NLMSG_DONE)
				return (char *)m - answer;
		}
		length += n;
	}
}

static void write_all(int file, const void *data, size_t length)
{
	for (const char *p = data; length > 0;) {
		ssize_t n = write(file, p, length);

		if (n < 0)
			die("cannot write", "the samples");
		p += n;
		length -= n;
	}
}

static void observe(int file, uint32_t index)
{
	static char answer[ANSWER_BYTES] __attribute__((aligned(8)));
	const struct source *s = &sources[index];
	struct {
		uint64_t when_ns;
		uint32_t index, bytes;
	} record = { now_ns(), index, 0 };

	for (int i = 0; i < 2 && kinds[s->kind].ask[i]; i++) {
		kinds[s->kind].ask[i](s);
		record.bytes = receive(s, answer, record.bytes);
	}
	if (!kinds[s->kind].ask[0])
		record.bytes = tell_features(s, answer);
	write_all(file, &record, sizeof record);
	write_all(file, answer, record.bytes);
}

int main(int count, char **words)
{
	struct sigaction action = { .sa_handler = stop };

	if (count < 3 || count - 3 > MAX_SOURCES) {
		fprintf(stderr, "usage: observe FILE INTERVAL_NS SOURCE@NETNS ...\n");
		return 2;
	}
	struct sched_param first = { .sched_priority = 1 };

	sigaction(SIGTERM, &action, NULL);
	sched_setscheduler(0, SCHED_FIFO, &first);   /* nothing may come between a time and what was seen at it */
	for (int i = 3; i < count; i++)
		open_source(&sources[i - 3], words[i]);

	int file = open(words[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (file < 0)
		die("cannot write", words[1]);
	long long interval_ns = atoll(words[2]), next_ns = now_ns(), due_ns = next_ns;
	long long life_ns = interval_ns < LIFE_NS ? interval_ns : LIFE_NS;
	for (;;) {
		int last = asked_to_stop || !interval_ns;

		for (int i = 3; i < count && (last || next_ns >= due_ns); i++)
			observe(file, i - 3);
		due_ns += next_ns >= due_ns ? interval_ns : 0;
		if (interval_ns) {
			printf("lab %lld\n", next_ns);
			fflush(stdout);
		}
		if (last)
			return 0;
		next_ns += life_ns;
		struct timespec t = { next_ns / 1000000000LL, next_ns % 1000000000LL };
		if (!asked_to_stop)
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	}
}
