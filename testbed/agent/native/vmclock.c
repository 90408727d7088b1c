/*
 * vmclock: has a QEMU that counts its machine's instructions keep lab time.  Loaded into it with LD_PRELOAD, in a lab
 * kernel in virtual time, where computing takes no time, so that a machine's processor would be infinitely fast.
 *
 * With `-icount align=on` QEMU sleeps when its machine's clock, which its instructions drive, is ahead of its own; but
 * only once it is 3 ms ahead, and meanwhile all that the machine sends leaves too early.  Here, the machine
 *   - waits once it is AHEAD_NS ahead: QEMU compares with a constant in cpu_exec(), which we replace;
 *   - waits for as long as it is ahead in truth, before anything leaves its processor for a device;
 *   - lets the device look at what it was told of before it goes on.  What it added to a queue later would leave early.
 * Until its first packet, or the first answer of its agent, nobody waits for it, and it may be BOOT_AHEAD_NS ahead.
 *
 * clock_gettime(): QEMU asks at every turn, which in User-Mode Linux is a system call of 8 us of computing, and moves lab
 * time by 256 ns.  Between two moments at which a thread sleeps lab time stands still, so what the clock said last is
 * true until some thread has slept.  It is asked again now and then, so that a loop that waits for a time ends.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define AHEAD_NS 10000
#define BOOT_AHEAD_NS 1000000
#define QEMUS_AHEAD_NS 3000000
#define CODE_BYTES 8192		/* of cpu_exec(), at most */
#define SNAPSHOTS "/run/vm/snapshots/"
#define CLOCKS 16
#define ASK_AGAIN 4096		/* times that the clock is told from memory */
#define SECOND 1000000000LL

int __open64_2(const char *, int);

#define NEXT(function) \
	static __typeof__(&function) next; \
	if (!next) \
		next = (__typeof__(&function))dlsym(RTLD_NEXT, #function)

enum { VIRTUAL = 1, VIRTUAL_RT = 3 };	/* QEMUClockType: of the machine, of the computer while the machine runs */

static int64_t (*clock_ns)(int);
static bool (*in_vcpu_thread)(void);
static atomic_uint sleeps = 1;
static atomic_bool has_spoken;	/* to the network, or to the testbed */

static void __attribute__((noreturn)) fail(const char *what)
{
	fprintf(stderr, "vmclock: this QEMU cannot keep lab time: %s\n", what);
	_exit(1);
}

/* The operand of the only comparison of a 64-bit register with 3 ms in cpu_exec(). */
static unsigned char *threshold(unsigned char *code)
{
	static const int32_t wanted = QEMUS_AHEAD_NS;
	unsigned char *found = NULL;

	for (unsigned char *at = code + 3; at < code + CODE_BYTES; at++) {
		bool is_rax = at[-2] == 0x48 && at[-1] == 0x3d;
		bool is_other = (at[-3] & 0xfe) == 0x48 && at[-2] == 0x81 && (at[-1] & 0xf8) == 0xf8;

		if (memcmp(at, &wanted, sizeof wanted) || !(is_rax || is_other))
			continue;
		if (found)
			fail("cpu_exec() compares with 3 ms twice");
		found = at;
	}
	return found;
}

__attribute__((constructor)) static void load(void)
{
	unsigned char *code = dlsym(RTLD_DEFAULT, "cpu_exec");
	const char *said = getenv("VMCLOCK_AHEAD_NS");
	int32_t ahead_ns = said ? atoi(said) : AHEAD_NS;
	struct sched_param first = {.sched_priority = 1};
	uintptr_t page;
	size_t length;

	unsetenv("LD_PRELOAD");	/* what QEMU starts is no QEMU */
	clock_ns = (int64_t (*)(int))dlsym(RTLD_DEFAULT, "qemu_clock_get_ns");
	in_vcpu_thread = (bool (*)(void))dlsym(RTLD_DEFAULT, "qemu_in_vcpu_thread");
	if (!code || !clock_ns || !in_vcpu_thread)
		fail("it hides its functions");
	unsigned char *operand = threshold(code);
	if (!operand)
		fail("cpu_exec() compares nothing with 3 ms");
	page = (uintptr_t)operand & -4096UL;
	length = (uintptr_t)operand + sizeof ahead_ns - page;
	if (mprotect((void *)page, length, PROT_READ | PROT_WRITE | PROT_EXEC))
		fail("mprotect");
	memcpy(operand, &ahead_ns, sizeof ahead_ns);
	mprotect((void *)page, length, PROT_READ | PROT_EXEC);
	/* Timers of such a thread have no slack, which would be 50 us. */
	if (sched_setscheduler(0, SCHED_FIFO, &first))
		fail("sched_setscheduler");
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	static __thread struct { unsigned sleeps, told; struct timespec now; } last[CLOCKS];
	unsigned seen = atomic_load(&sleeps);
	NEXT(clock_gettime);

	if (clock < 0 || clock >= CLOCKS)
		return next(clock, now);
	if (last[clock].sleeps != seen || ++last[clock].told > ASK_AGAIN) {
		if (next(clock, &last[clock].now))
			return -1;
		last[clock].sleeps = seen;
		last[clock].told = 0;
	}
	*now = last[clock].now;
	return 0;
}

/* By how much the machine of this thread is ahead of lab time, in ns; 0 in threads that are no processor. */
static int64_t ahead_ns(void)
{
	return in_vcpu_thread && in_vcpu_thread() ? clock_ns(VIRTUAL) - clock_ns(VIRTUAL_RT) : 0;
}

static int real_nanosleep(const struct timespec *length, struct timespec *left)
{
	NEXT(nanosleep);
	int result = next(length, left);

	sleeps++;
	return result;
}

/* Waits until lab time is that of the machine. */
static void wait_for_lab(void)
{
	int64_t ns = ahead_ns();

	if (ns > 0) {
		struct timespec length = {ns / SECOND, ns % SECOND};

		real_nanosleep(&length, NULL);
	}
}

int nanosleep(const struct timespec *length, struct timespec *left)
{
	if (!in_vcpu_thread || !in_vcpu_thread())
		return real_nanosleep(length, left);
	if (has_spoken || ahead_ns() > BOOT_AHEAD_NS)
		wait_for_lab();
	return 0;
}

static __thread bool has_told;	/* another thread that there is something in a queue */

ssize_t write(int fd, const void *bytes, size_t size)
{
	NEXT(write);
	if (size == sizeof(uint64_t)) {	/* an event for another thread */
		wait_for_lab();
		has_told = in_vcpu_thread && in_vcpu_thread();
	}
	return next(fd, bytes, size);
}

/* The first one after that is QEMU's lock, for which the other thread would wait. */
int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	NEXT(pthread_mutex_unlock);
	int result = next(mutex);

	if (has_told) {
		has_told = false;
		sched_yield();
	}
	return result;
}

