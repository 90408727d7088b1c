/*
 * A plugin for QEMU (-plugin) that counts the instructions which a machine's processor carries out, by QEMU's own means
 * and not by its clock: each instruction adds 1 as it is executed.  It also counts turns: from the first instruction
 * after a halt to the next halt.  To stderr, every `every` ns of lab time, the sums so far:
 *
 *     sum LAB_NS INSTRUCTIONS TURNS TALKS KICKS HEAD BODY TAIL SILENT
 *
 * A kick tells a network card that there is something to send, a talk is a turn with kicks.  Of talks, HEAD is up to the
 * first kick, BODY from there to the last one, TAIL what is left; SILENT are turns without.  With `marks=1` every event has a line:
 * `resume`, `halt`, `kick`, `syscall` and `clock` (a program or the kernel reads the time), with lab time,
 * instructions so far, and the address of the instruction in hexadecimal.
 *
 * What is declared here is version 1 of QEMU's plugin interface; Debian has no header of it.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ADD_U64 0
#define NO_REGISTERS 0
#define STORES 2

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr;
typedef void on_instruction(unsigned int cpu, void *word);
typedef void on_store(unsigned int cpu, uint32_t about, uint64_t address, void *word);

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*call)(uint64_t id, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, on_instruction *, int flags, void *word);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, on_instruction *, int flags, void *word);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *, int operation, void *at, uint64_t value);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, on_store *, int flags, int which, void *word);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t number);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(uint32_t about, uint64_t address);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *);
const char *qemu_plugin_hwaddr_device_name(const struct qemu_plugin_hwaddr *);

#define EXPORTED __attribute__((visibility("default")))
EXPORTED int qemu_plugin_version = 1;

static uint64_t done, turns, talks, kicks, head, body, tail, silent;
static uint64_t began, first_kick, last_kick;	/* of this turn */
static bool is_halted, has_kicked, has_marks;
static int64_t every_ns = 1000000, told_ns;

static int64_t lab_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void mark(const char *what, uint64_t address)
{
	if (has_marks)
		fprintf(stderr, "%s %" PRId64 " %" PRIu64 " %" PRIx64 "\n", what, lab_ns(), done, address);
}

static void on_halt(unsigned int cpu, void *word)
{
	(void)cpu;
	turns++;
	if (has_kicked) {
		talks++;
		head += first_kick - began;
		body += last_kick - first_kick;
		tail += done - last_kick;
	} else {
		silent += done - began;
	}
	is_halted = true;
	mark("halt", (uintptr_t)word);
}

static void on_block(unsigned int cpu, void *word)
{
	int64_t now_ns;

	(void)cpu;
	if (!is_halted)
		return;
	is_halted = has_kicked = false;
	began = done;
	mark("resume", (uintptr_t)word);
	now_ns = lab_ns();
	if (now_ns - told_ns < every_ns)
		return;
	told_ns = now_ns;
	fprintf(stderr, "sum %" PRId64, now_ns);
	const uint64_t sums[] = {done, turns, talks, kicks, head, body, tail, silent};
	for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
		fprintf(stderr, " %" PRIu64, sums[i]);
	fputc('\n', stderr);
}

static void on_kick(unsigned int cpu, uint32_t about, uint64_t address, void *word)
{
	struct qemu_plugin_hwaddr *where = qemu_plugin_get_hwaddr(about, address);

	(void)cpu;
	if (!where || !qemu_plugin_hwaddr_is_io(where) ||
	    !strstr(qemu_plugin_hwaddr_device_name(where), "notify-virtio-net"))
		return;
	kicks++;
	last_kick = done;
	if (!has_kicked)
		first_kick = done;
	has_kicked = true;
	mark("kick", (uintptr_t)word);
}

static void on_mark(unsigned int cpu, void *word)
{
	struct { const char *what; uint64_t address; } *about = word;

	(void)cpu;
	mark(about->what, about->address);
}

static void *about(const char *what, uint64_t address)
{
	struct { const char *what; uint64_t address; } *made = malloc(sizeof *made);

	made->what = what;
	made->address = address;
	return made;
}

static void on_translation(uint64_t id, struct qemu_plugin_tb *block)
{
	(void)id;
	qemu_plugin_register_vcpu_tb_exec_cb(block, on_block, NO_REGISTERS, NULL);
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
		struct qemu_plugin_insn *each = qemu_plugin_tb_get_insn(block, i);
		const unsigned char *code = qemu_plugin_insn_data(each);
		size_t size = qemu_plugin_insn_size(each);
		uint64_t address = qemu_plugin_insn_vaddr(each);

		qemu_plugin_register_vcpu_insn_exec_inline(each, ADD_U64, &done, 1);
		qemu_plugin_register_vcpu_mem_cb(each, on_kick, NO_REGISTERS, STORES, (void *)(uintptr_t)address);
		if (size == 1 && code[0] == 0xf4)
			qemu_plugin_register_vcpu_insn_exec_cb(each, on_halt, NO_REGISTERS, (void *)(uintptr_t)address);
		if (!has_marks || size < 2 || code[0] != 0x0f)
			continue;
		if (code[1] == 0x05)
			qemu_plugin_register_vcpu_insn_exec_cb(each, on_mark, NO_REGISTERS, about("syscall", address));
		if (code[1] == 0x31 || (size == 3 && code[1] == 0x01 && code[2] == 0xf9))
			qemu_plugin_register_vcpu_insn_exec_cb(each, on_mark, NO_REGISTERS, about("clock", address));
	}
}

EXPORTED int qemu_plugin_install(uint64_t id, const void *info, int count, char **words)
{
	(void)info;
	for (int i = 0; i < count; i++) {
		if (!strncmp(words[i], "every=", 6))
			every_ns = atoll(words[i] + 6);
		has_marks |= !strcmp(words[i], "marks=1");
	}
	setvbuf(stderr, NULL, _IOFBF, 1 << 16);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	return 0;
}
