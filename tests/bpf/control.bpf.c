/* Congestion controls in BPF, for tests/test_bpf.py: clang -target bpf -g -O2 -c -D WHICH.
 *
 * RENO: Reno, by the kernel's own functions. TEN: a window that never grows, and stays at the 10 segments with which
 * Linux starts (TCP_INIT_CWND), so a flow has 10 segments in each round trip; it asks for a value of the kernel's
 * configuration, too. WILD: writes to the socket, which the verifier refuses.
 */
#define SEC(name) __attribute__((section(name), used))
#define KSYM __attribute__((section(".ksyms")))
#define KCONFIG __attribute__((section(".kconfig")))

typedef unsigned int u32;
typedef unsigned long long u64;

struct sock {
	int unused;
};

extern u32 tcp_reno_ssthresh(struct sock *sk) KSYM;
extern void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked) KSYM;
extern u32 tcp_reno_undo_cwnd(struct sock *sk) KSYM;

extern u64 CONFIG_HZ KCONFIG;
u64 ticks_a_second;

struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	u32 (*undo_cwnd)(struct sock *sk);
	char name[16];
};

SEC("struct_ops/ssthresh") u32 ssthresh(u64 *ctx)
{
	return tcp_reno_ssthresh((struct sock *)ctx[0]);
}

SEC("struct_ops/cong_avoid") void cong_avoid(u64 *ctx)
{
#if defined(RENO)
	tcp_reno_cong_avoid((struct sock *)ctx[0], ctx[1], ctx[2]);
#elif defined(TEN)
	ticks_a_second = CONFIG_HZ;
#elif defined(WILD)
	*(u32 *)ctx[0] = 1;
#endif
}

SEC("struct_ops/undo_cwnd") u32 undo_cwnd(u64 *ctx)
{
	return tcp_reno_undo_cwnd((struct sock *)ctx[0]);
}

SEC(".struct_ops") struct tcp_congestion_ops control = {
	.ssthresh = (void *)ssthresh,
	.cong_avoid = (void *)cong_avoid,
	.undo_cwnd = (void *)undo_cwnd,
#if defined(RENO)
	.name = "bpf_reno",
#elif defined(TEN)
	.name = "bpf_ten",
#else
	.name = "bpf_wild",
#endif
};

SEC("license") char permission[] = "GPL";
