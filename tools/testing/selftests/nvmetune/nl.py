#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The netlink family nvmetune for the tests, by the kernel's own tools/net/ynl.

One process for many operations, as python takes seconds to start in the guest. Reads
commands, one a line, and answers each with lines, the last of which is

  ok
  error ERRNO WHERE TEXT

WHERE is the attribute that the extended ack names, as in setting[2].text, with a ! before
it if it is missing, or -.

  objects                      OBJECT|ID|ID OF PARENT|CLASS|PARAMETERS|STATISTICS
  params [OBJECT]              OBJECT|NAME|TYPE|rw or ro|INHERITABLE|MIN|MAX|DEFAULT|
                               CHOICES|IN FORCE|VALUE
  get OBJECT NAME              the same
  set OBJECT:NAME=TEXT ...     all in one request; OBJECT:NAME#NUMBER as a number
  stats [OBJECT]               stat|OBJECT|NAME|KIND|VALUE,
                               hist|OBJECT|NAME|off or UP TO=COUNT,...
  reset OBJECT                 its statistics
  raw OPERATION JSON           any attributes; the reply in JSON
  subscribe                    to notifications
  ntf                          what has come since: param-ntf|OBJECT|NAME|OLD|NEW|IN FORCE,
                               object-add-ntf|OBJECT|ID, object-del-ntf|OBJECT|ID
  begin OPERATION SIZE         a dump on a new socket: its first part, received with a
                               buffer of that size
  rest                         parts|MESSAGES|DIFFERENT ONES|FLAGGED AS INTERRUPTED|PARTS
