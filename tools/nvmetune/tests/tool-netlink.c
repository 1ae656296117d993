// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tool with a kernel of its own behind netlink, for rows of tests/cases-* whose tree
 * is "netlink". While somebody waits for events, a few happen.
 */
#include <poll.h>

#include "fake-kernel.h"

int poll(struct pollfd *fds, nfds_t nr, int timeout)
{
	static int step;

	switch (step++) {
	case 0:
		fake_changed("nvme0", -1, 1);
		return 1;
	case 1:
		fake_came("nvme0/q2", NVMETUNE_CMD_OBJECT_ADD_NTF);
		fake_came("nvme0/q2", NVMETUNE_CMD_OBJECT_DEL_NTF);
		return 1;
	case 2:
		fake.lost = ENOBUFS;
		return 1;
	default:
		return 0;
	}
}

int main(int argc, char **argv)
{
	return nt_main(argc, argv);
}
