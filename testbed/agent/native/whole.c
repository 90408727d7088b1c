/*
 * whole: lets curl sleep until much of an answer is there (LD_PRELOAD).
 *
 *   LD_PRELOAD=whole.so curl URL...
 *
 * curl wakes up for each packet, and looks at its socket, its signals and the clock some ten times before it sleeps
 * again; in the lab kernel each look is a switch of processes.  Once an answer has told its length, curl gets it in
 * large parts, and the last byte when it comes.  The kernel takes packets, opens the window and acknowledges as before:
 * each read takes all that has come, as curl's do.  One that ended within a superpacket would let the window grow more
 * slowly (tcp_rcv_space_adjust takes what is left off what was read), and only the end of an answer is surely none, so
 * only for the end a read waits in the kernel.  An answer that tells no length is read as curl reads it.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/types.h>

/* What the kernel hands over at once, at most. */
enum { SUPERPACKET = 64 << 10 };

typedef ssize_t receive(int, void *, size_t, int);

/* What is still to come of the answer on this socket; 0 before an answer, and if its length is not known. */
static int answering = -1;
static unsigned long long left;

/* An error that came after bytes that curl got first. */
static int failed;

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

/* Waits for the rest of the answer, or for as much of it as leaves no room for another superpacket. */
static ssize_t fill(receive *real, int fd, char *data, size_t length)
{
	size_t got = 0;
	ssize_t more;

	if (left <= length)
		return real(fd, data, left, MSG_WAITALL);
	do {
		more = real(fd, data + got, length - got, 0);
		got += more > 0 ? more : 0;
	} while (more > 0 && length - got >= SUPERPACKET);
	failed = more < 0 && got ? errno : 0;
	return got ? (ssize_t)got : more;
}

ssize_t recv(int fd, void *data, size_t length, int flags)
{
	static receive *real;
	ssize_t got;
	int mode;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "recv");
	if (flags)
		return real(fd, data, length, flags);
	if (fd != answering || !left) {
		got = real(fd, data, length, flags);
		answering = fd;
		left = got > 0 ? announced(data, got) : 0;
		return got;
	}
	if (failed) {
		errno = failed;
		failed = left = 0;
		return -1;
	}
	mode = fcntl(fd, F_GETFL);
	fcntl(fd, F_SETFL, mode & ~O_NONBLOCK);
	got = fill(real, fd, data, length);
	fcntl(fd, F_SETFL, mode);
	left = got > 0 ? left - got : 0;
	return got;
}
