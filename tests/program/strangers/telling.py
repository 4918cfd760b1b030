"""Functions that would notice a value where a trace has a plain number, or another value."""

import math, operator, copy, itertools, statistics, contextlib
import numpy as np, retrograde as rg


def label_of(x, y):
    k = x if x > 0 else 2.0
    try:
        n = 1.0 if k.label is None else 3.0
    except AttributeError:
        n = 5.0
    return y * n


def op_of(x, y):
    z = x * y
    if x > 0:
        z = x + y
    return z * (2.0 if z.op == "add" else 3.0)


def class_of(x, y):
    k = x if x > 0 else 2.0
    return y * (2.0 if k.__class__ is float else 3.0)


def memo_values(x, y):
    memo = {}

    def g(v):
        if v not in memo:
            memo[v] = v * v
        return memo[v]

    z = x if x > 0 else y
    return g(z) + g(x) + len(memo)


def set_of_values(x, y):
    z = x if x > 0 else y
    return x * len({x, y, z})


def set_call(x, y):
    z = x if x > 0 else y
    return x * len(set([x, y, z]))


def tuple_key(x, y):
    z = 1 if x > 0 else 2
    d = {(1, 0): x, (2, 0): y}
    return d.get((z, 0), x * y)


def default_dict(x, y):
    from collections import defaultdict

    d = defaultdict(float)
    z = 1 if x > 0 else 2
    d[z] = d[z] + 1.0
    return x * d[1] + y * d[2]


def key_error(x, y):
    z = 1 if x > 0 else 2
    try:
        return {1: x}[z]
    except KeyError:
        return y


def broad_except(x, y):
    z = 1 if x > 0 else 2
    try:
        w = [x, y, x * y][z]
    except Exception:
        w = x - y
    return w


def broad_except_side(x, y):
    try:
        if x > 0:
            z = math.floor(x)
        else:
            z = 2.0
    except Exception:
        z = 7.0
    return z * y


def suppress(x, y):
    z = 1
    with contextlib.suppress(Exception):
        if x > 0:
            z = int("no")
    return y * z


def percent_text(x, y):
    k = 1 if x > 0 else 22
    return x * len("%s" % k) + y


def text_join(x, y):
    k = "a" if x > 0 else "bb"
    return x * len("".join([k, k])) + y


def index_of(x, y):
    k = 1.0 if x > 0 else 2.0
    return [3.0, 2.0, 1.0].index(k) * y + x


def count_of(x, y):
    k = 1.0 if x > 0 else 2.0
    return [1.0, 2.0, 2.0].count(k) * y + x


def bool_index(x, y):
    return (x, y)[x > y] * 2


def bool_key(x, y):
    return {True: x, False: y}[x > y] * 2


def negative_mul(x, y):
    k = 1.0 if x > 0 else 2.0
    z = (k == 1.0) * -1
    return rg.where(y > 0, x, y) + (1.0 if str(z) == "0" else 2.0)


def neg_zero_flag(x, y):
    k = 1.0 if x > 0 else 2.0
    z = (k == 1.0) * -1
    return (
        y * math.copysign(1.0, z)
        if False
        else rg.copysign(y, z + 0.0 * y)
        if hasattr(rg, "copysign")
        else y * z
    )


def inverse_zero(x, y):
    k = 1.0 if x > 0 else 2.0
    z = (k == 1.0) * -1
    return 1.0 / (z * (y * 0.0 + 1.0))


def invert_flag(x, y):
    up = True if x > 0 else False
    try:
        n = ~up
    except Exception:
        n = 9
    return n * y


def identity(x, y):
    z = x if x > 0 else y
    return z * 2 if z is x else z * 3


def chained_is(x, y):
    z = None
    if x > 0:
        z = y
    return y if z is None else z * x


def sum_start(x, y):
    return sum((v for v in (x, y) if v > 0), start=y)


def zip_sides(x, y):
    a = (x, 1.0) if x > 0 else (y, 2.0)
    return sum(u * v for u, v in zip(a, (y, x)))


def enumerate_break(x, y):
    for i, v in enumerate((x, y, x * y, 5.0)):
        if v > 0.3:
            break
    return v * i


def while_else(x, y):
    n = 0
    while n < 3:
        if x > n:
            break
        n += 1
    else:
        return y
    return x * n


def nested_def(x, y):
    def outer(a):
        def inner(b):
            if b > a:
                b = b - a
            return b

        return inner(y) + inner(a * 2)

    return outer(x)


