// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of verbs, and what is made of it: dispatch, options, --help. Completion
 * (completion.c) and the check of the man page read it, too.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nvmetune.h"

#define NT_MAX_OPTS	24

const struct nt_cmd nt_cmds[] = {
	{
		.name = "list", .args = "[OBJECT]...",
		.help = "objects as a tree: device, queues, interrupts, CPUs, mode",
		.complete = { NT_COMPLETE_OBJECT },
		.run = nt_run_list,
	}, {
		.name = "show", .args = "[OBJECT] [NAME]...",
		.help = "parameters: values, where they come from, what they may be",
		.complete = { NT_COMPLETE_OBJECT, NT_COMPLETE_NAME },
		.opts = nt_opts_show, .run = nt_run_show,
	}, {
		.name = "set", .args = "OBJECT NAME=VALUE... [OBJECT NAME=VALUE...]...",
		.help = "change parameters, all or none",
		.changes = true,
		.complete = { NT_COMPLETE_OBJECT, NT_COMPLETE_SETTING },
		.opts = nt_opts_set, .run = nt_run_set,
	}, {
		.name = "reset", .args = "OBJECT [NAME]...",
		.help = "let parameters inherit again, or have their defaults",
		.changes = true,
		.complete = { NT_COMPLETE_OBJECT, NT_COMPLETE_NAME },
		.opts = nt_opts_reset, .run = nt_run_reset,
	}, {
		.name = "caps", .args = "",
		.help = "what this kernel offers, and what you may do",
		.run = nt_run_caps,
	}, {
		.name = "stat", .args = "[OBJECT] [NAME]...",
		.help = "counters and histograms",
		.changes = true,
		.complete = { NT_COMPLETE_OBJECT },
		.opts = nt_opts_stat, .run = nt_run_stat,
	}, {
		.name = "top", .args = "[OBJECT]",
		.help = "live view of queues",
		.complete = { NT_COMPLETE_OBJECT },
		.opts = nt_opts_top, .run = nt_run_top,
	}, {
		.name = "monitor", .args = "[OBJECT]",
		.help = "changes as they happen",
		.complete = { NT_COMPLETE_OBJECT },
		.opts = nt_opts_monitor, .run = nt_run_monitor,
	}, {
		.name = "doctor", .args = "[RULE]...",
		.help = "look at the machine: what is wrong, why, how to mend it",
		.opts = nt_opts_doctor, .run = nt_run_doctor,
	}, {
		.name = "autotune", .args = "[OBJECT]",
		.help = "try settings under load, keep what measures better",
		.changes = true,
		.complete = { NT_COMPLETE_OBJECT },
		.opts = nt_opts_autotune, .run = nt_run_autotune,
	}, {
		.name = "save", .args = "[FILE]",
		.help = "write what is set to a profile",
		.complete = { NT_COMPLETE_FILE },
		.opts = nt_opts_save, .run = nt_run_save,
	}, {
		.name = "diff", .args = "PROFILE",
		.help = "compare a profile with what is set",
		.complete = { NT_COMPLETE_PROFILE },
		.opts = nt_opts_diff, .run = nt_run_diff,
	}, {
		.name = "apply", .args = "PROFILE",
		.help = "set what a profile says, all or none",
		.changes = true,
		.complete = { NT_COMPLETE_PROFILE },
		.opts = nt_opts_apply, .run = nt_run_apply,
	}, {
		.name = "restore", .args = "",
		.help = "go back to what was before the last apply or autotune",
		.changes = true,
		.run = nt_run_restore,
	}, {
		.name = "profiles", .args = "[PROFILE]",
		.help = "the profiles that there are, or what one says",
		.complete = { NT_COMPLETE_PROFILE },
		.run = nt_run_profiles,
	}, {
		.name = "wq", .args = "[OBJECT] [NAME=VALUE]...",
		.help = "CPUs, nice and affinity scope of queues' workqueues",
		.changes = true,
		.complete = { NT_COMPLETE_OBJECT, NT_COMPLETE_WORDS },
		.words = "cpus= cpumask= nice= affinity_scope= affinity_strict= max_active=",
		.opts = nt_opts_wq, .run = nt_run_wq,
	}, {
		.name = "completion", .args = "bash|zsh",
		.help = "a script that completes command lines",
		.complete = { NT_COMPLETE_WORDS }, .words = "bash zsh",
		.run = nt_run_completion,
	}, {
		.name = "version", .args = "",
		.help = "version of this tool and of the kernel's interface",
		.run = nt_run_version,
	}, {
		.name = "help", .args = "[VERB]",
		.help = "what verbs there are, or what one takes",
		.complete = { NT_COMPLETE_WORDS },
		.run = nt_run_help,
	},
	{ }
};

