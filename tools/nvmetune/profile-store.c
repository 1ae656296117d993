// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where profiles are kept, and the state before the last apply.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile.h"

/* The administrator's come before those that a package brings. */
static const char *const nt_profile_dirs[] = {
	"/etc/nvmetune/profiles.d",
	"/usr/share/nvmetune/profiles.d",
};

#define NT_SUFFIX	".conf"
#define NT_STATE_DIR	"/run/nvmetune"
#define NT_STATE	NT_STATE_DIR "/before" NT_SUFFIX
/* What NT_STATE was, until it is known whether the kernel accepts. */
#define NT_STATE_OLD	NT_STATE_DIR "/before.old"
/* One name, as who has the lock writes it alone: who is killed leaves no more than one. */
#define NT_STATE_NEW	NT_STATE_DIR "/before.new"

/* Files */

/* Close @fd, keep errno, return -1. */
static int nt_close_failed(int fd)
{
	int saved = errno;

	close(fd);
	errno = saved;
	return -1;
}

static int nt_write_all(int fd, const char *text)
{
	size_t len = strlen(text);
	ssize_t put;

	while (len) {
		put = write(fd, text, len);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -1;
		text += put;
		len -= put;
	}
	return 0;
}

static int nt_sync_dir(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *dir = slash ? nt_printf("%.*s", (int)(slash - path) + 1, path) : nt_strdup(".");
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	free(dir);
	if (fd < 0)
		return -1;
	if (fsync(fd))
		return nt_close_failed(fd);
	return close(fd);
}

static int nt_write_synced(int fd, const char *text)
{
	/* mkostemp() gives 0600; profiles are for all to read. */
	if (nt_write_all(fd, text) || fchmod(fd, 0644) || fsync(fd))
		return nt_close_failed(fd);
	return close(fd);
}

/* Put @text where @path is by way of @fd, the new file @temp. */
static int nt_replace(const char *path, const char *text, int fd, const char *temp)
{
	int saved;

	if (fd < 0)
		return -1;
	if (!nt_write_synced(fd, text) && !rename(temp, path))
		return nt_sync_dir(path);
	saved = errno;
	unlink(temp);
	errno = saved;
	return -1;
}

int nt_write_atomic(const char *path, const char *text)
{
	char *temp = nt_printf("%s.XXXXXX", path);
	int ret = nt_replace(path, text, mkostemp(temp, O_CLOEXEC), temp), saved = errno;

	free(temp);
	errno = saved;
	return ret;
}

int nt_make_parents(const char *path)
{
	char *dir = nt_strdup(path), *slash = dir;
	int ret = 0, saved;

	while (!ret && (slash = strchr(slash + 1, '/'))) {
		*slash = '\0';
		if (mkdir(dir, 0755) && errno != EEXIST)
			ret = -1;
		*slash = '/';
	}
	saved = errno;
	free(dir);
	errno = saved;
	return ret;
}

/* Finding profiles */

/* The text of a file that the user has named, which is not below --root. */
static char *nt_read_path(const char *path)
{
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : dup(STDIN_FILENO);
	char *text;

	if (fd < 0)
		return NULL;
	text = nt_read_fd(fd, 4096);
	if (text)
		close(fd);
	else
		nt_close_failed(fd);
	return text;
}

static const struct nt_builtin *nt_find_builtin(const char *name)
{
	const struct nt_builtin *b;

	for (b = nt_builtins; b->name; b++)
		if (!strcmp(b->name, name))
			return b;
	return NULL;
}

/* Text and origin of the profile @name; NULL with errno set. */
static char *nt_find_profile(const char *name, char **origin)
{
	const struct nt_builtin *b;
	char *text;
	size_t i;

	if (!strcmp(name, "-") || strchr(name, '/')) {
		*origin = nt_strdup(strcmp(name, "-") ? name : "standard input");
		return nt_read_path(name);
	}
	for (i = 0; *name && i < NT_ARRAY_SIZE(nt_profile_dirs); i++) {
		text = nt_sys_read("%s/%s" NT_SUFFIX, nt_profile_dirs[i], name);
		if (text || errno != ENOENT) {
			*origin = nt_printf("%s/%s" NT_SUFFIX, nt_profile_dirs[i], name);
			return text;
		}
	}
	b = nt_find_builtin(name);
	*origin = nt_strdup(NT_BUILT_IN);
	if (b)
		return nt_strdup(b->text);
	errno = ENOENT;
	return NULL;
}

static int nt_parse_found(struct nt_profile *p)
{
	struct nt_error err;

	if (!nt_profile_parse(p->text, strlen(p->text), p, &err))
		return NT_OK;
	nt_fail(NT_USAGE, "%s: %s", p->origin, err.text);
	nt_profile_clear(p);
	return NT_USAGE;
}

int nt_profile_load(const char *name, struct nt_profile *p)
{
	int saved;

	*p = (struct nt_profile){ .name = nt_strdup(name) };
	p->text = nt_find_profile(name, &p->origin);
	if (p->text)
		return nt_parse_found(p);
	saved = errno;
	if (saved == ENOENT && strcmp(p->origin, name))
		nt_fail(NT_USAGE, "no profile '%s': nvmetune profiles lists them; a path has a '/'",
			name);
	else
		nt_fail(NT_USAGE, "cannot read the profile %s: %s", p->origin, strerror(saved));
	nt_profile_clear(p);
	return NT_USAGE;
}

