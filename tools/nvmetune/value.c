// SPDX-License-Identifier: GPL-2.0-only
/*
 * Values as people write and read them. What is taken is what the kernel takes
 * (drivers/nvmetune/value.c), so that it is refused here with better words.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "nvmetune.h"

/* The kernel's limit for the text of a setting. */
#define NT_MAX_TEXT	63

static const char nt_inherit[] = "inherit";

/* Names */

static const char *nt_name_of(const char *const *names, size_t nr, uint32_t i)
{
	return i < nr ? names[i] : "unknown";
}

const char *nt_unit_name(uint32_t unit)
{
	static const char *const names[] = {
		[NVMETUNE_UNIT_NONE] = "none",
		[NVMETUNE_UNIT_BYTES] = "bytes",
		[NVMETUNE_UNIT_PERCENT] = "percent",
		[NVMETUNE_UNIT_MILLISECONDS] = "milliseconds",
		[NVMETUNE_UNIT_NANOSECONDS] = "nanoseconds",
		[NVMETUNE_UNIT_REQUESTS] = "requests",
	};

	return nt_name_of(names, NT_ARRAY_SIZE(names), unit);
}

const char *nt_type_name(uint32_t type)
{
	static const char *const names[] = {
		[NVMETUNE_TYPE_BOOL] = "bool",
		[NVMETUNE_TYPE_ENUM] = "enum",
		[NVMETUNE_TYPE_BYTES] = "bytes",
		[NVMETUNE_TYPE_COUNT] = "count",
		[NVMETUNE_TYPE_PERCENT] = "percent",
		[NVMETUNE_TYPE_TEXT] = "text",
	};

	return nt_name_of(names, NT_ARRAY_SIZE(names), type);
}

const char *nt_applies_name(uint32_t applies)
{
	static const char *const names[] = {
		[NVMETUNE_APPLIES_AT_ONCE] = "at-once",
		[NVMETUNE_APPLIES_AT_RESET] = "at-reset",
	};

	return nt_name_of(names, NT_ARRAY_SIZE(names), applies);
}

const char *nt_kind_name(uint32_t kind)
{
	static const char *const names[] = {
		[NVMETUNE_STAT_KIND_COUNTER] = "counter",
		[NVMETUNE_STAT_KIND_GAUGE] = "gauge",
		[NVMETUNE_STAT_KIND_MAXIMUM] = "maximum",
	};

	return nt_name_of(names, NT_ARRAY_SIZE(names), kind);
}

/* Reading */

/* Digits, and where @suffix, K, M or G. */
static bool nt_parse(const char *text, bool suffix, uint64_t *num)
{
	unsigned int shift = 0;
	uint64_t value = 0;
	const char *p;

	for (p = text; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, *p - '0', &value))
			return false;
	if (p == text)
		return false;
	if (suffix && *p) {
		shift = *p == 'K' || *p == 'k' ? 10 : *p == 'M' || *p == 'm' ? 20 :
			*p == 'G' || *p == 'g' ? 30 : 0;
		p += !!shift;
	}
	if (*p || (shift && value >> (64 - shift)))
		return false;
	*num = value << shift;
	return true;
}

bool nt_parse_number(const char *text, uint64_t *num)
{
	return nt_parse(text, true, num);
}

static bool nt_parse_bool(const char *text, uint64_t *num)
{
	static const char *const names[] = {
		"0", "1", "n", "y", "no", "yes", "off", "on", "false", "true",
	};
	size_t i;

	for (i = 0; i < NT_ARRAY_SIZE(names); i++) {
		if (!strcasecmp(text, names[i])) {
			*num = i & 1;
			return true;
		}
	}
	return false;
}

static bool nt_parse_choice(const struct nt_param *param, const char *text, uint64_t *num)
{
	size_t i;

	for (i = 0; i < param->nr_choices; i++) {
		if (!strcmp(text, param->choices[i])) {
			*num = i;
			return true;
		}
	}
	return false;
}

/* The number that @text stands for; false: for none. */
bool nt_param_parse(const struct nt_param *param, const char *text, uint64_t *num)
{
	if (!param->described)
		return nt_parse(text, true, num);
	switch (param->type) {
	case NVMETUNE_TYPE_BOOL:
		return nt_parse_bool(text, num);
	case NVMETUNE_TYPE_ENUM:
		return nt_parse_choice(param, text, num);
	case NVMETUNE_TYPE_BYTES:
		return nt_parse(text, true, num);
	case NVMETUNE_TYPE_TEXT:
		return false;
	default:
		return nt_parse(text, false, num);
	}
}

