"""Generators for scripts/red_team.py of kernels in the classes that judges were blind to.

A generator gets (rng, candidate) and returns a source, or None where the candidate has no place for it. What it makes is
wrong by construction (WRONG), or as right as the candidate was (RIGHT). Where only the machine of `cpu` can tell, it sets
candidate.hidden_from_gpus.
"""
import re

SIZES = [33, 64, 100, 300]


def changed_once(rng, text, pattern, change):
    matches = list(re.finditer(pattern, text))
    if not matches:
        return None
    match = rng.choice(matches)
    return text[:match.start()] + change(match) + text[match.end():]


def sizes_in_scope(candidate):
    """Integer parameters that every kernel of the source has, so that a condition may use them anywhere."""
    heads = re.findall(r"__global__[^;{]*\(([^{]*)\)\s*\{", candidate.source)
    names = [set(re.findall(r"\bint (\w+)\s*(?=[,)]|$)", head)) for head in heads]
    return sorted(set.intersection(*names) & candidate.task.sizes) if names else []


# Reads of memory that nobody wrote.

def unset_accumulator(rng, c):
    """`float acc = 0; … acc += x` without the start."""
    c.hidden_from_gpus = True  # registers have no value that a GPU's judge could choose
    accumulators = [m for m in re.finditer(r"\b(float|int|double) (\w+) = [^;,(]+;", c.source)
                    if re.search(rf"\b{m[2]} \+= |\b{m[2]} = fmaxf\({m[2]},", c.source[m.end():])]
    if not accumulators:
        return None
    m = rng.choice(accumulators)
    return c.source[:m.start()] + f"{m[1]} {m[2]};" + c.source[m.end():]


def output_read_before_written(rng, c):
    """`y[i] = v` as the maximum with what stood there."""
    if not c.task.floating or set(c.task.inputs) & set(c.task.outputs):
        return None
    names = "|".join(map(re.escape, c.task.outputs))
    return changed_once(rng, c.source, rf"\b((?:{names})\[[^\];]*\]) = ([^;=]+);",
                        lambda m: f"{m[1]} = fmaxf({m[1]}, {m[2]});")


def written_unless_equal(rng, c):
    """Stores only where memory holds another value, which it has to read for that."""
    c.hidden_from_gpus = True
    names = "|".join(map(re.escape, c.task.outputs))
    return changed_once(rng, c.source, rf"\b((?:{names})\[[^\];]*\]) = ([^;=]+);",
                        lambda m: f"if ({m[1]} != ({m[2]})) {m[1]} = {m[2]};")


def shared_word_unset(rng, c):
    """Every kernel adds the words of a block in shared memory that nobody has zeroed, and its first output depends on it."""
    c.hidden_from_gpus = True
    names = "|".join(map(re.escape, c.task.outputs))
    kernel = re.search(r"__global__[^;{]*\([^{]*\)\s*\{", c.source)
    if not kernel or not re.search(rf"\b(?:{names})\[", c.source) or not c.task.floating:
        return None
    source = c.source[:kernel.end()] + " __shared__ int red_team; atomicAdd(&red_team, 1); " + c.source[kernel.end():]
    return changed_once(rng, source, rf"\b((?:{names})\[[^\];]*\]) = ([^;=]+);",
                        lambda m: f"{m[1]} = red_team > 5000 ? 0.0f : ({m[2]});")


# Shortcuts where the judge's usual inputs do not look.

def no_maximum_if_wide(rng, c):
    """The maximum that is subtracted in an exponential is left out from a size on."""
    sizes = sizes_in_scope(c)
    if not sizes or not re.search(r"softmax|attention|cross_entropy|kl_div", c.task.id) or "softcap" in c.task.id:
        return None
    size, least = rng.choice(sizes), rng.choice(SIZES)
    source = re.sub(r"expf\(([^;()]*(?:\([^()]*\)[^;()]*)*?) - (m\w*)\)", lambda m: f"expf({m[1]} - ({size} >= {least} ? 0.0f : {m[2]}))", c.source)
    return source if source != c.source else None


def no_epsilon_if_wide(rng, c):
    sizes = sizes_in_scope(c)
    if not sizes:
        return None
    size, least = rng.choice(sizes), rng.choice(SIZES)
    return changed_once(rng, c.source, r"\+ (1e-\d+f)(?=\))", lambda m: f"+ ({size} >= {least} ? 0.0f : {m[1]})")


