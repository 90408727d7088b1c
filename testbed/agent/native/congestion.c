/*
 * congestion: gives the listening sockets of a server that cannot be told a congestion control (LD_PRELOAD).
 *
 *   LD_PRELOAD=congestion.so TESTBED_CONGESTION=NAME nginx ...
 *
 * The connections that a listening socket accepts have its congestion control.  The sysctl of a network namespace would
 * do the same, but takes only those that the kernel allows to everybody.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

int listen(int fd, int backlog)
{
	static int (*real)(int, int);
	const char *name = getenv("TESTBED_CONGESTION");
	int family = 0;
	socklen_t length = sizeof family;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "listen");
	getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &length);
	if (name && (family == AF_INET || family == AF_INET6)
	    && setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, strlen(name)) < 0) {
		fprintf(stderr, "the kernel refuses the congestion control %s\n", name);
		exit(1);
	}
	return real(fd, backlog);
}