/* Options of all verbs. */
const struct nt_opt nt_opts_common[] = {
	{ "json", 'j', NULL, "print JSON" },
	{ "dry-run", 'n', NULL, "say what would be changed, change nothing" },
	{ "quiet", 'q', NULL, "print errors only, and what was asked for" },
	{ "verbose", 'v', NULL, "print more; may be repeated" },
	{ "no-color", 0, NULL, "no colours; NO_COLOR does the same" },
	{ "root", 0, "DIR", "read the tree recorded in DIR", NT_COMPLETE_FILE },
	{ "backend", 0, "NAME", "netlink or sysfs; default: what is there",
	  NT_COMPLETE_WORDS, "netlink sysfs" },
	{ "help", 'h', NULL, "what a verb takes" },
	{ "version", 0, NULL, "as the verb version" },
	{ }
};

struct nt_ctx nt = { .root = "" };

const struct nt_cmd *nt_find_cmd(const char *name)
{
	const struct nt_cmd *cmd;

	for (cmd = nt_cmds; cmd->name; cmd++)
		if (!strcmp(cmd->name, name))
			return cmd;
	return NULL;
}

bool nt_opt_for(const struct nt_opt *opt, const struct nt_cmd *cmd)
{
	return strcmp(opt->name, "dry-run") || !cmd || cmd->changes;
}

/* Help */

static void nt_print_opts(const struct nt_opt *opt, const struct nt_cmd *cmd)
{
	char left[64];

	for (; opt && opt->name; opt++) {
		if (!nt_opt_for(opt, cmd))
			continue;
		snprintf(left, sizeof(left), "%c%c%s--%s%s%s",
			 opt->letter ? '-' : ' ', opt->letter ? opt->letter : ' ',
			 opt->letter ? ", " : "  ", opt->name,
			 opt->arg ? "=" : "", opt->arg ? opt->arg : "");
		printf("  %-26s %s\n", left, opt->help);
	}
}

static void nt_print_cmd(const struct nt_cmd *cmd)
{
	printf("Usage: nvmetune [OPTION]... %s%s%s\n\n%s%s%s: %s.\n", cmd->name,
	       *cmd->args ? " " : "", cmd->args, nt_color(NT_BOLD), cmd->name,
	       nt_color(NT_PLAIN), cmd->help);
	if (cmd->opts && cmd->opts->name)
		printf("\nOptions of this verb:\n");
	nt_print_opts(cmd->opts, cmd);
	printf("\nOptions of all verbs:\n");
	nt_print_opts(nt_opts_common, cmd);
	printf("\nSee nvmetune(8).\n");
}

static void nt_print_help(void)
{
	const struct nt_cmd *cmd;

	printf("Usage: nvmetune [OPTION]... VERB [ARGUMENT]...\n\n"
	       "Settings and statistics of the storage stack.\n\nVerbs:\n");
	for (cmd = nt_cmds; cmd->name; cmd++)
		printf("  %s%-12s%s %s\n", nt_color(NT_BOLD), cmd->name,
		       nt_color(NT_PLAIN), cmd->help);
	printf("\nOptions:\n");
	nt_print_opts(nt_opts_common, NULL);
	printf("\nObjects: nvme0, nvme0/q1, patterns such as 'nvme*/q[1-4]', or all.\n"
	       "Exit status: 0 done, 1 wrong usage, 2 the kernel refused, 3 something was\n"
	       "found by doctor or diff, 4 no nvmetune in this kernel.\n"
	       "'nvmetune help VERB' says what a verb takes; see nvmetune(8).\n");
}