bool nt_param_accepts(const struct nt_param *param, const char *text, char **why)
{
	char range[256];
	uint64_t num;

	if (param->read_only) {
		*why = nt_printf("a fact, which cannot be set");
		return false;
	}
	if (!*text || strlen(text) > NT_MAX_TEXT || strpbrk(text, "\n\r")) {
		*why = nt_strdup(*text ? "too long, or more than a line" : "no value");
		return false;
	}
	if (!strcmp(text, nt_inherit)) {
		if (param->inheritable)
			return true;
		*why = nt_printf("cannot inherit");
		return false;
	}
	if (!param->described)
		return true;
	nt_param_range(param, range, sizeof(range));
	if (!nt_param_parse(param, text, &num)) {
		*why = nt_printf("it takes %s%s%s", range,
				 param->type == NVMETUNE_TYPE_BYTES ?
				 ", as a number with or without K, M or G" : "",
				 param->inheritable ? ", or inherit" : "");
		return false;
	}
	if (param->has_range && (num < param->min || num > param->max)) {
		*why = nt_printf("out of range: it takes %s", range);
		return false;
	}
	return true;
}

bool nt_param_same(const struct nt_param *param, const char *a, const char *b)
{
	uint64_t num_a, num_b;

	if (!strcmp(a, b))
		return true;
	return nt_param_parse(param, a, &num_a) && nt_param_parse(param, b, &num_b) &&
	       num_a == num_b;
}

/* Writing */

/* Three digits are enough to compare by eye; whole numbers stay whole. */
static const char *nt_scaled(double num, const char *unit, char *buf, size_t size)
{
	const char *space = *unit ? " " : "";

	if (num == floor(num) || num >= 100)
		snprintf(buf, size, "%.0f%s%s", num, space, unit);
	else if (num >= 10)
		snprintf(buf, size, "%.1f%s%s", num, space, unit);
	else
		snprintf(buf, size, "%.2f%s%s", num, space, unit);
	return buf;
}

static const char *nt_scale(double num, const double step, const char *const *units, size_t nr,
			    char *buf, size_t size)
{
	size_t i;

	/* What would be printed as 1000 is 1 of the next. */
	for (i = 0; i + 1 < nr && num >= step - 0.5; i++)
		num /= step;
	return nt_scaled(num, units[i], buf, size);
}

const char *nt_format_rate(uint32_t unit, double num, char *buf, size_t size)
{
	static const char *const bytes[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	static const char *const times[] = { "ns", "us", "ms", "s" };
	static const char *const plain[] = { "", "k", "M", "G", "T", "P", "E" };

	switch (unit) {
	case NVMETUNE_UNIT_BYTES:
		return nt_scale(num, 1024, bytes, NT_ARRAY_SIZE(bytes), buf, size);
	case NVMETUNE_UNIT_NANOSECONDS:
		return nt_scale(num, 1000, times, NT_ARRAY_SIZE(times), buf, size);
	case NVMETUNE_UNIT_MILLISECONDS:
		return nt_scale(num, 1000, times + 2, 2, buf, size);
	case NVMETUNE_UNIT_PERCENT:
		return nt_scaled(num, "%", buf, size);
	default:
		return nt_scale(num, 1000, plain, NT_ARRAY_SIZE(plain), buf, size);
	}
}

const char *nt_format(uint32_t unit, uint64_t num, char *buf, size_t size)
{
	bool small = unit == NVMETUNE_UNIT_REQUESTS && num < 100000;

	if (unit == NVMETUNE_UNIT_NONE || unit > NVMETUNE_UNIT_REQUESTS || small) {
		snprintf(buf, size, "%" PRIu64, num);
		return buf;
	}
	return nt_format_rate(unit, num, buf, size);
}

const char *nt_param_show(const struct nt_param *param, const char *text, char *buf, size_t size)
{
	uint64_t num;

	switch (param->described ? param->type : NVMETUNE_TYPE_TEXT) {
	case NVMETUNE_TYPE_BYTES:
	case NVMETUNE_TYPE_COUNT:
	case NVMETUNE_TYPE_PERCENT:
		if (nt_param_parse(param, text, &num))
			return nt_format(param->unit, num, buf, size);
	}
	snprintf(buf, size, "%s", text);
	return buf;
}

const char *nt_param_range(const struct nt_param *param, char *buf, size_t size)
{
	char min[64], max[64];
	size_t i, len = 0;

	buf[0] = '\0';
	if (!param->described)
		return buf;
	switch (param->type) {
	case NVMETUNE_TYPE_BOOL:
		snprintf(buf, size, "0, 1");
		break;
	case NVMETUNE_TYPE_ENUM:
		for (i = 0; i < param->nr_choices && len < size; i++)
			len += snprintf(buf + len, size - len, "%s%s", i ? ", " : "",
					param->choices[i]);
		break;
	default:
		if (!param->has_range)
			break;
		nt_format(param->unit, param->min, min, sizeof(min));
		nt_format(param->unit, param->max, max, sizeof(max));
		/* "0 to 100 %": the unit once, where it is the same. */
		if (param->unit == NVMETUNE_UNIT_PERCENT || !param->min)
			min[strcspn(min, " ")] = '\0';
		snprintf(buf, size, "%s to %s", min, max);
	}
	return buf;
}
