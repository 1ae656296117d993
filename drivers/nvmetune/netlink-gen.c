// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/nvmetune.yaml */
/* YNL-GEN kernel source */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "netlink-gen.h"

#include <uapi/linux/nvmetune.h>

/* Common nested types */
const struct nla_policy nvmetune_setting_nl_policy[NVMETUNE_A_SETTING_TEXT + 1] = {
	[NVMETUNE_A_SETTING_OBJECT] = { .type = NLA_NUL_STRING, .len = 63, },
	[NVMETUNE_A_SETTING_NAME] = { .type = NLA_NUL_STRING, .len = 31, },
	[NVMETUNE_A_SETTING_VALUE] = { .type = NLA_U64, },
	[NVMETUNE_A_SETTING_TEXT] = { .type = NLA_NUL_STRING, .len = 63, },
};

/* NVMETUNE_CMD_OBJECT_GET - do */
const struct nla_policy nvmetune_object_get_nl_policy[NVMETUNE_A_OBJECT_NAME + 1] = {
	[NVMETUNE_A_OBJECT_NAME] = { .type = NLA_NUL_STRING, .len = 63, },
};

/* NVMETUNE_CMD_PARAM_GET - do */
const struct nla_policy nvmetune_param_get_do_nl_policy[NVMETUNE_A_PARAM_NAME + 1] = {
	[NVMETUNE_A_PARAM_OBJECT] = { .type = NLA_NUL_STRING, .len = 63, },
	[NVMETUNE_A_PARAM_NAME] = { .type = NLA_NUL_STRING, .len = 31, },
};

/* NVMETUNE_CMD_PARAM_SET - do */
const struct nla_policy nvmetune_param_set_nl_policy[NVMETUNE_A_SET_SETTING + 1] = {
	[NVMETUNE_A_SET_SETTING] = NLA_POLICY_NESTED(nvmetune_setting_nl_policy),
};

/* NVMETUNE_CMD_STATS_GET - do */
const struct nla_policy nvmetune_stats_get_nl_policy[NVMETUNE_A_STATS_OBJECT + 1] = {
	[NVMETUNE_A_STATS_OBJECT] = { .type = NLA_NUL_STRING, .len = 63, },
};

/* NVMETUNE_CMD_STATS_RESET - do */
const struct nla_policy nvmetune_stats_reset_nl_policy[NVMETUNE_A_STATS_OBJECT + 1] = {
	[NVMETUNE_A_STATS_OBJECT] = { .type = NLA_NUL_STRING, .len = 63, },
};