ssize_t writev(int fd, const struct iovec *parts, int count)	/* a packet */
{
	NEXT(writev);
	has_spoken = true;
	wait_for_lab();
	return next(fd, parts, count);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)	/* the agent's answer */
{
	NEXT(sendmsg);
	has_spoken = true;
	return next(fd, message, flags);
}

/* The memory of a machine that starts from a snapshot is a file, mapped privately; QEMU would open it to write. */
int __open64_2(const char *path, int flags)
{
	NEXT(__open64_2);
	if ((flags & O_ACCMODE) == O_RDWR && !strncmp(path, SNAPSHOTS, strlen(SNAPSHOTS)))
		flags &= ~O_ACCMODE;
	return next(path, flags);
}

/* All else in which a thread of QEMU may sleep. */
#define SLEEPING(type, function, parameters, arguments) \
	type function parameters \
	{ \
		NEXT(function); \
		type result = next arguments; \
		sleeps++; \
		return result; \
	}

SLEEPING(int, poll, (struct pollfd *files, nfds_t count, int ms), (files, count, ms))
SLEEPING(int, ppoll, (struct pollfd *files, nfds_t count, const struct timespec *length, const sigset_t *mask),
	 (files, count, length, mask))
SLEEPING(int, clock_nanosleep, (clockid_t clock, int flags, const struct timespec *length, struct timespec *left),
	 (clock, flags, length, left))
SLEEPING(int, pthread_cond_wait, (pthread_cond_t *condition, pthread_mutex_t *mutex), (condition, mutex))
SLEEPING(int, pthread_cond_timedwait,
	 (pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until), (condition, mutex, until))

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	NEXT(pthread_mutex_lock);
	if (!pthread_mutex_trylock(mutex))
		return 0;
	int result = next(mutex);

	sleeps++;
	return result;
}

long syscall(long number, ...)
{
	NEXT(syscall);
	long words[6];
	va_list given;

	va_start(given, number);
	for (int i = 0; i < 6; i++)
		words[i] = va_arg(given, long);
	va_end(given);
	long result = next(number, words[0], words[1], words[2], words[3], words[4], words[5]);

	if (number == SYS_futex)
		sleeps++;
	return result;
}
