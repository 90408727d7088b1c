/*
 * qdisc: sets up queueing disciplines that iproute2 does not know, or not well enough.
 *
 *   qdisc < LINES
 *   dualpi2 qdisc add|change ...
 *
 * Each line is as for `tc -batch`: qdisc add|change dev DEVICE root|parent HANDLE handle HANDLE KIND [WORD ...]
 * KINDS has the kinds, with the words that each takes.  The kernel must accept a line before the next one is sent.
 * Called as dualpi2, its words are one line, those of tc from iproute2 6.18 on; every time has the unit "us".
 *
 * The runs of a trace are one word, RUN,RUN,...; a RUN is DELTAxCOUNT+GAP: COUNT opportunities (left out: 1), the first
 * DELTA ticks after the first one of the run before, and GAP (left out: 0) in 2^-32 ns between two.
 *
 * netem-ns changes nothing but the delay and the jitter of a netem that is there, which it sets to the nanosecond.
 */
#define _GNU_SOURCE
#include "common.h"
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdint.h>

enum type { END, U8, U32, U64, MICROSECONDS, IN_256THS, FLAG, TICK, RUNS, IN_PLACE };

struct parameter {
	const char *name;
	uint16_t attribute;
	enum type type;
	uint8_t flag;
};

struct kind {
	const char *name;
	struct parameter parameters[20];
};

#define NETEM_NS "netem-ns"

/* Those of tb... are in net/sched/sch_testbed.c of the lab kernel, the others in linux/pkt_sched.h. */
static const struct kind KINDS[] = {
	{ "tbshaper", { { "limit", 1, U32, 0 }, { "rate", 2, U64, 0 }, { "burst", 3, U64, 0 }, { "refill", 4, U64, 0 },
			{ "credit", 5, U64, 0 } } },
	{ "tbpolicer", { { "limit", 1, U32, 0 }, { "refill", 4, U64, 0 }, { "credit", 5, U64, 0 } } },
	{ "tbflow", { { "limit", 1, U32, 0 }, { "refill", 4, U64, 0 }, { "credit", 5, U64, 0 }, { "bytes", 6, U32, 0 } } },
	{ "tbtrace", { { "limit", 1, U32, 0 }, { "bytes", 6, U32, 0 }, { "period", 7, U64, 0 }, { "tick", 0, TICK, 0 },
		       { "runs", 8, RUNS, 0 }, { "start", 9, U32, 0 } } },
	{ "dualpi2", { { "limit", 1, U32, 0 }, { "memlimit", 2, U32, 0 }, { "target", 3, MICROSECONDS, 0 },
		       { "tupdate", 4, MICROSECONDS, 0 }, { "alpha", 5, IN_256THS, 0 }, { "beta", 6, IN_256THS, 0 },
		       { "step_thresh", 8, MICROSECONDS, 0 }, { "min_qlen_step", 9, U32, 0 },
		       { "coupling_factor", 10, U8, 0 }, { "drop_on_overload", 11, FLAG, 1 },
		       { "overflow", 11, FLAG, 0 }, { "drop_enqueue", 12, FLAG, 1 }, { "drop_dequeue", 12, FLAG, 0 },
		       { "classic_protection", 13, U8, 0 }, { "l4s_ect", 14, FLAG, 1 }, { "any_ect", 14, FLAG, 3 },
		       { "split_gso", 15, FLAG, 1 }, { "no_split_gso", 15, FLAG, 0 } } },
	{ NETEM_NS, { { "delay", TCA_NETEM_LATENCY64, IN_PLACE, 0 }, { "jitter", TCA_NETEM_JITTER64, IN_PLACE, 0 } } },
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

static double decimal(const char *text, const char *unit, double most)
{
	char *end = NULL;
	double found = text ? strtod(text, &end) : -1;

	if (found < 0 || found > most || end == text || strcmp(end, unit))
		refuse("no number with the right unit:", text);
	return found;
}

static void put_u32(uint16_t type, double value)
{
	uint32_t whole = value;

	attribute(type, &whole, sizeof whole);
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
		die("line %d: %s%s", line_number, line_start, errno == ENOENT ? ": the kernel has no such queue" : "");
	}
}

