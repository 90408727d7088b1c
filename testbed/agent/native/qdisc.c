/*
 * qdisc: sets up queueing disciplines that iproute2 does not know.
 *
 *   qdisc < LINES
 *
 * Each line is as for `tc -batch`: qdisc add|change dev DEVICE root|parent HANDLE handle HANDLE KIND [NAME NUMBER] ...
 * KINDS has the kinds, with the names of their numbers.  The kernel must accept a line before the next one is sent.
 *
 * The runs of a trace are one word, RUN,RUN,...; a RUN is DELTAxCOUNT+GAP: COUNT opportunities (left out: 1), the first
 * DELTA ticks after the first one of the run before, and GAP (left out: 0) in 2^-32 ns between two.
 */
#define _GNU_SOURCE
#include "common.h"
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdint.h>

enum type { END, U32, U64, TICK, RUNS };

struct parameter {
	const char *name;
	uint16_t attribute;
	enum type type;
};

struct kind {
	const char *name;
	struct parameter parameters[10];
};

/* Those of tb... are in net/sched/sch_testbed.c of the lab kernel. */
static const struct kind KINDS[] = {
	{ "tbshaper", { { "limit", 1, U32 }, { "rate", 2, U64 }, { "burst", 3, U64 }, { "refill", 4, U64 },
			{ "credit", 5, U64 } } },
	{ "tbpolicer", { { "limit", 1, U32 }, { "refill", 4, U64 }, { "credit", 5, U64 } } },
	{ "tbtrace", { { "limit", 1, U32 }, { "bytes", 6, U32 }, { "period", 7, U64 }, { "tick", 0, TICK },
		       { "runs", 8, RUNS }, { "start", 9, U32 } } },
};

enum { RUN_BYTES = 20, RUNS_AT_ONCE = 3000 };

static struct {
	struct nlmsghdr header;
	struct tcmsg body;
	char attributes[RUN_BYTES * RUNS_AT_ONCE + 4096];
} message;
static struct rtattr *options;
static char line_start[100], *rest;
static int line_number, kernel;

static void refuse(const char *what, const char *word)
{
	errno = 0;
	die("line %d: %s %s", line_number, what, word ? word : "(nothing)");
}

static char *word(void)
{
	return strtok_r(NULL, " \n", &rest);
}

static unsigned long long number(const char *text, int base)
{
	char *end;
	unsigned long long found;

	errno = 0;
	if (!text)
		refuse("a number is missing:", text);
	found = strtoull(text, &end, base);
	if (errno || end == text || *end || *text == '-')
		refuse("no number:", text);
	return found;
}

static uint32_t handle(const char *text)
{
	char major[16], *colon = text ? strchr(text, ':') : NULL;

	if (!colon || colon - text >= (long)sizeof major)
		refuse("no handle:", text);
	memcpy(major, text, colon - text);
	major[colon - text] = 0;
	return number(major, 16) << 16 | (colon[1] ? number(colon + 1, 16) : 0);
}

static struct rtattr *attribute(uint16_t type, const void *data, size_t length)
{
	struct rtattr *made = (void *)((char *)&message + NLMSG_ALIGN(message.header.nlmsg_len));

	if (NLMSG_ALIGN(message.header.nlmsg_len) + RTA_SPACE(length) > sizeof message)
		refuse("too long:", "the options");
	made->rta_type = type;
	made->rta_len = RTA_LENGTH(length);
	memcpy(RTA_DATA(made), data, length);
	message.header.nlmsg_len = NLMSG_ALIGN(message.header.nlmsg_len) + RTA_ALIGN(made->rta_len);
	return made;
}

static void begin_options(const char *kind)
{
	message.header.nlmsg_len = NLMSG_LENGTH(sizeof message.body);
	attribute(TCA_KIND, kind, strlen(kind) + 1);
	options = attribute(TCA_OPTIONS | NLA_F_NESTED, "", 0);
}

static void tell(void)
{
	struct sockaddr_nl to = { .nl_family = AF_NETLINK };
	struct { struct nlmsghdr header; struct nlmsgerr error; char more[65536]; } answer;

	options->rta_len = (char *)&message + message.header.nlmsg_len - (char *)options;
	if (sendto(kernel, &message, message.header.nlmsg_len, 0, (void *)&to, sizeof to) < 0 ||
	    recv(kernel, &answer, sizeof answer, 0) < (ssize_t)(sizeof answer.header + sizeof(int)))
		die("line %d: no answer of the kernel", line_number);
	if (answer.header.nlmsg_type != NLMSG_ERROR || answer.error.error) {
		errno = -answer.error.error;
		die("line %d: %s", line_number, line_start);
	}
}

