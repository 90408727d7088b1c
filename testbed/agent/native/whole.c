/*
 * whole: lets curl sleep until all that it reads next is there (LD_PRELOAD).
 *
 *   LD_PRELOAD=whole.so curl URL...
 *
 * curl wakes up for each packet, and looks at its socket, its signals and the clock some ten times before it sleeps
 * again; in the lab kernel each look is a switch of processes.  Once an answer has told its length, a read waits in the
 * kernel for as much as fits, or for the rest.  The kernel takes packets, opens the window and acknowledges as before,
 * and the last byte wakes curl when it comes.  An answer that tells no length is read as curl reads it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/types.h>

/* What is still to come of the answer on this socket; 0 before an answer, and if its length is not known. */
static int answering = -1;
static unsigned long long left;

/* What an answer announces beyond the bytes that came with its header; 0 if this is no header, or it does not say. */
static unsigned long long announced(const char *data, size_t got)
{
	static const char first[] = "HTTP/", field[] = "Content-Length:";
	const char *end = memmem(data, got, "\r\n\r\n", 4);
	const char *line = data;

	while (end && line < end && !memcmp(data, first, sizeof first - 1)) {
		const char *next = memmem(line, end + 2 - line, "\r\n", 2) + 2;

		if (!strncasecmp(line, field, sizeof field - 1)) {
			unsigned long long length = strtoull(line + sizeof field - 1, NULL, 10);
			unsigned long long came = data + got - (end + 4);

			return length > came ? length - came : 0;
		}
		line = next;
	}
	return 0;
}

ssize_t recv(int fd, void *data, size_t length, int flags)
{
	static ssize_t (*real)(int, void *, size_t, int);
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
	mode = fcntl(fd, F_GETFL);
	fcntl(fd, F_SETFL, mode & ~O_NONBLOCK);
	got = real(fd, data, length < left ? length : left, MSG_WAITALL);
	fcntl(fd, F_SETFL, mode);
	left = got > 0 ? left - got : 0;
	return got;
}