/* The numbers of a netem that is there, as the kernel tells them, which is also how it takes them. */
static void copy_options(void)
{
	struct sockaddr_nl to = { .nl_family = AF_NETLINK };
	struct { struct nlmsghdr header; struct tcmsg body; } ask = {
		.header = { .nlmsg_len = sizeof ask, .nlmsg_type = RTM_GETQDISC, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		.body = { .tcm_ifindex = message.body.tcm_ifindex },
	};
	static char answer[1 << 16];
	bool is_over = false;

	options = NULL;
	if (sendto(kernel, &ask, sizeof ask, 0, (void *)&to, sizeof to) < 0)
		die("line %d: cannot ask the kernel", line_number);
	while (!is_over) {
		ssize_t length = recv(kernel, answer, sizeof answer, 0);

		if (length <= 0)
			die("line %d: no answer of the kernel", line_number);
		for (struct nlmsghdr *one = (void *)answer; NLMSG_OK(one, length); one = NLMSG_NEXT(one, length)) {
			struct tcmsg *about = NLMSG_DATA(one);
			int rest = TCA_PAYLOAD(one);
			const char *kind = "";
			struct rtattr *found = NULL;

			is_over = is_over || one->nlmsg_type == NLMSG_DONE || one->nlmsg_type == NLMSG_ERROR;
			if (one->nlmsg_type != RTM_NEWQDISC || about->tcm_ifindex != message.body.tcm_ifindex ||
			    about->tcm_handle != message.body.tcm_handle)
				continue;
			for (struct rtattr *at = TCA_RTA(about); RTA_OK(at, rest); at = RTA_NEXT(at, rest)) {
				kind = at->rta_type == TCA_KIND ? RTA_DATA(at) : kind;
				found = at->rta_type == TCA_OPTIONS ? at : found;
			}
			if (!options && found && !strcmp(kind, "netem"))
				options = attribute(TCA_OPTIONS | NLA_F_NESTED, RTA_DATA(found), RTA_PAYLOAD(found));
		}
	}
	if (!options)
		refuse("no netem to change:", line_start);
}

static void put_in_place(uint16_t type, int64_t value)
{
	int rest = RTA_PAYLOAD(options) - RTA_ALIGN(sizeof(struct tc_netem_qopt));
	struct rtattr *at = (void *)((char *)RTA_DATA(options) + RTA_ALIGN(sizeof(struct tc_netem_qopt)));

	for (; RTA_OK(at, rest); at = RTA_NEXT(at, rest))
		if ((at->rta_type & NLA_TYPE_MASK) == type && RTA_PAYLOAD(at) == sizeof value) {
			memcpy(RTA_DATA(at), &value, sizeof value);
			return;
		}
	refuse("the kernel tells no time in ns of", line_start);
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
		char *value = NULL;
		uint64_t wide = 0;
		uint32_t narrow;
		uint8_t small;

		while (found->type && strcmp(found->name, name))
			found++;
		if (found->type != FLAG)
			value = word();
		if (found->type == RUNS && value) {
			add_runs(kind, found->attribute, value, tick);
			continue;
		}
		if (found->type != FLAG && found->type != MICROSECONDS && found->type != IN_256THS)
			wide = number(value, 10);
		narrow = wide;
		small = found->type == FLAG ? found->flag : wide;
		switch (found->type) {
		case FLAG:
			attribute(found->attribute, &small, sizeof small);
			break;
		case U8:
			if (small != wide)
				refuse("too large:", value);
			attribute(found->attribute, &small, sizeof small);
			break;
		case U32:
			if (narrow != wide)
				refuse("too large:", value);
			attribute(found->attribute, &narrow, sizeof narrow);
			break;
		case U64:
			attribute(found->attribute, &wide, sizeof wide);
			break;
		case MICROSECONDS:
			put_u32(found->attribute, decimal(value, "us", UINT32_MAX) + 0.5);
			break;
		case IN_256THS:
			put_u32(found->attribute, decimal(value, "", UINT32_MAX >> 8) * 256 + 0.5);
			break;
		case IN_PLACE:
			put_in_place(found->attribute, wide);
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
	if (strcmp(kind->name, NETEM_NS)) {
		begin_options(kind->name);
	} else {
		begin_options("netem");
		message.header.nlmsg_len = (char *)options - (char *)&message;
		copy_options();
	}
	set_options(kind);
	tell();
}

int main(int count, char **words)
{
	char *line = NULL, given[4096] = "";
	size_t size = 0, length = 0;

	kernel = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (kernel < 0)
		die("no netlink socket");
	for (int i = 1; i < count; i++) {
		length += snprintf(given + length, sizeof given - length, "%s ", words[i]);
		if (length >= sizeof given)
			refuse("too long:", "the words");
	}
	if (count > 1) {
		do_line(given);
		return 0;
	}
	while (getline(&line, &size, stdin) >= 0) {
		line_number++;
		do_line(line);
	}
	return 0;
}
