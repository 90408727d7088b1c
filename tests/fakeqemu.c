/* A program with what `vmclock.so` needs of QEMU: it sleeps in every way that QEMU knows, and says what its clock saw.
   The machine's clock is `ahead_ns` ahead of the computer's. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <linux/futex.h>

#define MS 1000000LL

static int64_t ahead_ns;
static __thread bool is_vcpu;

/* The kernel's clock, which nobody can keep. */
static int64_t truth(void)
{
	struct timespec now;

	asm volatile("syscall" : : "a"(SYS_clock_gettime), "D"(CLOCK_MONOTONIC), "S"(&now) : "rcx", "r11", "memory");
	return now.tv_sec * 1000 * MS + now.tv_nsec;
}

static int64_t told(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 * MS + now.tv_nsec;
}

int64_t qemu_clock_get_ns(int clock)
{
	return truth() + (clock == 1 ? ahead_ns : 0);
}

bool qemu_in_vcpu_thread(void)
{
	return is_vcpu;
}

/* Whether QEMU would sleep, so far ahead. */
__attribute__((noinline)) int cpu_exec(int64_t ahead)
{
	int sleeps = 0;

	asm("cmp $3000000, %1\n\tjle 1f\n\tmov $1, %0\n1:" : "+r"(sleeps) : "a"(ahead) : "cc");
	return sleeps;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int word;

static void by_poll(void) { poll(NULL, 0, 5); }
static void by_ppoll(void) { ppoll(NULL, 0, &(struct timespec){0, 5 * MS}, NULL); }
static void by_nanosleep(void) { nanosleep(&(struct timespec){0, 5 * MS}, NULL); }
static void by_clock_nanosleep(void) { clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){0, 5 * MS}, NULL); }
static void by_futex(void) { syscall(SYS_futex, &word, FUTEX_WAIT, 0, &(struct timespec){0, 5 * MS}, NULL, 0); }

static void by_timedwait(void)
{
	int64_t until;
	struct timespec now;

	syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
	until = now.tv_sec * 1000 * MS + now.tv_nsec + 5 * MS;
	pthread_mutex_lock(&mutex);
	pthread_cond_timedwait(&condition, &mutex, &(struct timespec){until / (1000 * MS), until % (1000 * MS)});
	pthread_mutex_unlock(&mutex);
}

/* Another thread holds the mutex, or signals, 5 ms later; it sleeps so that our library does not see it. */
static void raw_sleep(void)
{
	struct timespec length = {0, 5 * MS};

	asm volatile("syscall" : : "a"(SYS_nanosleep), "D"(&length), "S"(0) : "rcx", "r11", "memory");
}

static void raw_yield(void)
{
	long done;

	asm volatile("syscall" : "=a"(done) : "a"(SYS_sched_yield) : "rcx", "r11", "memory");
}

static void *signals(void *unused)
{
	raw_sleep();
	pthread_mutex_lock(&mutex);
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
	return unused;
}

static void by_wait(void)
{
	pthread_t other;

	pthread_mutex_lock(&mutex);
	pthread_create(&other, NULL, signals, NULL);
	pthread_cond_wait(&condition, &mutex);
	pthread_mutex_unlock(&mutex);
	pthread_join(other, NULL);
}

static volatile bool is_held, is_wanted;

static void *holds(void *unused)
{
	pthread_mutex_lock(&mutex);
	is_held = true;
	while (!is_wanted)	/* its 5 ms begin when somebody waits, not before */
		raw_yield();
	raw_sleep();
	pthread_mutex_unlock(&mutex);
	return unused;
}

static pthread_t holder;

static void before_mutex(void)
{
	pthread_create(&holder, NULL, holds, NULL);
	while (!is_held)
		syscall(SYS_sched_yield);
}

static void by_mutex(void)
{
	is_wanted = true;
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	pthread_join(holder, NULL);
}

static void by_event(void)
{
	uint64_t one = 1;
	int ends[2];

	is_vcpu = true, ahead_ns = 5 * MS;
	if (!pipe(ends) && write(ends[1], &one, sizeof one) != sizeof one)
		puts("write failed");
	is_vcpu = false;
}

static void by_packet(void)
{
	struct iovec part = {"x", 1};
	int ends[2];

	is_vcpu = true, ahead_ns = 5 * MS;
	if (!pipe(ends) && writev(ends[1], &part, 1) != 1)
		puts("writev failed");
	is_vcpu = false;
}

/* The machine's thread tells another one that there is something in a queue, as it does under QEMU's lock: whether that
   one had its turn before the lock is given back, and after.  On one processor, where a thread runs until it sleeps. */
static int kicked[2];
static atomic_int turns;

static void *serves(void *unused)
{
	uint64_t one;

	if (read(kicked[0], &one, sizeof one) == sizeof one)
		turns++;
	return unused;
}

static void kick(void)
{
	cpu_set_t first;
	pthread_t other;
	uint64_t one = 1;

	CPU_ZERO(&first);
	CPU_SET(sched_getcpu(), &first);
	if (sched_setaffinity(0, sizeof first, &first) || pipe(kicked) || pthread_create(&other, NULL, serves, NULL)) {
		puts("kick failed");
		return;
	}
	raw_sleep();	/* it waits in read() */
	pthread_mutex_lock(&mutex);
	is_vcpu = true, ahead_ns = 0;
	if (write(kicked[1], &one, sizeof one) != sizeof one)
		puts("write failed");
	int before = turns;
	pthread_mutex_unlock(&mutex);
	printf("kick %d %d\n", before, turns);
	is_vcpu = false;
	pthread_join(other, NULL);
}

/* As cpu_exec() does when it is ahead; before and after the first packet. */
static void by_align(void)
{
	is_vcpu = true, ahead_ns = MS / 2;
	nanosleep(&(struct timespec){0, 1}, NULL);
	is_vcpu = false;
}

static void nothing(void) {}

int main(void)
{
	static const struct { const char *name; void (*before)(void), (*sleep)(void); } ways[] = {
		{"poll", nothing, by_poll}, {"ppoll", nothing, by_ppoll}, {"nanosleep", nothing, by_nanosleep},
		{"clock_nanosleep", nothing, by_clock_nanosleep}, {"futex", nothing, by_futex},
		{"timedwait", nothing, by_timedwait}, {"wait", nothing, by_wait}, {"mutex", before_mutex, by_mutex},
		{"event", nothing, by_event}, {"boot", nothing, by_align}, {"packet", nothing, by_packet},
		{"spoken", nothing, by_align},
	};

	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		ways[i].before();
		int64_t first = told(), again = told(), began = truth();

		ways[i].sleep();
		int64_t slept = truth() - began, seen = told() - first;

		printf("%s %lld %lld %d\n", ways[i].name, (long long)slept, (long long)seen, first == again);
	}
	kick();
	printf("ahead %d %d\n", cpu_exec(9000), cpu_exec(20000));
	return 0;
}