def nested_cond_exp(x, y):
    return (x if x > 0 else (y if y > 0 else x * y if x > y else -x)) * (
        1 if x > y else 2 if y > 1 else 3
    )


def double_neg(x, y):
    return x if not (not (x > 0 or y > 0) and not x < -1) else y


def cmp_flags(x, y):
    f = x > 0
    g = y > 0
    return x if f == g else y if f else x * y


def flag_lt(x, y):
    f = True if x > 0 else False
    g = False if y > 0.5 else True
    return x * (f < g) + y * (f >= g)


def flag_sum(x, y):
    n = 0
    for v in (x, y, x * y, x - y):
        n += v > 0
    return n * x


def flag_sum_plain(x, y):
    f = [False, False]
    a = True if x > 0 else False
    b = True if y > 0 else False
    return x * (a + b) - y * (a * b) + (a - b)


def flag_product(x, y):
    a = True if x > 0 else False
    return x * (a * 3) + (a and y or x)


def and_or(x, y):
    return (x > 0 and y) or x


def or_chain(x, y):
    return 0.0 or x or y


def or_zero(x, y):
    k = 0 if x > 0 else 3
    return (k or 5) * y


def and_number(x, y):
    k = 0 if x > 0 else 3
    return (k and y) + x


def not_number(x, y):
    k = 0 if x > 0 else 3
    return x if not k else y


def if_number(x, y):
    k = 0.0 if x > 0 else 3.0
    if k:
        x = x * k
    return x + y


def compare_numbers(x, y):
    k = 1 if x > 0 else 3
    m = 2 if y > 0 else 0
    return x if k > m else y


def number_chain(x, y):
    k = 1 if x > 0 else 3
    m = 2 if y > 0 else 0
    return x if 0 < m < k else y if k <= m else x * y


def sum_numbers(x, y):
    k = 1 if x > 0 else 3
    return sum([k, 2, 3]) * y


def minmax_numbers(x, y):
    k = 1 if x > 0 else 3
    return max(k, 2) * y + min(k, 2.5) * x + abs(k - 2) * x


def float_zero(x, y):
    k = 0.0 if x > 0 else -0.0
    return y * k + abs(k) * x + (k + 0.0) * y


def mul_zero(x, y):
    k = 0 if x > 0 else 1
    return (k * -1.0) * y + (-k) * x


def sub_same(x, y):
    k = 2 if x > 0 else 1
    return (k - k) * y + x


def div_number(x, y):
    k = 2 if x > 0 else 1
    return y / k + k / (abs(y) + 1)


def div_numbers(x, y):
    k = 2 if x > 0 else 4
    return y * (1 / k)


def pow_number(x, y):
    k = 2 if x > 0 else 3
    return (abs(y) + 1) ** k


def pow_base(x, y):
    k = 2 if x > 0 else 3
    return k**y


def big_int(x, y):
    k = 2**53 if x > 0 else 2**53 + 1
    return y * (k - 2**53)


def grow_int(x, y):
    k = 3 if x > 0 else 5
    for _ in range(40):
        k = k + k + 1
    return y * (k + 1)


def numpy_scalar(x, y):
    k = np.float64(2.0) if x > 0 else 3.0
    return y * k


def numpy_ints(x, y):
    k = np.int64(2) if x > 0 else np.int64(3)
    return y * k


def numpy_array_side(x, y):
    a = np.array([1.0, 2.0])
    if x > 0:
        a = a * 2
    return x * a[0] + y * a[1]


def numpy_of_numbers(x, y):
    k = 1.0 if x > 0 else 3.0
    return y * np.sum([k, 0.1, 0.2, 0.3, 0.7, 1e17, -1e17, 3.0, 0.9])


def inplace_list(x, y):
    a = [x, y]
    if x > 0:
        a[0] = y
    return a[0] * 2 + a[1]


def inplace_array(x, y):
    a = np.array([1.0, 2.0])
    if x > 0:
        a[0] = 5.0
    return x * a[0] + y


def inplace_plus(x, y):
    a = [x]
    if x > 0:
        a += [y]
    return sum(a)


def copied(x, y):
    a = [x, y]
    b = a[:]
    if x > 0:
        b = b + [x * y]
    return sum(b) + len(a)


def list_lengths(x, y):
    a = [x] if x > 0 else [x, y]
    return sum(a) * len(a)


def list_same_length(x, y):
    a = [x, y] if x > 0 else [y, x * y]
    return a[0] * 2 + a[1]


def shared_alias(x, y):
    a = [x, y]
    b = a
    if x > 0:
        b = [y, y]
    b[0] = 1.0
    return a[0] * 3 + b[1]


