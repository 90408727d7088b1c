/*
 * dualpi2: sets up the queueing discipline of this name, which the tc of many distributions does not know.
 *
 *   dualpi2 qdisc add|change dev DEVICE parent MAJOR:MINOR handle MAJOR: dualpi2 WORD ...
 *
 * The words are those of tc from iproute2 6.18 on; every time has the unit "us", every size is in bytes. It speaks
 * rtnetlink in the network namespace that it starts in, and ends with a message and status 1 if the kernel refuses.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BITS_8 = 1, BITS_32 = 4, FRACTION_BITS = 8 };

/* A word that a number follows, with the number's attribute (linux/pkt_sched.h, TCA_DUALPI2_…) and size. */
static const struct {
	const char *name, *unit;
	int attribute, bytes, shift;
} numbers[] = {
	{ "limit", "", 1, BITS_32, 0 },
	{ "memlimit", "", 2, BITS_32, 0 },
	{ "target", "us", 3, BITS_32, 0 },
	{ "tupdate", "us", 4, BITS_32, 0 },
	{ "alpha", "", 5, BITS_32, FRACTION_BITS },
	{ "beta", "", 6, BITS_32, FRACTION_BITS },
	{ "step_thresh", "us", 8, BITS_32, 0 },
	{ "min_qlen_step", "", 9, BITS_32, 0 },
	{ "coupling_factor", "", 10, BITS_8, 0 },
	{ "classic_protection", "", 13, BITS_8, 0 },
};

/* A word by itself. */
static const struct {
	const char *name;
	int attribute, value;
} flags[] = {
	{ "drop_on_overload", 11, 1 }, { "overflow", 11, 0 },
	{ "drop_enqueue", 12, 1 },     { "drop_dequeue", 12, 0 },
	{ "l4s_ect", 14, 1 },          { "any_ect", 14, 3 },
	{ "split_gso", 15, 1 },        { "no_split_gso", 15, 0 },
};

static struct {
	struct nlmsghdr header;
	struct tcmsg body;
	char attributes[1024];
} request;

static void refuse(const char *what, const char *which)
{
	fprintf(stderr, "dualpi2: %s %s\n", what, which);
	exit(1);
}

static struct rtattr *append(int type, const void *data, size_t length)
{
	struct rtattr *at = (void *)((char *)&request + NLMSG_ALIGN(request.header.nlmsg_len));

	at->rta_type = type;
	at->rta_len = RTA_LENGTH(length);
	if (length)
		memcpy(RTA_DATA(at), data, length);
	request.header.nlmsg_len = NLMSG_ALIGN(request.header.nlmsg_len) + RTA_ALIGN(at->rta_len);
	return at;
}

static void append_number(int attribute, int bytes, uint32_t value)
{
	uint8_t small = value;

	if (bytes == BITS_8 && value > 255)
		refuse("a number is too large for one byte", "");
	append(attribute, bytes == BITS_8 ? (void *)&small : (void *)&value, bytes);
}

static uint32_t handle(const char *text)
{
	unsigned major, minor = 0;

	if (sscanf(text, "%x:%x", &major, &minor) < 1 || major > 0xFFFF || minor > 0xFFFF)
		refuse("not a handle:", text);
	return major << 16 | minor;
}

/* Takes one parameter off the words; returns how many words it was. */
static int parameter(int count, char **words)
{
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		if (!strcmp(words[0], flags[i].name)) {
			append_number(flags[i].attribute, BITS_8, flags[i].value);
			return 1;
		}
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (!strcmp(words[0], numbers[i].name) && count > 1) {
			char *end;
			double value = strtod(words[1], &end);

			if (end == words[1] || strcmp(end, numbers[i].unit) || value < 0 || value > UINT32_MAX >> numbers[i].shift)
				refuse("not a number with the right unit:", words[1]);
			append_number(numbers[i].attribute, numbers[i].bytes, value * (1 << numbers[i].shift) + 0.5);
			return 2;
		}
	refuse("no such parameter:", words[0]);
	return 0;
}

static void send_request(void)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	int s = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	struct {
		struct nlmsghdr header;
		struct nlmsgerr error;
		char rest[4096];
	} answer;

	if (s < 0 || sendto(s, &request, request.header.nlmsg_len, 0, (void *)&kernel, sizeof kernel) < 0)
		refuse("cannot ask the kernel:", strerror(errno));
	if (recv(s, &answer, sizeof answer, 0) < (ssize_t)NLMSG_LENGTH(sizeof answer.error))
		refuse("no answer from the kernel:", strerror(errno));
	if (answer.header.nlmsg_type != NLMSG_ERROR)
		refuse("another answer than was asked for", "");
	if (answer.error.error == -ENOENT)
		refuse("the kernel has no dualpi2:", "Linux has it since 6.17, as CONFIG_NET_SCH_DUALPI2");
	if (answer.error.error)
		refuse("the kernel refuses:", strerror(-answer.error.error));
}

int main(int count, char **words)
{
	int is_add = count > 2 && !strcmp(words[2], "add");
	struct rtattr *options;

	if (count < 10 || strcmp(words[1], "qdisc") || (!is_add && strcmp(words[2], "change")) || strcmp(words[3], "dev") ||
	    strcmp(words[5], "parent") || strcmp(words[7], "handle") || strcmp(words[9], "dualpi2")) {
		fprintf(stderr, "usage: dualpi2 qdisc add|change dev DEVICE parent HANDLE handle HANDLE dualpi2 WORD ...\n");
		return 2;
	}
	request.header.nlmsg_len = NLMSG_LENGTH(sizeof request.body);
	request.header.nlmsg_type = RTM_NEWQDISC;
	request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | (is_add ? NLM_F_CREATE | NLM_F_EXCL : 0);
	request.body.tcm_family = AF_UNSPEC;
	request.body.tcm_ifindex = if_nametoindex(words[4]);
	request.body.tcm_parent = handle(words[6]);
	request.body.tcm_handle = handle(words[8]);
	if (!request.body.tcm_ifindex)
		refuse("no such device:", words[4]);
	append(TCA_KIND, "dualpi2", sizeof "dualpi2");
	options = append(TCA_OPTIONS | NLA_F_NESTED, NULL, 0);
	for (int i = 10; i < count;)
		i += parameter(count - i, words + i);
	options->rta_len = (char *)&request + request.header.nlmsg_len - (char *)options;
	send_request();
	return 0;
}
