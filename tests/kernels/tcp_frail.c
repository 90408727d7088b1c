// SPDX-License-Identifier: GPL-2.0-only
/* A congestion control for tests: Reno with a fault. After each reduction it goes down to two segments, and it does not
 * take the reduction back where nothing was lost. It fills a clean path slowly, and starves where packets overtake.
 */
#include <linux/module.h>
#include <net/tcp.h>

static u32 frail_ssthresh(struct sock *sk)
{
	return 2U;
}

static u32 frail_undo_cwnd(struct sock *sk)
{
	return tcp_snd_cwnd(tcp_sk(sk));
}

static struct tcp_congestion_ops frail __read_mostly = {
	.ssthresh	= frail_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= frail_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "frail",
};

static int __init frail_register(void)
{
	return tcp_register_congestion_control(&frail);
}

static void __exit frail_unregister(void)
{
	tcp_unregister_congestion_control(&frail);
}

module_init(frail_register);
module_exit(frail_unregister);

MODULE_AUTHOR("The testbed authors");
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Reno with a fault");
