/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/nvmetune.yaml */
/* YNL-GEN kernel header */

#ifndef _LINUX_NVMETUNE_GEN_H
#define _LINUX_NVMETUNE_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <uapi/linux/nvmetune.h>

/* Policies */
extern const struct nla_policy nvmetune_setting_nl_policy[NVMETUNE_A_SETTING_TEXT + 1];
extern const struct nla_policy nvmetune_object_get_nl_policy[NVMETUNE_A_OBJECT_NAME + 1];
extern const struct nla_policy nvmetune_param_get_do_nl_policy[NVMETUNE_A_PARAM_NAME + 1];
extern const struct nla_policy nvmetune_param_set_nl_policy[NVMETUNE_A_SET_SETTING + 1];
extern const struct nla_policy nvmetune_stats_get_nl_policy[NVMETUNE_A_STATS_OBJECT + 1];
extern const struct nla_policy nvmetune_stats_reset_nl_policy[NVMETUNE_A_STATS_OBJECT + 1];

int nvmetune_nl_object_get_doit(struct sk_buff *skb, struct genl_info *info);
int nvmetune_nl_object_get_dumpit(struct sk_buff *skb,
				  struct netlink_callback *cb);
int nvmetune_nl_param_get_doit(struct sk_buff *skb, struct genl_info *info);
int nvmetune_nl_param_get_dumpit(struct sk_buff *skb,
				 struct netlink_callback *cb);
int nvmetune_nl_param_set_doit(struct sk_buff *skb, struct genl_info *info);
int nvmetune_nl_stats_get_doit(struct sk_buff *skb, struct genl_info *info);
int nvmetune_nl_stats_get_dumpit(struct sk_buff *skb,
				 struct netlink_callback *cb);
int nvmetune_nl_stats_reset_doit(struct sk_buff *skb, struct genl_info *info);

enum {
	NVMETUNE_NLGRP_CONFIG,
};

#endif /* _LINUX_NVMETUNE_GEN_H */
