// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzer: the netlink decoder. The first byte chooses what the rest is; several messages
 * may follow each other, each with a byte for its length in words.
 */
#include <stdlib.h>
#include <string.h>
#include <linux/netlink.h>

#include "nvmetune.h"

static void nt_fuzz_event(unsigned int cmd, struct nlattr *attrs, int len, struct nt_tree *tree)
{
	struct nt_event ev = { };
	struct nt_object *obj;

	if (!nt_decode_event(cmd, attrs, len, &ev) && ev.kind == NT_EVENT_PARAM) {
		obj = nt_tree_find(tree, ev.object);
		if (obj && obj->nr_params)
			nt_event_describe(&ev, &obj->params[0]);
	}
	nt_event_clear(&ev);
}

static void nt_fuzz_ack(char *data, size_t len)
{
	struct nlmsghdr *h = (void *)data;
	struct nt_ack ack;
	int inner;

	if (len < NLMSG_HDRLEN)
		return;
	/* Who reads sockets has made sure of that. */
	h->nlmsg_len = len;
	nt_decode_ack(h, &ack);
	if (!memchr(ack.text, 0, sizeof(ack.text)))
		abort();
	if (len >= NLMSG_HDRLEN + 4)
		nt_ack_find(h, ack.offset, &inner);
}

static void nt_fuzz_one(unsigned int what, char *data, size_t len, struct nt_tree *tree)
{
	struct nlattr *attrs = (void *)data;

	switch (what % 7) {
	case 0:
		nt_decode_object(attrs, len, tree);
		break;
	case 1:
		nt_decode_param(attrs, len, tree);
		break;
	case 2:
		nt_decode_stats(attrs, len, tree);
		break;
	case 3:
		nt_fuzz_event(NVMETUNE_CMD_PARAM_NTF, attrs, len, tree);
		break;
	case 4:
		nt_fuzz_event(NVMETUNE_CMD_OBJECT_ADD_NTF, attrs, len, tree);
		break;
	case 5:
		nt_fuzz_event(what, attrs, len, tree);
		break;
	case 6:
		nt_fuzz_ack(data, len);
		break;
	}
}

/* What was decoded has to be printable. */
static void nt_fuzz_print(const struct nt_tree *tree)
{
	char buf[64], range[64];
	size_t i, p;

	for (i = 0; i < tree->nr; i++) {
		const struct nt_object *obj = tree->objects[i];

		json_object_put(nt_json_object(obj, NT_LOAD_PARAMS | NT_LOAD_STATS));
		for (p = 0; p < obj->nr_params; p++) {
			nt_param_show(&obj->params[p], obj->params[p].text, buf, sizeof(buf));
			nt_param_range(&obj->params[p], range, sizeof(range));
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nt_tree tree = { };
	size_t len;
	char *copy;

	while (size >= 2) {
		len = 4 * (size_t)data[1];
		if (len > size - 2)
			len = size - 2;
		/* Its own block: reading behind it is seen. */
		copy = malloc(len ? len : 1);
		memcpy(copy, data + 2, len);
		nt_fuzz_one(data[0], copy, len, &tree);
		free(copy);
		data += 2 + len;
		size -= 2 + len;
		/* libnl's recursion and ours stay shallow: many messages tell no more. */
		if (tree.nr > 64)
			break;
	}
	nt_tree_sort(&tree);
	nt_fuzz_print(&tree);
	nt_tree_free(&tree);
	return 0;
}
