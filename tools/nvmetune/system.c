// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files of the system, below --root: the real one, or one that was recorded.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nvmetune.h"

/* /proc/interrupts of a large machine is some megabytes. */
#define NT_SYS_MAX	(64u << 20)

static char *nt_sys_vpath(const char *format, va_list args)
{
	char *rest = nt_vprintf(format, args);
	char *path = nt_printf("%s%s", nt.root, rest);

	free(rest);
	return path;
}

char *nt_sys_path(const char *format, ...)
{
	va_list args;
	char *path;

	va_start(args, format);
	path = nt_sys_vpath(format, args);
	va_end(args);
	return path;
}

/* Free @p and leave errno as it is. */
static void nt_free_quietly(void *p)
{
	int saved = errno;

	free(p);
	errno = saved;
}

char *nt_read_fd(int fd, size_t guess)
{
	size_t size = guess, len = 0;
	char *text = nt_realloc(NULL, size);
	ssize_t got;

	for (;;) {
		if (len + 1 == size) {
			if (size >= NT_SYS_MAX) {
				errno = EFBIG;
				break;
			}
			size *= 2;
			text = nt_realloc(text, size);
		}
		got = read(fd, text + len, size - 1 - len);
		if (got > 0) {
			len += got;
		} else if (!got) {
			text[len] = '\0';
			if (len && text[len - 1] == '\n')
				text[len - 1] = '\0';
			return text;
		} else if (errno != EINTR) {
			break;
		}
	}
	nt_free_quietly(text);
	return NULL;
}

char *nt_sys_read(const char *format, ...)
{
	char *path, *text = NULL;
	va_list args;
	int fd;

	va_start(args, format);
	path = nt_sys_vpath(format, args);
	va_end(args);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		text = nt_read_fd(fd, 1024);
		close(fd);
	}
	nt_free_quietly(path);
	return text;
}

int nt_sys_write(const char *value, const char *format, ...)
{
	size_t len = strlen(value);
	va_list args;
	ssize_t put;
	char *path;
	int fd;

	va_start(args, format);
	path = nt_sys_vpath(format, args);
	va_end(args);
	/* A file of a recorded tree is a plain one: shorter values replace longer. */
	fd = open(path, O_WRONLY | O_CLOEXEC | (*nt.root ? O_TRUNC : 0));
	nt_free_quietly(path);
	if (fd < 0)
		return -1;
	/* One write: the kernel takes it as one value. */
	do {
		put = write(fd, value, len);
	} while (put < 0 && errno == EINTR);
	if (put >= 0 && (size_t)put != len) {
		errno = EIO;
		put = -1;
	}
	if (put >= 0 && *nt.root && write(fd, "\n", 1) != 1)
		put = -1;
	if (put < 0) {
		int saved = errno;

		close(fd);
		errno = saved;
		return -1;
	}
	return close(fd);
}

static int nt_strv_cmp(const void *a, const void *b)
{
	return nt_name_cmp(*(char *const *)a, *(char *const *)b);
}

char **nt_sys_list(const char *format, ...)
{
	struct dirent *entry;
	char **names = NULL;
	va_list args;
	size_t nr = 0;
	char *path;
	DIR *dir;

	va_start(args, format);
	path = nt_sys_vpath(format, args);
	va_end(args);
	dir = opendir(path);
	nt_free_quietly(path);
	if (!dir)
		return NULL;
	while ((entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		names = nt_grow(names, nr, sizeof(*names));
		names[nr++] = nt_strdup(entry->d_name);
	}
	closedir(dir);
	if (nr)
		qsort(names, nr, sizeof(*names), nt_strv_cmp);
	names = nt_grow(names, nr, sizeof(*names));
	names[nr] = NULL;
	return names;
}

char *nt_sys_link(const char *format, ...)
{
	char target[4096], *path;
	va_list args;
	ssize_t len;

	va_start(args, format);
	path = nt_sys_vpath(format, args);
	va_end(args);
	len = readlink(path, target, sizeof(target) - 1);
	nt_free_quietly(path);
	if (len < 0)
		return NULL;
	target[len] = '\0';
	return nt_strdup(target);
}

bool nt_sys_exists(const char *format, ...)
{
	va_list args;
	char *path;
	int ret;

	va_start(args, format);
	path = nt_sys_vpath(format, args);
	va_end(args);
	ret = access(path, F_OK);
	nt_free_quietly(path);
	return !ret;
}
