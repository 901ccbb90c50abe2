#!/usr/bin/env python3
"""Reads a log of lbprof by docs/log-format.md alone, to show that the document suffices. Needs the zstd command.

    read_log.py LOG [RINGS]

Prints what is in it: how many records each thread has, ticks and calls by operation, a CRC-32 of all records as a ring
would hold them, the same of samples, how many definitions there are by variant, the sums of profiles, and bytes that are no blocks.
"""

import collections
import struct
import subprocess
import sys
import zlib

NONE = 2**32 - 1
NO_PEER = -(2**31)
M32, M64 = 2**32 - 1, 2**64 - 1
PAIRS = [(0, 0), (1, 1), (1, 2), (1, 3), (1, 4), (2, 1), (2, 2), (2, 3), (2, 4), (3, 1), (3, 2), (3, 3), (3, 4), (4, 2), (4, 3)]
RECORD = struct.Struct("<QQQQQiiIIHHI")  # §6


def unzigzag(v):
    return v >> 1 if v % 2 == 0 else -(v >> 1) - 1


def signed32(v):
    return (v + 2**31) % 2**32 - 2**31


class Bytes:
    """Bytes read from their begin (§2)."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        if self.at + n > len(self.data):
            raise ValueError("bytes end too early")
        self.at += n
        return self.data[self.at - n : self.at]

    def rest(self):
        return len(self.data) - self.at

    def uint(self):
        first = self.take(1)[0]
        if first <= 250:
            return first
        if first > 253:
            raise ValueError("not a varint")
        return int.from_bytes(self.take(2 ** (first - 250)), "little")

    def int(self):
        return unzigzag(self.uint())

    def byte(self):
        return self.take(1)[0]

    def f64(self):
        return struct.unpack("<d", self.take(8))[0]

    def string(self):
        return self.take(self.uint()).decode()

    def list(self, item):
        return [item() for _ in range(self.uint())]


def rank_list(b):
    return b.list(lambda: (b.uint(), b.int(), b.uint()))


def header(b):  # §3
    return {
        "run_id": b.uint(), "rank": b.uint(), "n_ranks": b.uint(), "host": b.string(), "pid": b.uint(),
        "command": b.list(b.string), "mpi": b.string(), "abi": b.string(), "recorder": b.string(),
        "clock": ["Tsc", "Monotonic"][b.uint()], "started_unix_s": b.uint(), "recorded_ranks": rank_list(b),
        "mode": ["Events", "Profile"][b.uint()], "instants": [(b.uint(), b.uint()) for _ in range(2)],
        "settings": b.list(b.string),
    }  # fmt: skip


DEFINITIONS = {  # §5
    0: ("Module", lambda b: (b.uint(), b.string(), bytes(b.list(b.byte)), b.uint(), b.uint())),
    1: ("CallSite", lambda b: (
        b.uint(), b.uint(), b.uint(), *((b.uint(), b.byte()) if b.rest() else (NONE, 1)), *((b.uint(), b.uint()) if b.rest() else (NONE, NONE)),
    )),  # fmt: skip
    2: ("Region", lambda b: (b.uint(), b.uint(), b.string(), b.uint(), b.byte())),
    3: ("Communicator", lambda b: (b.uint(), b.uint(), b.uint(), b.uint(), rank_list(b), rank_list(b))),
    4: ("Object", lambda b: (b.uint(), b.uint(), b.uint(), b.string())),
    5: ("Counter", lambda b: (b.uint(), b.string())),
    6: ("Param", lambda b: (b.string(), b.f64())),
    7: ("Thread", lambda b: (b.uint(), b.uint())),
    8: ("Instant", lambda b: (b.uint(), b.uint())),
    9: ("ClockOffset", lambda b: (b.uint(), b.int(), b.uint())),
    10: ("Usage", lambda b: tuple(b.uint() for _ in range(9))),
    11: ("Problem", lambda b: (b.uint(), b.uint(), b.string())),
    12: ("WindowBegin", lambda b: (b.uint(),)),
    13: ("WindowEnd", lambda b: (b.uint(),)),
    14: ("End", lambda b: (lambda reason: (reason, b.int() if reason == 2 else None, b.uint()))(b.uint())),
    15: ("ThreadLevel", lambda b: (b.byte(),)),
    16: ("Neighbours", lambda b: (b.uint(), rank_list(b), rank_list(b))),
    17: ("Group", lambda b: (b.uint(), rank_list(b))),
    18: ("ExitStatus", lambda b: (b.int(),)),
    19: ("Function", lambda b: (b.uint(), b.string(), b.string())),
    20: ("Sampling", lambda b: (b.uint(), (lambda outcome: (outcome, b.int() if outcome == 2 else None))(b.uint()), b.byte(), b.uint())),
    21: ("SampledThread", lambda b: (b.uint(), b.uint(), b.uint())),
    23: ("Lifetime", lambda b: (b.uint(), b.uint())),
}


def batch_head(b):  # §7
    return {
        "thread": b.uint(), "first": b.uint(), "previous_end": b.uint(),
        "open": b.list(lambda: (b.uint(), b.uint())), "paused": b.byte(),
    }  # fmt: skip


def batch(plain, tail):  # §7
    b = Bytes(plain)
    head = batch_head(b)
    n = b.uint()
    sizes = [b.uint() for _ in range(11)]
    column = [Bytes(b.take(size)) for size in sizes]
    times = Bytes(tail)
    codes = times.take((n + 1) // 2)

    def next_wrong(i):
        if column[0].rest() == 0:
            return None, 0
        v = column[0].uint()
        return i + (v >> 2), column[1].byte() if v & 3 == 0 else [0, 1, 8, 16][v & 3]

    entries, contexts, guesses = [], [], [None] * 2048
    situation = newest = 0
    previous_end = head["previous_end"]
    records = []
    wrong, mask = next_wrong(0)
    for i in range(n):
        code = codes[i // 2] >> 4 * (i % 2) & 15
        if code == 15:
            lengths = column[10].byte()
            pair = (lengths & 15, lengths >> 4)
            if max(pair) > 8:
                raise ValueError("a time of more than 8 bytes")
        else:
            pair = PAIRS[code]
        gap, duration = (int.from_bytes(times.take(length), "little") for length in pair)
        begin = (previous_end + gap) & M64
        end = (begin + duration) & M64
        previous_end = end or begin

        slot = (situation * 0x9E3779B1 & M32) >> 21
        if i == wrong:
            if mask & 1:
                c = column[2].uint()
                if c == len(contexts):
                    site, operation = (column[2].uint() - 1) & M64, column[2].uint()
                    counts = operation < 1000 or operation in (1008, 1011) or operation >= 0xC000
                    contexts.append({"site": site, "operation": operation, "counts": counts, "last": None})
                if contexts[c]["last"] is None:
                    e = dict(context=c, sent=0, received=0, count=0, flags=0, peer=NO_PEER, tag=NO_PEER)
                    e.update(comm=NONE, request=NONE, relative=False, step=0)
                else:
                    e = dict(entries[contexts[c]["last"]])
            else:
                e = dict(entries[guesses[slot]])
            context = contexts[e["context"]]
            for bit, field, source in ((2, "peer", column[3]), (4, "tag", column[4])):
                if mask & bit:
                    v, old = source.uint(), e[field]
                    e[field] = signed32(unzigzag(v - 1) + (0 if old == NO_PEER else old)) if v else NO_PEER
            for bit, field, source in ((8, "sent", column[5]), (16, "received", column[6])):
                if mask & bit:
                    e[field] = (e[field] + unzigzag(source.uint())) & M64
            if mask & 32:
                v = column[7].uint()
                request = (unzigzag(v - 1) + (newest if context["counts"] else 0)) & M32 if v else NONE
                e["relative"] = context["counts"] and request != NONE
                e["request"] = (request - newest) & M32 if e["relative"] else request
                e["step"] = e["request"] if e["relative"] and 0 < e["request"] < 2**31 else 0
            if mask & 64:
                e["count"] = (e["count"] + unzigzag(column[8].uint())) & M32
            if mask & 128:
                e["flags"], e["comm"] = column[9].uint(), (column[9].uint() - 1) & M32
            e["symbol"] = ((e["context"] * 0x9E3779B1 ^ (e["peer"] & M32) * 0x85EBCA6B) & M32) >> 21
            entries.append(e)
            guesses[slot] = context["last"] = len(entries) - 1
            wrong, mask = next_wrong(i + 1)
        else:
            e = entries[guesses[slot]]
        request = (e["request"] + newest) & M32 if e["relative"] else e["request"]
        context = contexts[e["context"]]
        records.append(
            (begin, end, context["site"], e["sent"], e["received"], e["peer"], e["tag"], e["comm"], request,
             context["operation"], e["flags"], e["count"])
        )  # fmt: skip
        situation = (situation << 11 & M32) ^ e["symbol"]
        newest = (newest + e["step"]) & M32
    if b.rest() or times.rest() or any(c.rest() for c in column):
        raise ValueError("something is left over")
    return head, records


def apart(records):  # §6
    """Takes joined records apart."""
    for record in records:
        begin, end, site, sent, received, peer, tag, comm, request, operation, flags, count = record
        if operation < 0x8000:
            yield record
        elif operation >= 0xC000:
            yield (begin, end, site, 0, 0, NO_PEER, NO_PEER, comm, NONE, operation & 0x3FFF, flags & ~0x798, count)
            yield (end, end, site, sent, received, peer, tag, comm, request, 1008, flags, 0)
        else:
            yield (begin, end, site, sent, 0, peer, tag, comm, NONE, operation & 0x3FFF, flags & ~0x18, 0)
            source, wild = signed32(request), flags & 0x18
            nothing = 0x200 if source < 0 and not wild & 8 else 0
            yield (end, end, site, 0, received, source, signed32(count), comm, NONE, 1009, wild | nothing | 1, 0)


def profile(b):  # §8
    head, following, entered = batch_head(b), batch_head(b), b.list(b.uint)

    def cell():
        return tuple(b.uint() for _ in range(4))

    cells = b.list(lambda: ((b.uint(), b.uint(), b.byte()), cell()))
    sites = b.list(lambda: ((b.uint(), b.uint(), b.uint(), b.byte()), cell()))
    iterations = b.list(lambda: tuple(b.uint() for _ in range(5)))
    regions = b.list(lambda: (b.uint(), b.uint(), b.uint(), b.f64(), b.f64(), b.uint(), b.uint()))
    counters = b.list(lambda: (b.uint(), b.uint(), b.uint(), b.f64(), b.f64(), b.f64()))
    b.list(lambda: (b.uint(), b.byte(), b.uint()))  # states
    totals = [b.uint() for _ in range(5)]
    polls = [b.uint() for _ in range(7)]
    return head, following, entered, cells, sites, iterations, regions, counters, totals, polls


def sample_head(plain):
    b = Bytes(plain)
    return [b.uint() for _ in range(5)]


def samples(plain, tail):  # §9
    b = Bytes(plain)
    thread, first, lost, previous, rate = (b.uint() for _ in range(5))
    n, m = b.uint(), b.uint()
    sizes = [b.uint() for _ in range(6)]
    column = [Bytes(b.take(size)) for size in sizes]
    times = Bytes(tail)

    table, module, offset = [], 0, 0
    for _ in range(m):
        step, distance = column[0].uint(), column[0].uint()
        module, offset = module + step, distance + (offset if step == 0 else 0)
        table.append((module, offset))
    low = column[1].take(n)
    high = column[1].take(n) if m > 256 else bytes(n)
    lengths = column[4].take((n + 1) // 2)

    def runs(source):
        values = []
        while len(values) < n:
            values += [None] * source.uint()
            value = source.uint()
            values = [value if one is None else one for one in values]
        return values

    weights, paths = runs(column[2]), runs(column[3])
    counted = column[5].rest() > 0
    found = []
    for i in range(n):
        time = unzigzag(int.from_bytes(times.take(lengths[i // 2] >> 4 * (i % 2) & 15), "little"))
        previous = (previous + (weights[i] * rate >> 20) + time) & M64
        counts = (column[5].uint(), column[5].uint()) if counted else (0, 0)
        found.append((previous, *table[low[i] + 256 * high[i]], (paths[i] - 1) & M32, weights[i], *counts))
    if b.rest() or times.rest() or any(c.rest() for c in column) or len(weights) > n or len(paths) > n:
        raise ValueError("something is left over")
    return thread, first, lost, found


def decompress(frame):
    return subprocess.run(["zstd", "-dc", "-q"], input=frame, stdout=subprocess.PIPE, check=True).stdout


def block_at(data, at):
    """The block at a place: kind, plain bytes, tail, and where it ends; None where none begins (§4)."""
    if data[at : at + 4] != b"LBBK" or len(data) < at + 21:
        return None
    kind, stored, frame, plain, crc = struct.unpack_from("<BIIII", data, at + 4)
    payload = data[at + 21 : at + 21 + stored]
    if max(stored, plain) > 64 << 20 or (frame or plain) > stored or len(payload) < stored:
        return None
    if zlib.crc32(payload, zlib.crc32(data[at + 4 : at + 17])) != crc:
        return None
    if frame == 0:
        return kind, payload[:plain], payload[plain:], at + 21 + stored
    content = decompress(payload[:frame])
    if len(content) != plain:
        raise ValueError("a frame of another size")
    return kind, content, payload[frame:], at + 21 + stored


class Found:
    """What was found, to be printed."""

    def __init__(self):
        self.next = collections.Counter()
        self.records = collections.Counter()
        self.operations = collections.defaultdict(lambda: [0, 0])
        self.definitions = collections.Counter()
        self.profiles = collections.Counter()
        self.samples, self.weights, self.next_sample = (collections.Counter() for _ in range(3))
        self.damaged = self.lost = self.crc = self.samples_lost = 0
        self.blocks = []  # as an index lists them

    def take_records(self, head, records):  # §11
        thread = head["thread"]
        fresh = records[max(0, self.next[thread] - head["first"]) :]
        if not fresh:
            return
        first = head["first"] + len(records) - len(fresh)
        self.lost += first - self.next[thread]
        self.next[thread] = first + len(fresh)
        self.records[thread] += len(fresh)
        for record in fresh:
            self.crc = zlib.crc32(RECORD.pack(*record), self.crc)
            sums = self.operations[record[9]]
            sums[0] += 1
            sums[1] += (record[1] or record[0]) - record[0]

    def take_samples(self, thread, first, lost, found):  # §9
        if first < self.next_sample[thread]:
            return
        self.samples_lost += first - self.next_sample[thread]
        self.next_sample[thread] = first + len(found)
        for sample in found:
            self.samples[thread] += 1
            self.weights[thread] += sample[4]
            self.crc = zlib.crc32(struct.pack("<QIQIQQQ", *sample), self.crc)

    def take_profile(self, b):
        head, following, _, cells, sites, iterations, _, _, totals, polls = profile(b)
        self.next[head["thread"]] = following["first"]
        self.profiles.update(records=totals[0], calls=totals[1], iterations=len(iterations), polls=polls[0])
        for (_, _, activity), (ticks, _, _, _) in cells:
            self.profiles[f"activity-{activity}"] += ticks
        for (_, _, operation, _), (_, calls, _, _) in sites:
            self.profiles[f"calls-of-{operation}"] += calls

    def take_summary(self, b):  # §12
        _, _, left_out = b.uint(), b.uint(), b.uint()
        _, _, _, cells, _, _, _, _, totals, _ = profile(b)
        self.profiles.update({"summary-records": totals[0], "summary-left-out": left_out})
        for (_, _, activity), (ticks, _, _, _) in cells:
            self.profiles[f"summary-activity-{activity}"] += ticks

    def take_index(self, b, tail, place):  # §13
        end = ticks = 0
        listed = []
        while b.rest():
            kind, gap, size, thread, first, n, begin, length = b.byte(), *(b.uint() for _ in range(7))
            at, begin = end + gap, (ticks + unzigzag(begin)) & M64
            end, ticks = at + size, (begin + length) & M64
            listed.append((kind, at, size, thread, first, n, begin, ticks))
        if tail != struct.pack("<Q8s", place, b"LBPINDEX") or end != place:
            raise ValueError("an index that does not end where it begins")
        expected, ticks = [], 0
        for kind, at, size, *held in self.blocks:
            if kind == 1 and expected and expected[-1][0] == 1:  # definitions that follow one another
                expected[-1] = (*expected[-1][:2], expected[-1][2] + size, *expected[-1][3:])
                continue
            held = (0, 0, 0, ticks, ticks) if kind == 1 else held
            expected.append((kind, at, size, *held))
            ticks = held[-1]
        if listed != expected:
            raise ValueError("an index of other blocks")

    def print(self):
        for name, counter in (
            ("records", self.records), ("samples", self.samples), ("weight", self.weights), ("definitions", self.definitions),
            ("profile", self.profiles),
        ):  # fmt: skip
            for key, n in sorted(counter.items()):
                print(name, key, n)
        for operation, (n, ticks) in sorted(self.operations.items()):
            print("operation", operation, n, ticks)
        print("damaged", self.damaged)
        print("lost", self.lost)
        print("samples-lost", self.samples_lost)
        print("crc", self.crc)


def ring(data):  # §10
    if data[:8] != b"LBPRING1" or int.from_bytes(data[8:12], "little") != 6:
        raise ValueError("not a ring")
    thread, capacity, first, previous_end = struct.unpack_from("<IIQQ", data, 24)
    records = []
    for slot in RECORD.iter_unpack(data[4096 : 4096 + 64 * capacity]):
        if slot[0] == 0:
            break
        records.append((*slot[:2], (slot[2] - 1) & M64, *slot[3:]))
    records = list(apart(records))
    return {"thread": thread, "first": first, "previous_end": previous_end}, records


def main(log, rings=None):
    data = open(log, "rb").read()
    magic, version, length, crc = struct.unpack_from("<8sHII", data)
    content = data[18 : 18 + length]
    if magic != b"LBPROFLG" or version != 6 or zlib.crc32(content, zlib.crc32(data[8:14])) != crc:
        raise ValueError("not a log")
    facts = header(Bytes(content))
    print("rank", facts["rank"], facts["n_ranks"], facts["host"], facts["clock"], facts["mode"])
    found = Found()
    at = 18 + length
    while at < len(data):
        block = block_at(data, at)
        if block is None:
            following = data.find(b"LBBK", at + 1)
            following = following if following > 0 else len(data)
            found.damaged += following - at
            at = following
            continue
        place = at
        kind, plain, tail, at = block
        held = (0, 0, 0, 0, 0)
        if kind == 1:
            b = Bytes(plain)
            while b.rest():
                one = Bytes(b.take(b.uint()))
                name, fields = DEFINITIONS.get(one.uint(), ("unknown", lambda _: ()))
                fields(one)
                found.definitions[name] += 1
        elif kind == 2:
            head, records = batch(plain, tail)
            records = list(apart(records))
            last = records[-1][1] or records[-1][0] if records else 0
            held = (head["thread"], head["first"], len(records), head["previous_end"], last)
            found.take_records(head, records)
        elif kind in (3, 5):
            b = Bytes(plain)
            if kind == 5:
                b.uint(), b.uint(), b.uint()
            head, following, *_ = profile(b)
            n = following["first"] - head["first"]
            held = (head["thread"], head["first"], n, head["previous_end"], following["previous_end"])
            (found.take_profile if kind == 3 else found.take_summary)(Bytes(plain))
        elif kind == 4:
            thread, first, lost, sampled = samples(plain, tail)
            last = sampled[-1][0] if sampled else sample_head(plain)[3]
            held = (thread, first, len(sampled), sample_head(plain)[3], last)
            found.take_samples(thread, first, lost, sampled)
        elif kind == 6:
            found.take_index(Bytes(plain), tail, place)
        found.blocks.append((kind, place, at - place, *held))
    if rings:
        found.take_records(*ring(open(rings, "rb").read()))  # §10, of the first thread
    found.print()


if __name__ == "__main__":
    main(*sys.argv[1:])
