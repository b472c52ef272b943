"""What the threads of a CTA tell each other between two phases: text for the device, and its twin for the host.

The device has `s` and its thread's number `t`, the host `s[t]` and `EACH_THREAD`. The values are members of the state.
"""

import random

Text = tuple[str, str]


def exchange(r: random.Random, fields: list[tuple[str, str]], threads: int) -> Text:
    """One of the ways that a CTA of so many threads has: those of whole warps need whole warps."""
    ways = [_shared, _shared, _atomics, _count]
    if threads % 32 == 0:
        ways += [_shuffle, _shuffle, _vote, _match, _some_lanes]
    return r.choice(ways)(r, fields, threads)


def _shared(r: random.Random, fields: list[tuple[str, str]], threads: int) -> Text:
    kind, name = r.choice(fields)
    far = r.randrange(1, threads)
    device = f"__shared__ {kind} all[{threads}]; all[t] = s.{name}; __syncthreads(); "
    device += f"s.{name} = all[(s.word + {far}u) % {threads}u]; __syncthreads();"
    host = f"{kind} all[{threads}]; EACH_THREAD all[t] = s[t].{name}; "
    host += f"EACH_THREAD s[t].{name} = all[(s[t].word + {far}u) % {threads}u];"
    return device, host


_ATOMICS = (
    *(("Add", "m + v", "0"), ("Max", "m > v ? m : v", "0"), ("Min", "m < v ? m : v", "~0")),
    *(("Xor", "m ^ v", "0"), ("Or", "m | v", "0"), ("And", "m & v", "~0")),
)


def _atomics(r: random.Random, fields: list[tuple[str, str]], threads: int) -> Text:
    """Atomics whose order does not matter, on four cells of shared memory."""
    op, code, start = r.choice(_ATOMICS)
    kind, c, shift = r.choice((("u32", "unsigned", 8), ("u64", "unsigned long long", 32)))
    given = f"({kind})s{{0}}.word * s{{0}}.row[1]"
    result = f"s{{0}}.row[t & 3] ^= (u32)m[t & 3] + (u32)(m[3 - (t & 3)] >> {shift});"
    device = f"__shared__ {c} m[4]; if (t < 4) m[t] = ({c}){start}; __syncthreads(); "
    device += f"if (s.row[0] % 3) atomic{op}(&m[s.row[2] & 3], ({c})({given.format('')})); __syncthreads(); "
    device += f"{result.format('')} __syncthreads();"
    host = f"{kind} m[4] = {{{', '.join([f'({kind}){start}'] * 4)}}}; EACH_THREAD if (s[t].row[0] % 3) {{ "
    host += f"{kind} v = {given.format('[t]')}, &o = m[s[t].row[2] & 3], m = o; o = {code}; }} "
    host += f"EACH_THREAD {result.format('[t]')}"
    return device, host


def _count(r: random.Random, fields: list[tuple[str, str]], threads: int) -> Text:
    """Barriers that count and vote."""
    bit = r.randrange(32)
    device = (
        f"s.word += __syncthreads_count(s.word >> {bit} & 1) * 77u + (__syncthreads_or(s.row[0] & 1) != 0);"
    )
    host = f"u32 n = 0, any = 0; EACH_THREAD n += s[t].word >> {bit} & 1, any |= s[t].row[0] & 1; "
    return device, f"{host}EACH_THREAD s[t].word += n * 77u + any;"


def _shuffle(r: random.Random, fields: list[tuple[str, str]], threads: int) -> Text:
    kinds = {"u32": "u32", "i32": "i32", "u64": "unsigned long long", "i64": "long long", "f64": "f64"}
    kind, name = r.choice([f for f in fields if f[0] in kinds] or [("u32", "word")])
    width, way = r.choice((32, 32, 16, 8, 4)), r.choice(("", "_up", "_down", "_xor"))
    by = {"": "s.row[1]", "_xor": str(r.randrange(32))}.get(way, f"(s.row[3] & {width - 1})")
    device = f"s.{name} = __shfl{way}_sync(~0u, ({kinds[kind]})s.{name}, {by}, {width});"
    by = by.replace("s.", "s[t].")
    source = {
        "": f"base + ({by} & {width - 1})",
        "_up": f"l < {by} ? t : t - {by}",
        "_down": f"l + {by} >= {width} ? t : t + {by}",
        "_xor": f"(t % 32 ^ {by}) / {width} > t % 32 / {width} ? t : t / 32 * 32 + (t % 32 ^ {by})",
    }[way]
    host = f"{kind} v[{threads}]; EACH_THREAD v[t] = s[t].{name}; EACH_THREAD {{ u32 l = t % {width}, base = t - l; "
    return device, f"{host}(void)l; (void)base; s[t].{name} = v[{source}]; }}"


def _vote(r: random.Random, fields: list[tuple[str, str]], threads: int) -> Text:
    device = "u32 b = __ballot_sync(~0u, s.word & 1); s.row[1] += b; "
    device += "s.word += __any_sync(~0u, s.row[0] > 5) * 3u + __all_sync(~0u, s.row[0] > 5);"
    host = "u32 b[32] = {}, some[32] = {}, all[32] = {}; EACH_THREAD { u32 w = t / 32; "
    host += "b[w] |= (s[t].word & 1) << t % 32; some[w] |= s[t].row[0] > 5; all[w] += s[t].row[0] > 5; } "
    host += "EACH_THREAD { u32 w = t / 32; s[t].row[1] += b[w]; "
    return device, f"{host}s[t].word += some[w] * 3u + (all[w] == 32); }}"


def _match(r: random.Random, fields: list[tuple[str, str]], threads: int) -> Text:
    device = "u32 m = __match_any_sync(~0u, s.word & 7); s.row[3] ^= m; int all; "
    device += "__match_all_sync(~0u, s.row[2] & 3, &all); s.word += all;"
    host = f"u32 m[{threads}] = {{}}, n[{threads}] = {{}}; EACH_THREAD for (u32 l = 0; l < 32; l++) {{ "
    host += "u32 o = t / 32 * 32 + l; m[t] |= (u32)((s[o].word & 7) == (s[t].word & 7)) << l; "
    host += "n[t] += (s[o].row[2] & 3) == (s[t].row[2] & 3); } "
    return device, f"{host}EACH_THREAD {{ s[t].row[3] ^= m[t]; s[t].word += n[t] == 32; }}"


def _some_lanes(r: random.Random, fields: list[tuple[str, str]], threads: int) -> Text:
    """A shuffle among the lanes of one side of a branch: each lane reads the next active one, wrapping around."""
    device = "u32 m = __ballot_sync(~0u, s.word & 1); if (s.word & 1) { u32 from = (s.row[1] & 31); "
    device += "u32 next = m >> from ? from + __ffs(m >> from) - 1 : __ffs(m) - 1; "
    device += "s.row[1] = __shfl_sync(m, s.row[1] + 1, next); } else s.row[1] += __popc(__activemask()) >= 1;"
    host = f"u32 m[32] = {{}}, v[{threads}]; EACH_THREAD {{ v[t] = s[t].row[1] + 1; "
    host += "m[t / 32] |= (s[t].word & 1) << t % 32; } "
    host += "EACH_THREAD if (s[t].word & 1) { u32 b = m[t / 32], from = s[t].row[1] & 31; "
    host += "u32 next = b >> from ? from + ffs32(b >> from) - 1 : ffs32(b) - 1; "
    return device, f"{host}s[t].row[1] = v[t / 32 * 32 + next]; }} else s[t].row[1] += 1;"