"""
import collections
import errno
import itertools
import json
import os
import re
import socket
import sys

here = os.path.dirname(os.path.realpath(__file__))
root = os.path.realpath(os.path.join(here, "../../../.."))
sys.dont_write_bytecode = True
# 6.1 has no such library, and the newest of the kernels that we build on the best.
sys.path.insert(0, os.path.join(root, "build/6.12/src/tools/net/ynl"))

# pylint: disable=wrong-import-position
import yaml  # noqa: E402
from lib import Netlink, YnlFamily  # noqa: E402
from lib.ynl import NlAttrs, NlMsgs  # noqa: E402

SPEC = os.path.join(root, "Documentation/netlink/specs/nvmetune.yaml")
NLM_F_DUMP_INTR = 0x10


class Refused(Exception):
    """What the kernel has answered instead."""

    def __init__(self, number, where="-", text=""):
        super().__init__(text)
        self.line = f"error {errno.errorcode.get(number, number)} {where} {text}"


class Tune:
    """A command is a method: do_NAME(self, words)."""

    def __init__(self):
        # By the library in C, which takes a tenth of the time.
        yaml.safe_load = lambda stream: yaml.load(stream, Loader=yaml.CSafeLoader)
        self.ynl = YnlFamily(SPEC, "")
        self.listener = None
        self.seqs = itertools.count(1)
        self.dump = None

    # Messages

    def attr_name(self, space, data, offset, target):
        """The attribute at an offset of a request, as in setting[2].text."""
        seen = collections.Counter()
        for attr in NlAttrs(data):
            spec = self.ynl.attr_sets[space].attrs_by_val[attr.type]
            name = spec.name + (f"[{seen[spec.name]}]" if spec.is_multi else "")
            seen[spec.name] += 1
            if target == offset:
                return name
            if offset < target < offset + attr.full_len and spec["type"] == "nest":
                return name + "." + self.attr_name(spec["nested-attributes"], attr.raw,
                                                   offset + 4, target)
            offset += attr.full_len
        return "?"

    def refused(self, op, request, msg):
        """The exception that an error message with its extended ack makes."""
        ack = msg.extack or {}
        where, space = "-", op.attr_set.name
        start = self.ynl.nlproto.msghdr_size()
        if "bad-attr-offs" in ack:
            where = self.attr_name(space, request[start:], start, ack["bad-attr-offs"])
        elif "miss-type" in ack:
            where = "!"
            if "miss-nest" in ack:
                nest = self.attr_name(space, request[start:], start, ack["miss-nest"])
                where += nest + "."
                space = self.ynl.attr_sets[space][nest.split("[")[0]]["nested-attributes"]
            missing = self.ynl.attr_sets[space].attrs_by_val.get(ack["miss-type"])
            where += missing.name if missing else "?"
        return Refused(-msg.error, where, ack.get("msg", ""))

    def request(self, operation, attrs, dump):
        """Returns the operation, the request and its number."""
        op = self.ynl.ops[operation]
        seq = next(self.seqs)
        flags = [Netlink.NLM_F_DUMP] if dump else []
        # pylint: disable=protected-access
        return op, self.ynl._encode_message(op, attrs, flags, seq), seq

    def receive(self, sock, size, asked):
        """One part: the replies, and whether that was all."""
        op, request, seq = asked
        replies = []
        for msg in NlMsgs(sock.recv(size)):
            if msg.nl_seq != seq:
                raise RuntimeError(f"a message of another request: {msg}")
            if msg.error:
                raise self.refused(op, request, msg)
            if msg.done:
                return replies + [(msg, None)], True
            decoded = self.ynl.nlproto.decode(self.ynl, msg, op)
            # pylint: disable=protected-access
            replies.append((msg, self.ynl._decode(decoded.raw_attrs, op.attr_set.name)))
        return replies, False

    def ask(self, operation, attrs=None, dump=False):
        """All replies."""
        asked = self.request(operation, attrs or {}, dump)
        self.ynl.sock.send(asked[1])
        result, done = [], False
        while not done:
            replies, done = self.receive(self.ynl.sock, 131072, asked)
            result += [attrs for _, attrs in replies if attrs is not None]
        return result

    # Commands

    def do_objects(self, _words):
        for o in self.ask("object-get", dump=True):
            yield (f"{o['name']}|{o['id']}|{o.get('parent', '')}|{o['class']}|"
                   f"{o['params']}|{o['stats']}")

    @staticmethod
    def param(p):
        """A parameter as a line."""
        choices = p.get("choice", [])
        in_force, default = p.get("in-force", ""), p.get("default", "")
        if choices:
            in_force = choices[in_force]
            default = choices[default] if default != "" else ""
        values = [p["object"], p["name"], p["type"], "ro" if "read-only" in p else "rw",
                  "inherits" if "inheritable" in p else "-", p.get("min-value", ""),
                  p.get("max-value", ""), default, ",".join(choices),
                  in_force, p["text"]]
        # What the kernel says as a number and as a text has to be the same.
        if p["type"] == "text":
            agrees = "value" not in p and "inherit" not in p
        elif "inherit" in p:
            agrees = p["text"] == "inherit" and "value" not in p
        elif choices:
            agrees = p["text"] == choices[p["value"]]
        else:
            agrees = p["text"] == str(p["value"])
        if not agrees:
            raise RuntimeError(f"value and text differ: {p}")
        return "|".join(str(v) for v in values)

    def do_params(self, words):
        attrs = {"object": words[0]} if words else {}
        for p in self.ask("param-get", attrs, dump=True):
            yield self.param(p)

    def do_get(self, words):
        for p in self.ask("param-get", {"object": words[0], "name": words[1]}):
            yield self.param(p)

    def do_set(self, words):
        settings = []
        for word in words:
            path, name, sign, value = re.fullmatch("(.*):(.*?)([=#])(.*)", word).groups()
            kind = {"text": value} if sign == "=" else {"value": int(value)}
            settings.append({"object": path, "name": name, **kind})
        self.ask("param-set", {"setting": settings})
        yield from ()

    def do_stats(self, words):
        if words:
            replies = self.ask("stats-get", {"object": words[0]})
        else:
            replies = self.ask("stats-get", dump=True)
        for reply in replies:
            for s in reply.get("stat", []):
                yield f"stat|{reply['object']}|{s['name']}|{s['kind']}|{s['value']}"
            for h in reply.get("histogram", []):
                buckets = ",".join(f"{b.get('up-to', 'more')}={b['count']}"
                                   for b in h.get("bucket", []))
                yield f"hist|{reply['object']}|{h['name']}|{buckets or 'off'}"

    def do_reset(self, words):
        self.ask("stats-reset", {"object": words[0]})
        yield from ()

    def do_raw(self, words):
        attrs = json.loads(" ".join(words[1:]) or "{}")
        for reply in self.ask(words[0], attrs):
            yield json.dumps(reply, sort_keys=True)

    def do_subscribe(self, _words):
        self.listener = YnlFamily(SPEC, "")
        self.listener.ntf_subscribe("config")
        yield from ()

    def do_ntf(self, _words):
        self.listener.check_ntf()
        for ntf in self.listener.async_msg_queue:
            m = ntf["msg"]
            if ntf["name"] != "param-ntf":
                yield f"{ntf['name']}|{m['name']}|{m['id']}"
                continue
            old = "inherit" if "old-inherit" in m else m["old-value"]
            yield f"param-ntf|{m['object']}|{m['name']}|{old}|{m['text']}|{m['in-force']}"
        self.listener.async_msg_queue.clear()

    def do_begin(self, words):
        sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, Netlink.NETLINK_GENERIC)
        sock.setsockopt(Netlink.SOL_NETLINK, Netlink.NETLINK_EXT_ACK, 1)
        sock.setsockopt(Netlink.SOL_NETLINK, Netlink.NETLINK_GET_STRICT_CHK, 1)
        asked = self.request(words[0], {}, True)
        sock.send(asked[1])
        size = int(words[1])
        replies, done = self.receive(sock, size, asked)
        if done:
            raise RuntimeError("the dump has one part only")
        self.dump = sock, size, asked, replies
        yield from ()

    def do_rest(self, _words):
        sock, size, asked, replies = self.dump
        parts, done = 1, False
        while not done:
            more, done = self.receive(sock, size, asked)
            replies += more
            parts += 1
        sock.close()
        flagged = sum(bool(msg.nl_flags & NLM_F_DUMP_INTR) for msg, _ in replies)
        data = [(a.get("object"), a["name"] if "name" in a else "") for _, a in replies if a]
        yield f"parts|{len(data)}|{len(set(data))}|{flagged}|{parts}"

    def run(self, line):
        """Answers a line of input."""
        words = line.split()
        try:
            for answer in getattr(self, "do_" + words[0])(words[1:]):
                print(answer)
            print("ok")
        except Refused as e:
            print(e.line)
        except OSError as e:
            print(Refused(e.errno, "-", "of the system call").line)


def main():
    try:
        tune = Tune()
    except Exception as e:  # pylint: disable=broad-except
        # The library has no other for a family that is not there.
        if "not supported by the kernel" not in str(e):
            raise
        tune = None
    for line in sys.stdin:
        if tune:
            tune.run(line)
        else:
            print("error ENOENT - no such family")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