def string_state(x, y):
    s = ""
    for v in (x, y):
        s += "p" if v > 0 else "n"
    return {"pp": x, "pn": y, "np": x * y, "nn": x - y}[s]


def tuple_state(x, y):
    st = (0, x)
    for _ in range(3):
        n, v = st
        st = (n + 1, v * 0.5) if v > 0.2 else (n, v + 0.1)
    return st[0] * y + st[1]


def tuple_lengths(x, y):
    t = (x,) if x > 0 else (x, y)
    return sum(t)


def nested_tuple_state(x, y):
    s = ((x, y), 0)
    for _ in range(2):
        (a, b), n = s
        if a > b:
            s = ((b, a * 0.5), n + 1)
    return s[0][0] + s[0][1] * 2 + s[1]


def swap_loop(x, y):
    for _ in range(3):
        if x < y:
            x, y = y, x - 0.3
    return x * 2 - y


def late_binding(x, y):
    fs = []
    for i in range(3):
        fs.append(lambda v, i=i: v * i if v > 0 else v - i)
    return sum(f(x) for f in fs) + fs[1](y)


def reads_after_loop(x, y):
    for i in range(3):
        if x > i:
            last = i
        else:
            last = -1
    return last * y + x


def side_calls_side(x, y):
    def g(v):
        if v > 0.5:
            w = v * v
        else:
            w = v
        return w

    if x > 0:
        y = g(x) + g(y)
    else:
        y = g(y)
    return y


def returns_in_helper(x, y):
    def g(v):
        if v > 0.5:
            return v * v
        return v

    if x > 0:
        y = g(x) + g(y)
    return y + g(x)


def returns_none_helper(x, y):
    def g(v):
        if v > 0.5:
            return v

    r = g(x)
    return y if r is None else r * y


def default_mutable(x, y, acc=[]):
    z = x if x > 0 else y
    return z + len(acc)


def kwonly(x, y):
    def g(*, a, b):
        return a if a > b else b

    return g(a=x, b=y)


def dict_kwargs(x, y):
    def g(a=0.0, b=1.0):
        return a * 2 if b > 0 else a

    return g(**{"a": x, "b": y}) + g(*(y, x))


def operator_module(x, y):
    op = operator.add if x > 0 else operator.mul
    return op(x, y)


def itertools_use(x, y):
    t = 0.0
    for a, b in itertools.product((x, y), repeat=2):
        if a > b:
            t = t + a - b
    return t + x * 0


def statistics_use(x, y):
    z = x if x > 0 else y
    return statistics.fmean([1.0, 2.0]) * z


def deep_copy(x, y):
    s = copy.copy([x, y])
    z = x if x > 0 else y
    return s[0] + z


def random_use(x, y):
    import random

    r = random.Random(3)
    k = r.random()
    return (x if x > 0 else y) * k


def global_counter(x, y):
    global _COUNT
    _COUNT = 1
    return x if x > 0 else y


_COUNT = 0


def import_inside(x, y):
    import math as m

    return m.pi * (x if x > 0 else y)


def class_inside(x, y):
    class P:
        def __init__(self, v):
            self.v = v

        def pos(self):
            return self.v if self.v > 0 else -self.v

    return P(x).pos() + P(y).pos()


def operator_class(x, y):
    class D:
        def __init__(self, v):
            self.v = v

        def __add__(self, o):
            return D(self.v + o.v if self.v > 0 else o.v)

    return (D(x) + D(y)).v


def grad_inside(x, y):
    z = rg.grad(lambda t: t * t if t > 0 else t)(x)
    return z * y


def compiled_inside(x, y):
    g = rg.compile(lambda t: t * t if t > 0 else t)
    return g(x) + y


def custom_inside(x, y):
    @rg.custom
    def cube(v):
        return v * v * v

    return (cube(x) if x > 0 else x) * y


def vector(x, y):
    v = rg.sum([x if x > 0 else y, y, x * y])
    return v * rg.dot([x, y], [y, 1.0 if y > 0 else 2.0])


def softmaxed(x, y):
    p = rg.softmax([x if x > 0 else y, y, 0.1])
    return p[0] * x + p[1]


def logsum(x, y):
    a = [x if x > 0 else 0.5, 0.2]
    return rg.logsumexp(a) * y


def mean_numbers(x, y):
    a = [1.0 if x > 0 else 0.5, 0.2]
    return rg.mean(a) * y


def take_index(x, y):
    k = 0 if x > 0 else 1
    return rg.take([x, y, 1.0], k) if hasattr(rg, "take") else x
