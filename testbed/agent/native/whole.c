/*
 * whole: lets curl sleep until much of an answer is there (LD_PRELOAD).
 *
 *   LD_PRELOAD=whole.so curl URL...
 *
 * curl wakes up for each packet, and looks at its socket, its signals and the clock some ten times before it sleeps
 * again; in the lab kernel each look is a switch of processes.  Once an answer has told its length, up to READS reads are
 * one call: each takes all that has come, as curl's do, and what they bring waits here for curl.  (A read that waits for
 * a number of bytes may end within a superpacket, and lets the window grow more slowly: tcp_rcv_space_adjust takes what
 * is left off what was read.)  They are no more than surely come, and the last byte wakes curl when it comes.  An answer
 * that tells no length is read as curl reads it.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

enum { READS = 64 };

/* The function of this name that the program would call without us. */
#define NEXT(name, type) ((type)dlsym(RTLD_NEXT, name))

/* What is still to come of the answer on this socket; 0 before an answer, and if its length is not known. */
static int answering = -1;
static unsigned long long left;

/* What came, and curl does not have yet. */
static char *store, *here;
static size_t kept;
static int failed; /* the error at its end, which may come before what the kernel has */

/* What an answer announces beyond the bytes that came with its header; 0 if this is no header, or it does not say. */
static unsigned long long announced(const char *data, size_t got)
{
	static const char first[] = "HTTP/", field[] = "Content-Length:";
	const char *end = memmem(data, got, "\r\n\r\n", 4);
	const char *line = data;

	while (end && line < end && !memcmp(data, first, sizeof first - 1)) {
		const char *next = memmem(line, end + 2 - line, "\r\n", 2) + 2;

		if (!strncasecmp(line, field, sizeof field - 1)) {
			const char *number = line + sizeof field - 1;
			unsigned long long length, came = data + got - (end + 4);

			number += strspn(number, " \t");
			length = isdigit((unsigned char)*number) ? strtoull(number, NULL, 10) : 0;
			return length > came ? length - came : 0;
		}
		line = next;
	}
	return 0;
}

/*
 * Reads until as much is kept as curl has room for, up to READS times in a call; nothing is kept at the end, or an error.
 * recvmmsg leaves an error behind messages to the next call, even that a signal ended a read (a process that was stopped
 * and goes on), by a number of the kernel's own.
 */
static void take(int fd, size_t room)
{
	enum { ERESTARTSYS = 512 };
	struct mmsghdr messages[READS];
	struct iovec places[READS];
	char *longer = realloc(store, (READS + 1) * room);
	size_t before;

	if (!longer)
		return;
	store = here = longer;
	do {
		unsigned long long surely = (left - kept) / room;
		int reads = surely < READS ? surely : READS, got;

		before = kept;
		memset(messages, 0, sizeof messages);
		for (int i = 0; i < reads; i++) {
			places[i] = (struct iovec){ store + before + i * room, room };
			messages[i].msg_hdr.msg_iov = &places[i];
			messages[i].msg_hdr.msg_iovlen = 1;
		}
		got = recvmmsg(fd, messages, reads, 0, NULL);
		for (int i = 0; i < got; i++) {
			memmove(store + kept, places[i].iov_base, messages[i].msg_len);
			kept += messages[i].msg_len;
		}
		if (got < 0)
			failed = errno;
		else if (got < reads)
			getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &(socklen_t){ sizeof failed });
		if (failed == EINTR || failed == ERESTARTSYS)
			failed = 0;
	} while (!failed && kept > before && kept < room && left - kept >= room);
}

/* The next part of an answer whose length is known. Of a connection that failed curl has all that came, then the error. */
static ssize_t part(int fd, char *data, size_t room)
{
	ssize_t got;

	if (!kept && !failed && left > room)
		take(fd, room);
	if (kept) {
		got = kept < room ? kept : room;
		memcpy(data, here, got);
		here += got;
		kept -= got;
	} else {
		got = NEXT("recv", ssize_t (*)(int, void *, size_t, int))(fd, data, left < room ? left : room,
									  failed ? MSG_DONTWAIT : MSG_WAITALL);
		if (got <= 0 && failed) {
			errno = failed;
			got = -1;
		}
	}
	left = got > 0 ? left - got : 0;
	failed = left ? failed : 0;
	return got;
}

ssize_t recv(int fd, void *data, size_t length, int flags)
{
	ssize_t got;
	int mode;

	if (flags || fd != answering || !left) {
		got = NEXT("recv", ssize_t (*)(int, void *, size_t, int))(fd, data, length, flags);
		if (!flags && !left) {
			answering = fd;
			left = got > 0 ? announced(data, got) : 0;
		}
		return got;
	}
	mode = fcntl(fd, F_GETFL);
	fcntl(fd, F_SETFL, mode & ~O_NONBLOCK);
	got = part(fd, data, length);
	fcntl(fd, F_SETFL, mode);
	return got;
}

/* poll() under another name, as gcc takes its declaration for one that only writes to what it gets. */
int look(struct pollfd *looked, nfds_t count, int timeout) __asm__("poll");

/* What is kept can be read at once. */
int look(struct pollfd *looked, nfds_t count, int timeout)
{
	int found = 0;

	for (nfds_t i = 0; kept && i < count; i++) {
		looked[i].revents = looked[i].fd == answering ? looked[i].events & POLLIN : 0;
		found += looked[i].revents != 0;
	}
	return found ? found : NEXT("poll", int (*)(struct pollfd *, nfds_t, int))(looked, count, timeout);
}

int close(int fd)
{
	if (fd == answering)
		left = kept = failed = 0;
	return NEXT("close", int (*)(int))(fd);
}
