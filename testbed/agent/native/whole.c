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
static int failed; /* the error behind it */

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

/* Reads until as much is kept as curl has room for, up to READS times in a call; an error comes after what was read. */
static ssize_t take(int fd, size_t room)
{
	struct mmsghdr messages[READS];
	struct iovec places[READS];
	char *longer = realloc(store, (READS + 1) * room);
	size_t before;
	int got;

	if (!longer)
		return -1;
	store = here = longer;
	do {
		unsigned long long surely = (left - kept) / room;
		unsigned reads = surely < READS ? surely : READS;

		before = kept;
		memset(messages, 0, sizeof messages);
		for (unsigned i = 0; i < reads; i++) {
			places[i] = (struct iovec){ store + before + i * room, room };
			messages[i].msg_hdr.msg_iov = &places[i];
			messages[i].msg_hdr.msg_iovlen = 1;
		}
		got = recvmmsg(fd, messages, reads, 0, NULL);
		for (int i = 0; i < got; i++) {
			memmove(store + kept, places[i].iov_base, messages[i].msg_len);
			kept += messages[i].msg_len;
		}
	} while (kept > before && kept < room && left - kept >= room);
	failed = got < 0 ? errno : 0;
	return kept ? (ssize_t)kept : got < 0 ? -1 : 0;
}

/* The next part of an answer whose length is known. */
static ssize_t part(int fd, char *data, size_t room)
{
	ssize_t got;

	if (!kept && failed) {
		errno = failed;
		got = -1;
	} else if (!kept && left <= room) {
		got = NEXT("recv", ssize_t (*)(int, void *, size_t, int))(fd, data, left, MSG_WAITALL);
	} else {
		got = kept ? (ssize_t)kept : take(fd, room);
		if (got > 0) {
			got = (size_t)got < room ? got : (ssize_t)room;
			memcpy(data, here, got);
			here += got;
			kept -= got;
		}
	}
	left = got > 0 ? left - got : 0;
	failed = got < 0 ? 0 : failed;
	return got;
}

ssize_t recv(int fd, void *data, size_t length, int flags)
{
	ssize_t got;
	int mode;

	if (flags || fd != answering || !left) {
		got = NEXT("recv", ssize_t (*)(int, void *, size_t, int))(fd, data, length, flags);
		if (!flags) {
			answering = fd;
			left = got > 0 ? announced(data, got) : 0;
			kept = failed = 0;
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