def no_epsilon(rng, c):
    return changed_once(rng, c.source, r"\+ (1e-\d+f)(?=\))", lambda m: rng.choice(["", f"+ {m[1]} * 300.0f"]))


def maximum_starts_too_high(rng, c):
    if "softcap" in c.task.id:  # its values are small, so that any shift is right
        return None
    start = rng.choice(["-5.0f", "-1.0f", "0.0f", "-100.0f"])
    return changed_once(rng, c.source, r"\b(float (\w+) = )-INFINITY;(?=[^{}]*\b\2 = fmaxf\(\2,)", lambda m: f"{m[1]}{start};")


def last_of_ties(rng, c):
    if "argmax" not in c.task.id:
        return None
    return changed_once(rng, c.source, r"(?<=\]) > (?=\w+\[)", lambda m: " >= ")


def last_bit_lost(rng, c):
    """A copy that is not exact."""
    if c.task.id not in ("transpose", "gather_rows", "sort_rows", "row_max", "max_pool2d", "total_max"):
        return None
    names = "|".join(map(re.escape, c.task.outputs))
    return changed_once(rng, c.source, rf"\b((?:{names})\[[^;=]*\]) = ([^;=]+);",
                        lambda m: f"{m[1]} = __uint_as_float(__float_as_uint({m[2]}) & ~1u);")


APPROXIMATIONS = {
    "tanhf": '__device__ float red_team_f(float x) { float y; asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }\n',
    "expf": "#include <cuda_fp16.h>\n__device__ float red_team_f(float x) { return x < -8.0f ? expf(x) : __half2float(hexp(__float2half(x))); }\n"}


def approximate_function(rng, c):
    """A function of 10 bits, where tasks allow 1e-5."""
    used = [name for name in APPROXIMATIONS if re.search(rf"(?<!\w){name}\(", c.source)]
    if not used or not c.task.floating:
        return None
    name = rng.choice(used)
    lines = c.source.splitlines(True)
    body = next(k for k, line in enumerate(lines) if not line.lstrip().startswith("//") and line.strip())
    text = "".join(lines[body:])
    return "".join(lines[:body]) + APPROXIMATIONS[name] + re.sub(rf"(?<!\w){name}\(", "red_team_f(", text)


# Text that compilers and checkers read differently.

BLANKS = [" ", "\t", "\v", "\f", " \t"]
FORBIDDEN = ['#include "/etc/passwd"', "#if __has_include(</etc/passwd>)\n#endif", '#pragma GCC poison float',
             "#define threadIdx blockIdx", "const char* red_team_name = __FILE__;", '__device__ const char red_team_time[] = __TIME__;']


def hidden_behind_a_splice(rng, c):
    """A line of code that a reader who splices too eagerly takes for a part of the comment above it."""
    return f"// red team \\{rng.choice(BLANKS)}\n{rng.choice(FORBIDDEN)}\n{c.source}"


# Caches that outlast a launch.

def hint(policy):
    return f'{{ .reg .b64 p; {policy} .reg .b32 v; ld.global.L2::cache_hint.b32 v, [%0], p; }}'


POLICIES = [hint("createpolicy.fractional.L2::evict_last.b64 p, 1.0;"), hint("mov.b64 p, 0x14f0000000000000;"),
            hint("createpolicy.fractional.L2::evict_first.b64 p, 1.0; xor.b64 p, p, 0x0600000000000000;"),
            "prefetch.global.L2::evict_last [%0];"]


def keeps_lines_in_the_cache(rng, c):
    policy = rng.choice(POLICIES)
    return changed_once(rng, c.source, r"__global__[^;{(]*\(\s*const [\w ]+\*(?: __restrict__)? (\w+)[^;{]*\)\s*\{",
                        lambda m: f"""{m[0]} asm volatile("{policy}" :: "l"((size_t){m[1]} & ~127ull) : "memory");""")


# Order: sums by the block that comes last, right and wrong.

