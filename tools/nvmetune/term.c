// SPDX-License-Identifier: GPL-2.0-only
/*
 * The terminal in full: keys without Enter, a screen of its own, and both given back
 * however the program ends, but for kill -9.
 *
 * Signals that end the program are taken only to give the terminal back, and then sent
 * again, so that who waits for it sees what ended it.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "watch.h"

/* Another screen, no cursor; and back. */
#define NT_ENTER	"\033[?1049h\033[?25l\033[H\033[2J"
#define NT_LEAVE	"\033[0m\033[?25h\033[?1049l"

static struct termios nt_before, nt_raw;
static sigset_t nt_mask;
static volatile sig_atomic_t nt_entered, nt_resized;

/* All of these three may be called by signal handlers. */

static void nt_put(const char *text, size_t len)
{
	/* A terminal that is gone cannot be given back. */
	if (write(STDOUT_FILENO, text, len) < 0)
		return;
}

static void nt_enter(void)
{
	tcsetattr(STDIN_FILENO, TCSADRAIN, &nt_raw);
	nt_put(NT_ENTER, sizeof(NT_ENTER) - 1);
	nt_entered = 1;
	nt_resized = 1;
}

static void nt_leave(void)
{
	if (!nt_entered)
		return;
	nt_entered = 0;
	nt_put(NT_LEAVE, sizeof(NT_LEAVE) - 1);
	tcsetattr(STDIN_FILENO, TCSANOW, &nt_before);
}

static void nt_on_end(int sig)
{
	nt_leave();
	/* Delivered when this returns, as it is blocked until then. */
	signal(sig, SIG_DFL);
	raise(sig);
}

static void nt_on_stop(int sig)
{
	int saved = errno;

	nt_leave();
	raise(SIGSTOP);
	/* Somebody has let it go on: in the foreground, or SIGCONT will tell. */
	if (tcgetpgrp(STDIN_FILENO) == getpgrp())
		nt_enter();
	errno = saved;
}

static void nt_on_change(int sig)
{
	int saved = errno;

	/* The shell has used the terminal meanwhile. */
	if (sig == SIGCONT && tcgetpgrp(STDIN_FILENO) == getpgrp())
		nt_enter();
	nt_resized = 1;
	errno = saved;
}

static void nt_catch(int sig, void (*handler)(int sig))
{
	struct sigaction act = { .sa_handler = handler }, old;

	/* What nohup or a script have switched off stays so. */
	if (!sigaction(sig, NULL, &old) && old.sa_handler == SIG_IGN)
		return;
	sigfillset(&act.sa_mask);
	sigaction(sig, &act, NULL);
}

int nt_term_open(void)
{
	static const int ends[] = {
		SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGALRM, SIGUSR1, SIGUSR2,
		SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL,
	};
	static bool registered;
	sigset_t changes;
	size_t i;

	if (tcgetattr(STDIN_FILENO, &nt_before))
		return nt_fail(NT_REFUSED, "cannot read keys: %s: top --batch needs none",
			       strerror(errno));
	nt_raw = nt_before;
	/* Signals by keys stay, as ^C and ^Z. */
	nt_raw.c_lflag &= ~(ICANON | ECHO);
	nt_raw.c_cc[VMIN] = 0;
	nt_raw.c_cc[VTIME] = 0;
	for (i = 0; i < NT_ARRAY_SIZE(ends); i++)
		nt_catch(ends[i], nt_on_end);
	nt_catch(SIGTSTP, nt_on_stop);
	nt_catch(SIGCONT, nt_on_change);
	nt_catch(SIGWINCH, nt_on_change);
	/* These come only while it waits: none is missed, and no line is cut in two. */
	sigemptyset(&changes);
	sigaddset(&changes, SIGTSTP);
	sigaddset(&changes, SIGCONT);
	sigaddset(&changes, SIGWINCH);
	sigprocmask(SIG_BLOCK, &changes, &nt_mask);
	if (!registered && atexit(nt_leave))
		return nt_fail(NT_REFUSED, "cannot take the terminal");
	registered = true;
	nt_enter();
	return NT_OK;
}

void nt_term_close(void)
{
	nt_leave();
}

void nt_term_size(unsigned int *rows, unsigned int *columns)
{
	struct winsize size;

	*rows = 24;
	*columns = 80;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_row || !size.ws_col)
		return;
	*rows = size.ws_row;
	*columns = size.ws_col;
}

/* Keys */

static int nt_escape(const char *seq, size_t len)
{
	static const struct {
		const char *seq;
		int key;
	} keys[] = {
		{ "[A", NT_KEY_UP }, { "OA", NT_KEY_UP }, { "[B", NT_KEY_DOWN },
		{ "OB", NT_KEY_DOWN }, { "[5~", NT_KEY_PAGE_UP }, { "[6~", NT_KEY_PAGE_DOWN },
		{ "[H", NT_KEY_HOME }, { "OH", NT_KEY_HOME }, { "[1~", NT_KEY_HOME },
	};
	size_t i;

	for (i = 0; i < NT_ARRAY_SIZE(keys); i++)
		if (strlen(keys[i].seq) == len && !memcmp(keys[i].seq, seq, len))
			return keys[i].key;
	return len ? NT_KEY_OTHER : NT_KEY_ESCAPE;
}

/* What has arrived and was not yet taken. */
static char nt_keys[32];
static size_t nt_nr_keys;

static int nt_take_key(void)
{
	size_t len = 1;
	int key;

	key = (unsigned char)nt_keys[0];
	if (key == '\033') {
		/* A sequence ends with a letter or '~', after '[' or 'O'. */
		if (nt_nr_keys > 1 && strchr("[O", nt_keys[1]))
			for (len = 2; len < nt_nr_keys && nt_keys[len++] < '@';)
				;
		key = nt_escape(nt_keys + 1, len - 1);
	}
	nt_nr_keys -= len;
	memmove(nt_keys, nt_keys + len, nt_nr_keys);
	return key;
}

int nt_term_key(double until)
{
	struct pollfd pfd = { .fd = STDIN_FILENO, .events = POLLIN };
	struct timespec ts;
	double left;
	ssize_t got;
	int ret;

	for (;;) {
		if (nt_resized) {
			nt_resized = 0;
			return NT_KEY_RESIZE;
		}
		if (nt_nr_keys)
			return nt_take_key();
		left = until - nt_clock();
		if (left <= 0)
			return NT_KEY_NONE;
		ts.tv_sec = left;
		ts.tv_nsec = (left - ts.tv_sec) * 1e9;
		ret = ppoll(&pfd, 1, &ts, &nt_mask);
		if (ret <= 0)
			continue;
		got = read(STDIN_FILENO, nt_keys, sizeof(nt_keys));
		if (got > 0)
			nt_nr_keys = got;
		else if (!got || errno != EINTR)
			return NT_KEY_GONE;
	}
}
