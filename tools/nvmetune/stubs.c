// SPDX-License-Identifier: GPL-2.0-only
/* Verbs that are not written yet; weak, so that their own files replace them. */
#include "nvmetune.h"

#define NT_STUB(verb)								\
	__attribute__((weak)) int nt_run_##verb(int argc, char **args,		\
						const char **values)		\
	{									\
		return nt_fail(NT_USAGE, #verb " is not there yet");		\
	}
#define NT_STUB_OPTS(verb)							\
	__attribute__((weak)) const struct nt_opt nt_opts_##verb[] = { { NULL } }

NT_STUB(list)
NT_STUB(show)
NT_STUB(set)
NT_STUB(reset)
NT_STUB(caps)
NT_STUB(stat)
NT_STUB(top)
NT_STUB(monitor)
NT_STUB(doctor)
NT_STUB(autotune)
NT_STUB(save)
NT_STUB(diff)
NT_STUB(apply)
NT_STUB(restore)
NT_STUB(profiles)
NT_STUB(wq)
NT_STUB(completion)

NT_STUB_OPTS(show);
NT_STUB_OPTS(set);
NT_STUB_OPTS(reset);
NT_STUB_OPTS(stat);
NT_STUB_OPTS(top);
NT_STUB_OPTS(monitor);
NT_STUB_OPTS(doctor);
NT_STUB_OPTS(autotune);
NT_STUB_OPTS(save);
NT_STUB_OPTS(diff);
NT_STUB_OPTS(apply);
NT_STUB_OPTS(wq);