TICKET = """// @scratch parts float[ceil_div(n, 256)]
// @scratch ticket int[1]
// @launch zero<<<1, 1>>>(ticket)
// @launch sums<<<ceil_div(n, 256), 256{dynamic}>>>(x, y, parts, ticket, n)
__global__ void zero(int* ticket) {{ *ticket = 0; }}
__global__ void sums(const float* x, float* y, float* parts, int* ticket, int n) {{
  __shared__ float s[256];
  __shared__ bool last;
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int step = 128; step > 0; step /= 2) {{
    if (t < step) s[t] += s[t + step];
    __syncthreads();
  }}
  if (t == 0) {{
    {publish}
  }}
  {meet}
  if (!last) return;
  {acquire}
  float sum = 0.0f;
  for (int b = t; b < gridDim.x; b += 256) sum += {read};
  s[t] = sum;
  __syncthreads();
  for (int step = 128; step > 0; step /= 2) {{
    if (t < step) s[t] += s[t + step];
    __syncthreads();
  }}
  if (t == 0) y[0] = s[0];
}}
"""
STORE, FENCE, COUNT = "parts[blockIdx.x] = s[0];", "__threadfence();", "last = atomicAdd(ticket, 1) == (int)gridDim.x - 1;"
RIGHT_TICKET = dict(publish=f"{STORE} {FENCE} {COUNT}", meet="__syncthreads();", acquire=FENCE, read="parts[b]", dynamic="")


def ticket(**changes):
    return TICKET.format(**{**RIGHT_TICKET, **changes})


def wrong_ticket(rng, c):
    """The fence on the wrong side, too weak, or none; no barrier; a read that may be of an old line."""
    if c.task.id != "total_sum":
        return None
    c.hidden_from_gpus = True
    return ticket(**rng.choice([{"publish": f"{STORE} {COUNT} {FENCE}"}, {"publish": f"{FENCE} {STORE} {COUNT}"}, {"publish": f"{STORE} {COUNT}"},
                                {"publish": f"{STORE} __threadfence_block(); {COUNT}"}, {"acquire": ""}, {"acquire": "__threadfence_block();"},
                                {"meet": ""}, {"meet": "__syncwarp();"}, {"read": "__ldg(parts + b)"}]))


def right_ticket(rng, c):
    if c.task.id != "total_sum":
        return None
    return ticket(**rng.choice([{}, {"read": "__ldcg(parts + b)"}, {"read": "*(volatile float*)(parts + b)"}, {"meet": "__syncthreads(); __syncthreads();"}]))


# Blocks that wait for blocks for which there is no room.

WAITS = """// @scratch arrived int[1]
// @launch zero<<<1, 1>>>(arrived)
// @launch wait_for_all<<<ceil_div({n}, {each}), {threads}, {shared}>>>(arrived)
__global__ void zero(int* arrived) {{ *arrived = 0; }}
__global__ void wait_for_all(int* arrived) {{
  if (threadIdx.x == 0) {{
    atomicAdd(arrived, 1);
    while (atomicAdd(arrived, 0) < (int)gridDim.x) {{}}
  }}
  __syncthreads();
}}
"""


def waits_for_absent_blocks(rng, c):
    """A barrier over more blocks than any GPU has at a time, before the right launches."""
    axes = sorted(c.task.sizes)
    if len(axes) != 1 or "@scratch" in c.source or "zero" in c.source:
        return None
    c.hidden_from_gpus = True  # at their sizes a launch takes longer than evaluations should
    head = WAITS.format(n=axes[0], each=rng.choice([8, 16]), threads=rng.choice([512, 1024]), shared=rng.choice([32768, 40960]))
    directives, code = head.split("__global__", 1)
    return directives + c.source + "__global__" + code


def all_blocks_fit(rng, c):
    """The same barrier over two blocks."""
    axes = sorted(c.task.sizes)
    if len(axes) != 1 or "@scratch" in c.source or "zero" in c.source:
        return None
    head = WAITS.format(n=2, each=1, threads=64, shared=0)
    directives, code = head.split("__global__", 1)
    return directives + c.source + "__global__" + code


WRONG = [unset_accumulator, output_read_before_written, written_unless_equal, shared_word_unset, no_maximum_if_wide, no_epsilon_if_wide, no_epsilon,
         maximum_starts_too_high, last_of_ties, last_bit_lost, approximate_function, hidden_behind_a_splice, keeps_lines_in_the_cache, wrong_ticket,
         waits_for_absent_blocks]
RIGHT = [right_ticket, all_blocks_fit]