static json_object *nt_json_opts(const struct nt_opt *opt, const struct nt_cmd *cmd)
{
	json_object *list = json_object_new_array(), *o;
	char letter[2] = "";

	for (; opt && opt->name; opt++) {
		if (!nt_opt_for(opt, cmd))
			continue;
		o = json_object_new_object();
		json_object_object_add(o, "name", json_object_new_string(opt->name));
		if (opt->letter) {
			letter[0] = opt->letter;
			json_object_object_add(o, "letter", json_object_new_string(letter));
		}
		if (opt->arg)
			json_object_object_add(o, "argument",
					       json_object_new_string(opt->arg));
		json_object_object_add(o, "help", json_object_new_string(opt->help));
		json_object_array_add(list, o);
	}
	return list;
}

static json_object *nt_json_cmd(const struct nt_cmd *cmd)
{
	json_object *o = json_object_new_object();

	json_object_object_add(o, "name", json_object_new_string(cmd->name));
	json_object_object_add(o, "arguments", json_object_new_string(cmd->args));
	json_object_object_add(o, "help", json_object_new_string(cmd->help));
	json_object_object_add(o, "changes", json_object_new_boolean(cmd->changes));
	json_object_object_add(o, "options", nt_json_opts(cmd->opts, cmd));
	return o;
}

static void nt_json_help(const struct nt_cmd *only)
{
	json_object *all = json_object_new_object();
	json_object *verbs = json_object_new_array();
	const struct nt_cmd *cmd;

	for (cmd = nt_cmds; cmd->name; cmd++)
		if (!only || cmd == only)
			json_object_array_add(verbs, nt_json_cmd(cmd));
	json_object_object_add(all, "verbs", verbs);
	json_object_object_add(all, "options", nt_json_opts(nt_opts_common, only));
	nt_json_print(all);
}

static int nt_help(const struct nt_cmd *cmd)
{
	if (nt.json)
		nt_json_help(cmd);
	else if (cmd)
		nt_print_cmd(cmd);
	else
		nt_print_help();
	return NT_OK;
}

int nt_run_help(int argc, char **args, const char **values)
{
	const struct nt_cmd *cmd = NULL;

	if (argc > 1)
		return nt_fail(NT_USAGE, "help takes one verb");
	if (argc) {
		cmd = nt_find_cmd(args[0]);
		if (!cmd)
			return nt_fail(NT_USAGE, "there is no verb '%s': nvmetune help lists them",
				       args[0]);
	}
	return nt_help(cmd);
}

int nt_run_version(int argc, char **args, const char **values)
{
	json_object *o;

	if (argc)
		return nt_fail(NT_USAGE, "version takes no argument");
	if (!nt.json) {
		printf("nvmetune %s, interface %d\n", NT_VERSION, NVMETUNE_FAMILY_VERSION);
		return NT_OK;
	}
	o = json_object_new_object();
	json_object_object_add(o, "version", json_object_new_string(NT_VERSION));
	json_object_object_add(o, "interface", json_object_new_int(NVMETUNE_FAMILY_VERSION));
	nt_json_print(o);
	return NT_OK;
}

/* Options */

struct nt_parse {
	struct option longs[NT_MAX_OPTS + 1];
	char shorts[2 * NT_MAX_OPTS + 3];
	const struct nt_opt *opts[NT_MAX_OPTS];
	size_t nr, nr_common;
	const char *values[NT_MAX_OPTS];
	bool help, version, dry_run;
};

/* getopt_long() returns the index from here on: letters are below. */
#define NT_OPT_BASE	256

static void nt_parse_add(struct nt_parse *p, const struct nt_opt *opt)
{
	size_t len = strlen(p->shorts);

	for (; opt && opt->name && p->nr < NT_MAX_OPTS; opt++) {
		p->longs[p->nr].name = opt->name;
		p->longs[p->nr].has_arg = opt->arg ? required_argument : no_argument;
		p->longs[p->nr].val = NT_OPT_BASE + p->nr;
		if (opt->letter) {
			p->shorts[len++] = opt->letter;
			if (opt->arg)
				p->shorts[len++] = ':';
		}
		p->opts[p->nr++] = opt;
	}
}

