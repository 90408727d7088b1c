/* What the programs with TCP flows have in common: sockets, threads, and sending and receiving inside the kernel. */

#include <linux/tcp.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/sendfile.h>

enum {
	SOURCE_BYTES = 4 << 20,    /* the file that is sent over and over */
	READ_BYTES = 4 << 20,
	STACK_BYTES = 64 << 10,
};

static int source;

static inline void make_source(void)
{
	source = memfd_create("source", MFD_CLOEXEC);
	if (source < 0 || ftruncate(source, SOURCE_BYTES) < 0)
		die("cannot make the file to send");
}

static inline int tcp_socket(int family, const char *congestion)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	if (fd < 0)
		die("cannot open a socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, congestion, strlen(congestion)) < 0)
		die("the kernel refuses the congestion control %s", congestion);
	return fd;
}

/* Start a thread, to be joined if somebody wants to know it, and on its own if not. */
static inline void spawn(void *(*body)(void *), void *argument, pthread_t *known)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	if (!known)
		pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	errno = pthread_create(known ? known : &thread, &attributes, body, argument);
	if (errno)
		die("cannot start a thread");
	pthread_attr_destroy(&attributes);
}

/* Send `bytes` (below 0: for ever, until the socket is shut down) from the source file; false if the flow ended first. */
static inline bool send_bytes(int fd, long long bytes)
{
	off_t at = 0;
	ssize_t n;

	while (bytes != 0) {
		size_t want = SOURCE_BYTES - at;

		if (bytes > 0 && (long long)want > bytes)
			want = bytes;
		n = sendfile(fd, source, &at, want);
		if (n <= 0)
			return false;
		if (bytes > 0)
			bytes -= n;
		if (at == SOURCE_BYTES)
			at = 0;
	}
	return true;
}

/* Receive `bytes` (below 0: all that come), which TCP throws away (MSG_TRUNC); false if the flow ended first. */
static inline bool receive_bytes(int fd, long long bytes)
{
	char nowhere[1];

	while (bytes != 0) {
		size_t want = bytes < 0 || bytes > READ_BYTES ? READ_BYTES : bytes;
		ssize_t n = recv(fd, nowhere, want, MSG_WAITALL | MSG_TRUNC);

		if (n <= 0)
			return false;
		if (bytes > 0)
			bytes -= n;
	}
	return true;
}

/* The most that a socket may send: TCP paces it, in payload. */
static inline void set_rate(int fd, unsigned long long rate_bytes)
{
	if (setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &rate_bytes, sizeof rate_bytes) < 0)
		die("the kernel refuses a rate of %llu bytes in a second", rate_bytes);
}

/* That rate as the kernel has it; 0 for none. */
static inline unsigned long long rate_of(int fd)
{
	unsigned long long rate_bytes = 0;
	socklen_t length = sizeof rate_bytes;

	if (getsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &rate_bytes, &length) < 0)
		die("cannot read back a rate");
	return rate_bytes == ~0ULL ? 0 : rate_bytes;
}
