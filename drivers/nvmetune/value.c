// SPDX-License-Identifier: GPL-2.0-only
/*
 * A control plane for tunable drivers: values as text.
 */
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/kstrtox.h>
#include <linux/limits.h>
#include <linux/string.h>

#include "internal.h"

static const char nvmetune_inherit[] = "inherit";

/* Ten decimal digits: no suffix makes that wrap. */
#define NVMETUNE_MAX_DIGITS	10

/**
 * nvmetune_unit() - the unit of a parameter's values
 * @param: the parameter
 *
 * Return: what the provider says, else what follows from the type.
 */
enum nvmetune_unit nvmetune_unit(const struct nvmetune_param *param)
{
	if (param->unit != NVMETUNE_UNIT_NONE)
		return param->unit;
	switch (param->type) {
	case NVMETUNE_TYPE_BYTES:
		return NVMETUNE_UNIT_BYTES;
	case NVMETUNE_TYPE_PERCENT:
		return NVMETUNE_UNIT_PERCENT;
	default:
		return NVMETUNE_UNIT_NONE;
	}
}

static int nvmetune_parse_suffix(const char *text, u64 *num)
{
	switch (*text) {
	case 'G':
	case 'g':
		*num <<= 10;
		fallthrough;
	case 'M':
	case 'm':
		*num <<= 10;
		fallthrough;
	case 'K':
	case 'k':
		*num <<= 10;
		return 1;
	}
	return 0;
}

/*
 * Not memparse(), which takes hexadecimal and exabytes, and wraps.
 */
static int nvmetune_parse_number(const struct nvmetune_param *param,
				 const char *text, u64 *num,
				 struct nvmetune_error *err)
{
	size_t digits = strspn(text, "0123456789");
	char number[NVMETUNE_MAX_DIGITS + 1];
	int ret;

	err->text = param->type == NVMETUNE_TYPE_BYTES ?
		"not a number, which may end with K, M or G" : "not a number";
	if (!digits)
		return -EINVAL;
	if (digits > NVMETUNE_MAX_DIGITS) {
		err->text = "out of range";
		return -ERANGE;
	}
	strscpy(number, text, digits + 1);
	ret = kstrtou64(number, 10, num);
	if (ret)
		return ret;
	text += digits;
	if (param->type == NVMETUNE_TYPE_BYTES)
		text += nvmetune_parse_suffix(text, num);
	return sysfs_streq(text, "") ? 0 : -EINVAL;
}

static int nvmetune_parse_enum(const struct nvmetune_param *param,
			       const char *text, u64 *num,
			       struct nvmetune_error *err)
{
	unsigned int i;

	for (i = 0; param->names[i]; i++) {
		if (sysfs_streq(text, param->names[i])) {
			*num = i;
			return 0;
		}
	}
	err->text = "not one of the choices";
	return -EINVAL;
}

static int nvmetune_parse_bool(const char *text, u64 *num,
			       struct nvmetune_error *err)
{
	bool on;

	if (kstrtobool(text, &on)) {
		err->text = "neither 0 nor 1";
		return -EINVAL;
	}
	*num = on;
	return 0;
}

/**
 * nvmetune_check() - whether a parameter may have a value
 * @param: the parameter
 * @value: the value
 * @err: out: what is wrong
 *
 * Return: 0, -EINVAL if it is of the wrong kind, -ERANGE.
 */
int nvmetune_check(const struct nvmetune_param *param,
		   const struct nvmetune_value *value,
		   struct nvmetune_error *err)
{
	u64 max = param->max;

	if (value->inherit) {
		if (param->inherits)
			return 0;
		err->text = "cannot inherit";
		return -EINVAL;
	}
	switch (param->type) {
	case NVMETUNE_TYPE_TEXT:
		err->text = "read-only";
		return -EINVAL;
	case NVMETUNE_TYPE_BOOL:
		max = 1;
		break;
	case NVMETUNE_TYPE_ENUM:
		for (max = 0; param->names[max + 1]; max++)
			;
		break;
	default:
		break;
	}
	if (value->num >= param->min && value->num <= max)
		return 0;
	err->text = "out of range";
	return -ERANGE;
}
EXPORT_SYMBOL_GPL(nvmetune_check);

/**
 * nvmetune_parse() - read a value
 * @param: the parameter it is for
 * @text: "inherit", a number, one of the names of an enumeration; a line feed at
 *	the end is ignored
 * @value: out
 * @err: out: what is wrong
 *
 * Return: 0, -EINVAL if it is none, -ERANGE.
 */
int nvmetune_parse(const struct nvmetune_param *param, const char *text,
		   struct nvmetune_value *value, struct nvmetune_error *err)
{
	int ret = 0;

	*value = (struct nvmetune_value){ };
	if (sysfs_streq(text, nvmetune_inherit))
		value->inherit = true;
	else if (param->type == NVMETUNE_TYPE_ENUM)
		ret = nvmetune_parse_enum(param, text, &value->num, err);
	else if (param->type == NVMETUNE_TYPE_BOOL)
		ret = nvmetune_parse_bool(text, &value->num, err);
	else if (param->type != NVMETUNE_TYPE_TEXT)
		ret = nvmetune_parse_number(param, text, &value->num, err);
	return ret ?: nvmetune_check(param, value, err);
}
EXPORT_SYMBOL_GPL(nvmetune_parse);

/**
 * nvmetune_format() - write a value, so that nvmetune_parse() can read it
 * @param: the parameter
 * @value: a value that it may have
 * @buf: where to
 * @size: of @buf
 *
 * Return: the length, without a line feed.
 */
int nvmetune_format(const struct nvmetune_param *param,
		    const struct nvmetune_value *value, char *buf, size_t size)
{
	if (value->inherit)
		return scnprintf(buf, size, "%s", nvmetune_inherit);
	if (param->type == NVMETUNE_TYPE_ENUM)
		return scnprintf(buf, size, "%s", param->names[value->num]);
	return scnprintf(buf, size, "%llu", value->num);
}
EXPORT_SYMBOL_GPL(nvmetune_format);
