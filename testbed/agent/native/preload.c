/*
 * preload: what a lab kernel gets from outside, made repeatable and cheap.  Loaded into the User-Mode Linux process
 * with LD_PRELOAD; touches nothing inside the guest.
 *
 * getrandom(): the only entropy User-Mode Linux takes from its host.  Answered from a generator seeded with
 * TESTBED_SEED, so that every random number of the guest kernel (netem, BBR, HTCP, port numbers, ...) repeats.
 *
 * open(O_TMPFILE): the guest's memory.  A memfd instead of a file in /dev/shm, whose size bounds it.
 *
 * socket(), bind() and openpty(): a confined process has no sockets and no terminals of the host (see confine.c).  The
 * management console, a socket that nobody uses, is one end of a pair; the terminal that the kernel tries when it boots
 * was opened before.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <pty.h>
#include <unistd.h>

#include "confine.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U   /* since Linux 6.3 */
#endif

static uint64_t state;

/* SplitMix64, Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014. */
static uint64_t next(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

__attribute__((constructor)) static void load(void)
{
	const char *seed = getenv("TESTBED_SEED");

	state = seed ? strtoull(seed, NULL, 10) : 0;
}

ssize_t getrandom(void *buffer, size_t length, unsigned flags)
{
	unsigned char *bytes = buffer;

	(void)flags;
	for (size_t i = 0; i < length; i += 8) {
		uint64_t word = next();

		memcpy(bytes + i, &word, length - i < 8 ? length - i : 8);
	}
	return length;
}

static int memory_file(void)
{
	int fd = memfd_create("lab-kernel", MFD_CLOEXEC | MFD_EXEC);

	return fd >= 0 ? fd : memfd_create("lab-kernel", MFD_CLOEXEC);
}

static int open_next(const char *name, const char *path, int flags, mode_t mode)
{
	int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, name);

	if ((flags & O_TMPFILE) == O_TMPFILE) {
		int fd = memory_file();

		if (fd >= 0)
			return fd;
	}
	return real(path, flags, mode);
}

#define MODE_OF(flags) ({ va_list a; va_start(a, flags); mode_t m = va_arg(a, mode_t); va_end(a); m; })

int open(const char *path, int flags, ...)
{
	return open_next("open", path, flags, flags & (O_CREAT | __O_TMPFILE) ? MODE_OF(flags) : 0);
}

int open64(const char *path, int flags, ...)
{
	return open_next("open64", path, flags, flags & (O_CREAT | __O_TMPFILE) ? MODE_OF(flags) : 0);
}

static int console = -1;

/* The other end stays open, with a number that moves no others. */
int socket(int family, int type, int protocol)
{
	int ends[2];

	if (family != AF_UNIX || type != SOCK_DGRAM)
		return syscall(SYS_socket, family, type, protocol);
	if (socketpair(AF_UNIX, SOCK_STREAM, protocol, ends) < 0)
		return -1;
	fcntl(ends[1], F_DUPFD_CLOEXEC, TERMINAL_SLAVE + 1);
	close(ends[1]);
	return console = ends[0];
}

int bind(int fd, const struct sockaddr *address, socklen_t length)
{
	return fd == console ? 0 : syscall(SYS_bind, fd, address, length);
}

int openpty(int *master, int *slave, char *name, const struct termios *settings, const struct winsize *size)
{
	(void)name, (void)settings, (void)size;
	*master = dup(TERMINAL_MASTER);
	*slave = dup(TERMINAL_SLAVE);
	close(TERMINAL_MASTER);
	close(TERMINAL_SLAVE);
	return *master < 0 || *slave < 0 ? -1 : 0;
}
