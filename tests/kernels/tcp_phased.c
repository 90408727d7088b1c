// SPDX-License-Identifier: GPL-2.0-only
/* A congestion control for tests: Reno that tells two numbers of its own to `samples: acks`. It compiles in any kernel. */
#include <linux/module.h>
#include <net/tcp.h>

#if __has_include(<net/tcp_testbed.h>)
#include <net/tcp_testbed.h>
#else
static inline void tcp_testbed(struct sock *sk, const char *name, s64 value) { }
#endif

static void phased_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	tcp_testbed(sk, "phase", tcp_in_slow_start(tp) ? 1 : 2);
	tcp_testbed(sk, "gap", (s64)tcp_snd_cwnd(tp) - tp->snd_ssthresh);
	tcp_reno_cong_avoid(sk, ack, acked);
}

static struct tcp_congestion_ops phased __read_mostly = {
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= phased_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "phased",
};

static int __init phased_register(void)
{
	return tcp_register_congestion_control(&phased);
}

static void __exit phased_unregister(void)
{
	tcp_unregister_congestion_control(&phased);
}

module_init(phased_register);
module_exit(phased_unregister);

MODULE_AUTHOR("The testbed authors");
MODULE_LICENSE("GPL");