static bool nt_strv_has(char **strv, size_t nr, const char *s)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (!strcmp(strv[i], s))
			return true;
	return false;
}

static int nt_strv_cmp(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char **nt_profile_names(void)
{
	const struct nt_builtin *b;
	char **names = NULL, **files, *name;
	size_t nr = 0, i, j, len;

	for (i = 0; i < NT_ARRAY_SIZE(nt_profile_dirs); i++) {
		files = nt_sys_list("%s", nt_profile_dirs[i]);
		for (j = 0; files && files[j]; j++) {
			len = strlen(files[j]);
			if (len <= strlen(NT_SUFFIX) ||
			    strcmp(files[j] + len - strlen(NT_SUFFIX), NT_SUFFIX))
				continue;
			name = nt_printf("%.*s", (int)(len - strlen(NT_SUFFIX)), files[j]);
			if (nt_strv_has(names, nr, name)) {
				free(name);
				continue;
			}
			names = nt_grow(names, nr, sizeof(*names));
			names[nr++] = name;
		}
		nt_strv_free(files);
	}
	for (b = nt_builtins; b->name; b++) {
		if (nt_strv_has(names, nr, b->name))
			continue;
		names = nt_grow(names, nr, sizeof(*names));
		names[nr++] = nt_strdup(b->name);
	}
	qsort(names, nr, sizeof(*names), nt_strv_cmp);
	names = nt_grow(names, nr, sizeof(*names));
	names[nr] = NULL;
	return names;
}

/* The state before */

static int nt_state_failed(void)
{
	int saved = errno;

	nt_fail(NT_REFUSED, "cannot keep the state before in %s: %s%s", NT_STATE_DIR,
		strerror(saved), saved == EACCES || saved == EPERM ? ": run it as root" : "");
	return -1;
}

int nt_state_lock(bool wait)
{
	char *path = nt_sys_path(NT_STATE_DIR "/lock");
	int fd = -1, ret;

	if (!nt_make_parents(path))
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	free(path);
	if (fd < 0)
		return nt_state_failed();
	ret = flock(fd, LOCK_EX | LOCK_NB);
	if (ret && errno == EWOULDBLOCK && wait) {
		nt_say("another nvmetune makes changes: waiting for it\n");
		fflush(stdout);
		do {
			ret = flock(fd, LOCK_EX);
		} while (ret && errno == EINTR);
	}
	if (!ret)
		return fd;
	close(fd);
	nt_fail(NT_REFUSED, "another nvmetune makes changes: wait until it is done, or stop it");
	return -1;
}

static int nt_state_write(const char *path, const char *text)
{
	char *new = nt_sys_path(NT_STATE_NEW);
	int fd = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int ret = nt_replace(path, text, fd, new), saved = errno;

	free(new);
	errno = saved;
	return ret;
}

int nt_state_store(const struct nt_tree *tree)
{
	char *path = nt_sys_path(NT_STATE), *old = nt_sys_path(NT_STATE_OLD);
	char *text = nt_profile_text(tree, NULL, "What was set before the last apply or autotune.");
	int ret;

	unlink(old);
	ret = link(path, old) && errno != ENOENT ? -1 : nt_state_write(path, text);
	if (ret)
		nt_state_failed();
	free(text);
	free(old);
	free(path);
	return ret;
}

void nt_state_commit(void)
{
	char *old = nt_sys_path(NT_STATE_OLD);

	unlink(old);
	free(old);
}

void nt_state_undo(void)
{
	char *path = nt_sys_path(NT_STATE), *old = nt_sys_path(NT_STATE_OLD);

	/* What is there says what is set now: without an older one, nothing is to be restored. */
	if (rename(old, path) && errno == ENOENT)
		unlink(path);
	free(old);
	free(path);
}

int nt_state_load(struct nt_profile *p)
{
	*p = (struct nt_profile){ .text = nt_sys_read(NT_STATE) };
	if (!p->text && errno == ENOENT)
		return nt_fail(NT_USAGE, "nothing to go back to: no profile was applied since boot, or restore was done");
	if (!p->text)
		return nt_fail(NT_REFUSED, "cannot read " NT_STATE ": %s", strerror(errno));
	p->name = nt_strdup(NT_STATE);
	p->origin = nt_sys_path(NT_STATE);
	p->skip_unknown = true;
	return nt_parse_found(p);
}

void nt_state_settle(const struct nt_tree *now)
{
	struct nt_error err;
	struct nt_profile p;
	struct nt_plan plan;

	if (!nt_sys_exists(NT_STATE) || nt_state_load(&p))
		return;
	if (!nt_profile_expand(&p, now, NULL, true, &plan, &err)) {
		if (nt_plan_differs(&plan))
			nt_state_commit();
		else
			nt_state_undo();
		nt_plan_clear(&plan);
	}
	nt_profile_clear(&p);
}

void nt_state_recover(const struct nt_tree *tree)
{
	if (nt_sys_exists(NT_STATE_OLD))
		nt_state_settle(tree);
}

int nt_state_remove(void)
{
	char *path = nt_sys_path(NT_STATE);
	int ret = unlink(path);

	free(path);
	return ret ? nt_fail(NT_REFUSED, "cannot remove " NT_STATE ": %s", strerror(errno)) : NT_OK;
}