/* Sends the runs in as many messages as they need; the last one is left to the caller. */
static void add_runs(const struct kind *kind, uint16_t type, char *text, uint64_t tick)
{
	static char packed[RUN_BYTES * RUNS_AT_ONCE];
	uint64_t at = 0;
	int held = 0;
	char *inner = NULL;

	for (char *run = strtok_r(text, ",", &inner); run; run = strtok_r(NULL, ",", &inner)) {
		char *plus = strchr(run, '+'), *times = strchr(run, 'x');
		uint64_t gap;
		uint32_t count;

		if (plus)
			*plus = 0;
		if (times)
			*times = 0;
		gap = plus ? number(plus + 1, 10) : 0;
		count = times ? number(times + 1, 10) : 1;
		at += number(run, 10) * tick;
		if (held == RUNS_AT_ONCE) {
			attribute(type, packed, sizeof packed);
			tell();
			message.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
			begin_options(kind->name);
			held = 0;
		}
		memcpy(packed + RUN_BYTES * held, &at, 8);
		memcpy(packed + RUN_BYTES * held + 8, &gap, 8);
		memcpy(packed + RUN_BYTES * held++ + 16, &count, 4);
	}
	attribute(type, packed, RUN_BYTES * held);
}

static void set_options(const struct kind *kind)
{
	uint64_t tick = 1;

	for (char *name = word(); name; name = word()) {
		const struct parameter *found = kind->parameters;
		char *value = word();
		uint64_t wide;
		uint32_t narrow;

		while (found->type && strcmp(found->name, name))
			found++;
		if (found->type == RUNS && value) {
			add_runs(kind, found->attribute, value, tick);
			continue;
		}
		wide = number(value, 10);
		narrow = wide;
		switch (found->type) {
		case U32:
			if (narrow != wide)
				refuse("too large:", value);
			attribute(found->attribute, &narrow, sizeof narrow);
			break;
		case U64:
			attribute(found->attribute, &wide, sizeof wide);
			break;
		case TICK:
			tick = wide;
			break;
		default:
			refuse("unknown:", name);
		}
	}
}

static void do_line(char *line)
{
	const struct kind *kind = KINDS;
	bool adds;
	char *next;

	snprintf(line_start, sizeof line_start, "%.*s", (int)strcspn(line, "\n"), line);
	if (!(next = strtok_r(line, " \n", &rest)))
		return;
	if (strcmp(next, "qdisc") || !(next = word()) || (strcmp(next, "add") && strcmp(next, "change")))
		refuse("neither qdisc add nor qdisc change:", next);
	adds = !strcmp(next, "add");
	memset(&message.header, 0, sizeof message.header);
	memset(&message.body, 0, sizeof message.body);
	message.header.nlmsg_type = RTM_NEWQDISC;
	message.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | (adds ? NLM_F_CREATE | NLM_F_EXCL : 0);
	while ((next = word())) {
		if (!strcmp(next, "dev")) {
			next = word();
			message.body.tcm_ifindex = next ? if_nametoindex(next) : 0;
			if (!message.body.tcm_ifindex)
				refuse("no such device:", next);
		} else if (!strcmp(next, "root")) {
			message.body.tcm_parent = TC_H_ROOT;
		} else if (!strcmp(next, "parent")) {
			message.body.tcm_parent = handle(word());
		} else if (!strcmp(next, "handle")) {
			message.body.tcm_handle = handle(word());
		} else {
			break;
		}
	}
	while (next && kind < KINDS + sizeof KINDS / sizeof *KINDS && strcmp(kind->name, next))
		kind++;
	if (!next || kind == KINDS + sizeof KINDS / sizeof *KINDS)
		refuse("unknown kind:", next);
	begin_options(kind->name);
	set_options(kind);
	tell();
}

int main(void)
{
	char *line = NULL;
	size_t size = 0;

	kernel = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (kernel < 0)
		die("no netlink socket");
	while (getline(&line, &size, stdin) >= 0) {
		line_number++;
		do_line(line);
	}
	return 0;
}
