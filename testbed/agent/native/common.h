/* What the programs that send have in common: errors, the clock, network namespaces and addresses. */

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static const long long SECOND = 1000000000LL;

static inline void die(const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fprintf(stderr, errno ? ": %s\n" : "\n", strerror(errno));
	exit(1);
}

static inline long long clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

static inline long long now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* False if a signal came first. */
static inline bool slept_until(long long ns)
{
	struct timespec t = { ns / SECOND, ns % SECOND };

	return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != EINTR;
}

static inline void sleep_until(long long ns)
{
	while (!slept_until(ns))
		;
}

static inline void enter(const char *netns)
{
	char path[256];
	int fd;

	snprintf(path, sizeof path, "/run/netns/%s", netns);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET) < 0)
		die("cannot enter the network namespace %s", netns);
	close(fd);
}

static inline socklen_t address_of(struct sockaddr_storage *storage, const char *address, int port)
{
	struct sockaddr_in *v4 = (void *)storage;
	struct sockaddr_in6 *v6 = (void *)storage;

	memset(storage, 0, sizeof *storage);
	if (inet_pton(AF_INET, address, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(port);
		return sizeof *v4;
	}
	errno = 0;
	if (inet_pton(AF_INET6, address, &v6->sin6_addr) != 1)
		die("%s is not an IP address", address);
	v6->sin6_family = AF_INET6;
	v6->sin6_port = htons(port);
	return sizeof *v6;
}
