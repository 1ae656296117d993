// SPDX-License-Identifier: GPL-2.0-only
/*
 * completion: scripts for bash and zsh. Verbs and options in them come from the table
 * of command.c; words that only the kernel knows, they ask for with
 * "completion words KIND [OBJECT]" when a line is completed.
 */
#include <stdlib.h>
#include <string.h>

#include "nvmetune.h"

/* Words for a line being completed */

static bool nt_printed(const char *const *names, size_t nr, const char *name)
{
	size_t i;

	/* Interned: the same name is the same pointer. */
	for (i = 0; i < nr; i++)
		if (names[i] == name)
			return true;
	return false;
}

static void nt_word(json_object *list, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void nt_word(json_object *list, const char *format, ...)
{
	va_list args;
	char *word;

	va_start(args, format);
	word = nt_vprintf(format, args);
	va_end(args);
	json_object_array_add(list, json_object_new_string(word));
	free(word);
}

/* NAME=VALUE for what can be named, NAME= for numbers. */
static void nt_words_of_setting(json_object *list, const struct nt_param *param)
{
	size_t i;

	for (i = 0; i < param->nr_choices; i++)
		nt_word(list, "%s=%s", param->name, param->choices[i]);
	if (param->described && param->type == NVMETUNE_TYPE_BOOL) {
		nt_word(list, "%s=0", param->name);
		nt_word(list, "%s=1", param->name);
	}
	if (param->inheritable)
		nt_word(list, "%s=inherit", param->name);
	if (!param->nr_choices)
		nt_word(list, "%s=", param->name);
}

static void nt_words_of_params(json_object *list, const struct nt_tree *tree,
			       const char *pattern, bool settings)
{
	const char **names = NULL;
	size_t nr = 0, i, p;

	for (i = 0; i < tree->nr; i++) {
		const struct nt_object *obj = tree->objects[i];

		if (!nt_pattern_match(pattern, obj->name))
			continue;
		for (p = 0; p < obj->nr_params; p++) {
			const struct nt_param *param = &obj->params[p];

			if ((settings && param->read_only) || nt_printed(names, nr, param->name))
				continue;
			names = nt_grow(names, nr, sizeof(*names));
			names[nr++] = param->name;
			if (settings)
				nt_words_of_setting(list, param);
			else
				nt_word(list, "%s", param->name);
		}
	}
	free(names);
}

/* No message where there is nothing to complete with: it would end up in the line. */
static int nt_words(json_object *list, const char *kind, const char *pattern)
{
	bool objects = !strcmp(kind, "objects");
	struct nt_tree tree;
	size_t i;
	int ret;

	if (!objects && strcmp(kind, "names") && strcmp(kind, "settings"))
		return nt_fail(NT_USAGE, "there are no words '%s': objects, names or settings",
			       kind);
	ret = nt_load(objects ? 0 : NT_LOAD_PARAMS, &tree);
	if (ret)
		return ret;
	if (objects) {
		nt_word(list, "all");
		for (i = 0; i < tree.nr; i++)
			nt_word(list, "%s", tree.objects[i]->name);
	} else {
		nt_words_of_params(list, &tree, pattern, !strcmp(kind, "settings"));
	}
	nt_tree_free(&tree);
	return NT_OK;
}

static int nt_print_words(int argc, char **args)
{
	json_object *list, *o;
	size_t i;
	int ret;

	if (argc < 1 || argc > 2)
		return nt_fail(NT_USAGE, "completion words KIND [OBJECT]");
	list = json_object_new_array();
	ret = nt_words(list, args[0], argc > 1 ? args[1] : "all");
	if (!ret && nt.json) {
		o = json_object_new_object();
		json_object_object_add(o, "words", json_object_get(list));
		nt_json_print(o);
	} else if (!ret) {
		for (i = 0; i < json_object_array_length(list); i++)
			puts(json_object_get_string(json_object_array_get_idx(list, i)));
	}
	json_object_put(list);
	return ret;
}

/* Scripts */

static const char *nt_kind(enum nt_complete complete)
{
	static const char *const kinds[] = {
		[NT_COMPLETE_NONE] = "none",
		[NT_COMPLETE_OBJECT] = "objects",
		[NT_COMPLETE_SETTING] = "settings",
		[NT_COMPLETE_NAME] = "names",
		[NT_COMPLETE_PROFILE] = "profiles",
		[NT_COMPLETE_FILE] = "files",
		[NT_COMPLETE_WORDS] = "words",
	};

	return kinds[complete];
}

static void nt_script_opts(FILE *f, const struct nt_opt *opt, const struct nt_cmd *cmd)
{
	for (; opt && opt->name; opt++) {
		if (!nt_opt_for(opt, cmd))
			continue;
		fprintf(f, " --%s%s", opt->name, opt->arg ? "=" : "");
		if (opt->letter)
			fprintf(f, " -%c", opt->letter);
	}
}

static void nt_script_values(FILE *f, const struct nt_opt *opt)
{
	for (; opt && opt->name; opt++) {
		if (!opt->arg)
			continue;
		fprintf(f, "\t--%s", opt->name);
		if (opt->letter)
			fprintf(f, " | -%c", opt->letter);
		fprintf(f, ") _nvmetune_kind=%s _nvmetune_words='%s' ;;\n", nt_kind(opt->complete),
			opt->words ? opt->words : "");
	}
}

static void nt_script_verbs(FILE *f)
{
	const struct nt_cmd *cmd;
	size_t i;

	for (cmd = nt_cmds; cmd->name; cmd++) {
		fprintf(f, "\t%s)\n\t\t_nvmetune_opts='", cmd->name);
		nt_script_opts(f, cmd->opts, cmd);
		nt_script_opts(f, nt_opts_common, cmd);
		fprintf(f, "'\n\t\t_nvmetune_kinds=(");
		for (i = 0; i < NT_ARRAY_SIZE(cmd->complete); i++)
			if (!i || cmd->complete[i])
				fprintf(f, "%s%s", i ? " " : "", nt_kind(cmd->complete[i]));
		fprintf(f, ")\n\t\t_nvmetune_words='");
		if (strcmp(cmd->name, "help"))
			fputs(cmd->words ? cmd->words : "", f);
		else
			for (i = 0; nt_cmds[i].name; i++)
				fprintf(f, "%s%s", i ? " " : "", nt_cmds[i].name);
		fprintf(f, "'\n");
		fprintf(f, "\t\tcase $1 in\n");
		nt_script_values(f, cmd->opts);
		fprintf(f, "\t\t*) _nvmetune_value=false ;;\n\t\tesac ;;\n");
	}
}

/*
 * What bash and zsh (with bashcompinit) share. The line is split by blanks: in
 * COMP_WORDS, "=" may be a word of its own.
 */
static const char nt_script_head[] =
	"# nvmetune completion, made by \"nvmetune completion\"\n"
	"\n"
	"# _nvmetune_table VERB OPTION: what VERB takes, and whether OPTION has a value\n"
	"_nvmetune_table()\n"
	"{\n"
	"\tlocal verb=$2\n"
	"\t_nvmetune_value=true\n"
	"\tcase $verb in\n";

static const char nt_script_tail[] =
	"\t*)\n"
	"\t\t_nvmetune_kinds=(verbs) _nvmetune_words= _nvmetune_value=false ;;\n"
	"\tesac\n"
	"\t[ $_nvmetune_value = true ] || case $1 in\n";

static const char nt_script_end[] =
	"\t*) return 0 ;;\n"
	"\tesac\n"
	"\t_nvmetune_value=true\n"
	"}\n"
	"\n"
	"_nvmetune_candidates() # KIND OBJECT\n"
	"{\n"
	"\tcase $1 in\n"
	"\tobjects) \"${_nvmetune_ask[@]}\" completion words objects 2>/dev/null ;;\n"
	"\tnames | settings) \"${_nvmetune_ask[@]}\" completion words \"$1\" \"${2:-all}\" 2>/dev/null ;;\n"
	"\tprofiles) \"${_nvmetune_ask[@]}\" -q profiles 2>/dev/null; compgen -f -- \"$cur\" ;;\n"
	"\tfiles) compgen -f -- \"$cur\" ;;\n"
	"\tverbs) printf '%s\\n' $_nvmetune_verbs ;;\n"
	"\twords) printf '%s\\n' $_nvmetune_words ;;\n"
	"\tesac\n"
	"}\n"
	"\n"
	"_nvmetune_complete()\n"
	"{\n"
	"\tlocal line=${COMP_LINE:0:$COMP_POINT} cur word verb= object= kind nr=0 i last=\n"
	"\tlocal _nvmetune_kinds _nvmetune_kind _nvmetune_words _nvmetune_opts _nvmetune_value\n"
	"\tlocal -a words _nvmetune_ask\n"
	"\n"
	"\tif [ -n \"$ZSH_VERSION\" ]; then\n"
	"\t\temulate -L ksh\n"
	"\t\tsetopt noglob\n"
	"\t\tread -rA words <<<\"$line\"\n"
	"\telse\n"
	"\t\tread -ra words <<<\"$line\"\n"
	"\tfi\n"
	"\tcase $line in *[[:space:]]) words+=('') ;; esac\n"
	"\tcur=${words[${#words[@]} - 1]}\n"
	"\t_nvmetune_ask=(\"${words[0]}\")\n"
	"\tfor ((i = 1; i < ${#words[@]} - 1; i++)); do\n"
	"\t\tword=${words[i]}\n"
	"\t\t_nvmetune_table \"$word\" \"$verb\"\n"
	"\t\tcase $word in\n"
	"\t\t--root=* | --backend=*) _nvmetune_ask+=(\"$word\") ;;\n"
	"\t\t-*)\n"
	"\t\t\tif [ $_nvmetune_value = true ]; then\n"
	"\t\t\t\tlast=$word; ((++i))\n"
	"\t\t\t\tcase $word in --root | --backend) _nvmetune_ask+=(\"$word\" \"${words[i]}\") ;; esac\n"
	"\t\t\t\t((i < ${#words[@]} - 1)) && last=\n"
	"\t\t\tfi ;;\n"
	"\t\t*=*) ((++nr)) ;;\n"
	"\t\t*)\n"
	"\t\t\tif [ -z \"$verb\" ]; then verb=$word\n"
	"\t\t\telse ((++nr)); [ $nr -gt 1 ] || object=$word; fi ;;\n"
	"\t\tesac\n"
	"\tdone\n"
	"\t_nvmetune_table \"${last:-${cur%%=*}}\" \"$verb\"\n"
	"\tif [ -n \"$last\" ]; then\n"
	"\t\tkind=$_nvmetune_kind\n"
	"\telif [[ $cur == --*=* ]]; then\n"
	"\t\tkind=$_nvmetune_kind cur=${cur#*=}\n"
	"\telif [[ $cur == -* ]]; then\n"
	"\t\tkind=words _nvmetune_words=$_nvmetune_opts\n"
	"\telse\n"
	"\t\ti=$nr\n"
	"\t\t((i < ${#_nvmetune_kinds[@]})) || i=$((${#_nvmetune_kinds[@]} - 1))\n"
	"\t\tkind=${_nvmetune_kinds[i]}\n"
	"\tfi\n"
	"\tCOMPREPLY=()\n"
	"\twhile read -r word; do\n"
	"\t\tcase $word in \"$cur\"*) ;; *) continue ;; esac\n"
	"\t\t# bash replaces what is behind \"=\" only, as that splits words\n"
	"\t\tif [[ $cur == *=* && $COMP_WORDBREAKS == *=* ]]; then word=${word#\"${cur%%=*}=\"}; fi\n"
	"\t\tCOMPREPLY+=(\"$word\")\n"
	"\tdone < <(_nvmetune_candidates \"$kind\" \"$object\")\n"
	"\t[[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null\n"
	"\treturn 0\n"
	"}\n";

static void nt_script(FILE *f, bool zsh)
{
	const struct nt_cmd *cmd;

	if (zsh)
		fputs("#compdef nvmetune\n", f);
	fputs(nt_script_head, f);
	nt_script_verbs(f);
	fputs(nt_script_tail, f);
	nt_script_values(f, nt_opts_common);
	fputs(nt_script_end, f);
	fputs("\n_nvmetune_verbs='", f);
	for (cmd = nt_cmds; cmd->name; cmd++)
		fprintf(f, "%s%s", cmd == nt_cmds ? "" : " ", cmd->name);
	fputs("'\n", f);
	if (zsh)
		fputs("autoload -U +X bashcompinit && bashcompinit\n", f);
	fputs("complete -F _nvmetune_complete nvmetune\n", f);
	/* As a file of $fpath, it is the function that was to complete. */
	if (zsh)
		fputs("[ \"${funcstack[1]}\" != _nvmetune ] || _bash_complete -F _nvmetune_complete\n",
		      f);
}

int nt_run_completion(int argc, char **args, const char **values)
{
	char *text = NULL;
	json_object *o;
	size_t size;
	FILE *f;

	if (argc && !strcmp(args[0], "words"))
		return nt_print_words(argc - 1, args + 1);
	if (argc != 1 || (strcmp(args[0], "bash") && strcmp(args[0], "zsh")))
		return nt_fail(NT_USAGE, "completion for which shell? bash or zsh");
	if (!nt.json) {
		nt_script(stdout, !strcmp(args[0], "zsh"));
		return NT_OK;
	}
	f = open_memstream(&text, &size);
	if (!f)
		return nt_fail(NT_REFUSED, "out of memory");
	nt_script(f, !strcmp(args[0], "zsh"));
	fclose(f);
	o = json_object_new_object();
	json_object_object_add(o, "shell", json_object_new_string(args[0]));
	json_object_object_add(o, "script", json_object_new_string(text));
	nt_json_print(o);
	free(text);
	return NT_OK;
}