static int nt_take_common(struct nt_parse *p, size_t i)
{
	const char *name = p->opts[i]->name;

	if (!strcmp(name, "json")) {
		nt.json = true;
	} else if (!strcmp(name, "dry-run")) {
		nt.dry_run = true;
	} else if (!strcmp(name, "quiet")) {
		nt.quiet = true;
	} else if (!strcmp(name, "verbose")) {
		nt.verbose++;
	} else if (!strcmp(name, "no-color")) {
		nt.color = false;
	} else if (!strcmp(name, "root")) {
		nt.root = optarg;
	} else if (!strcmp(name, "backend")) {
		if (strcmp(optarg, "netlink") && strcmp(optarg, "sysfs"))
			return nt_fail(NT_USAGE, "there is no backend '%s': it is netlink or sysfs",
				       optarg);
		nt.backend_name = optarg;
	} else if (!strcmp(name, "help")) {
		p->help = true;
	} else {
		p->version = true;
	}
	return NT_OK;
}

/* Takes options from argv[*first] on, up to a verb or, with one, all. */
static int nt_parse_opts(struct nt_parse *p, int argc, char **argv, const struct nt_cmd *cmd)
{
	const char *verb = cmd ? cmd->name : "--help";
	size_t i;
	int c, ret;

	*p = (struct nt_parse){ .shorts = "+:" };
	if (cmd)
		strcpy(p->shorts, ":");
	nt_parse_add(p, nt_opts_common);
	p->nr_common = p->nr;
	if (cmd)
		nt_parse_add(p, cmd->opts);
	optind = 0;
	while ((c = getopt_long(argc, argv, p->shorts, p->longs, NULL)) != -1) {
		if (c == '?')
			return nt_fail(NT_USAGE, "unknown option '%s': see nvmetune %s%s",
				       optopt && optopt < NT_OPT_BASE ?
				       (char[]){ '-', optopt, 0 } : argv[optind - 1],
				       cmd ? "help " : "", verb);
		if (c == ':')
			return nt_fail(NT_USAGE, "option '%s' needs a value: see nvmetune %s%s",
				       argv[optind - 1], cmd ? "help " : "", verb);
		for (i = 0; i < p->nr; i++)
			if (c == NT_OPT_BASE + (int)i || c == p->opts[i]->letter)
				break;
		if (i < p->nr_common) {
			ret = nt_take_common(p, i);
			if (ret)
				return ret;
		} else {
			p->values[i - p->nr_common] = optarg ? optarg : "";
		}
	}
	return NT_OK;
}

static int nt_run(int argc, char **argv)
{
	struct nt_parse *p = nt_alloc(sizeof(*p));
	const struct nt_cmd *cmd;
	int ret, first;

	ret = nt_parse_opts(p, argc, argv, NULL);
	if (ret)
		goto free;
	first = optind;
	if (p->help || p->version) {
		cmd = nt_find_cmd(p->help ? "help" : "version");
		argc = first;
		p->help = false;
	} else if (first == argc) {
		ret = nt_fail(NT_USAGE, "which verb? nvmetune --help lists them");
		goto free;
	} else {
		cmd = nt_find_cmd(argv[first]);
		if (!cmd) {
			ret = nt_fail(NT_USAGE, "there is no verb '%s': nvmetune --help lists them",
				      argv[first]);
			goto free;
		}
		argc -= first;
		argv += first;
		ret = nt_parse_opts(p, argc, argv, cmd);
		if (ret)
			goto free;
		first = optind;
	}
	nt.cmd = cmd;
	if (p->help) {
		/* The document is of the verb help. */
		nt.cmd = nt_find_cmd("help");
		ret = nt_help(cmd);
	} else if (nt.dry_run && !cmd->changes) {
		ret = nt_fail(NT_USAGE, "%s changes nothing: it takes no -n", cmd->name);
	} else {
		ret = cmd->run(argc - first, argv + first, p->values);
	}
free:
	free(p);
	return ret;
}

/**
 * nt_main() - what main() does
 *
 * Return: the exit status.
 */
int nt_main(int argc, char **argv)
{
	int ret;

	nt = (struct nt_ctx){ .root = "" };
	nt.color = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
	ret = nt_run(argc, argv);
	if (nt.backend)
		nt.backend->ops->close(nt.backend);
	nt.backend = NULL;
	if (fflush(stdout) || ferror(stdout))
		return nt_fail(NT_REFUSED, "cannot write the output: %s", strerror(errno));
	return ret;
}
