"""Classes, closures, decorators, and numbers that a branch decides."""

from .common import *

Point = namedtuple("Point", "a b")


def named_tuple(x, y):
    p = Point(x, y)
    if p.a > p.b:
        p = Point(p.b, p.a)
    return p.a * 2 + p.b


def named_replace(x, y):
    p = Point(x, y)
    if x > 0:
        p = p._replace(a=p.a * 2)
    return p.a - p.b


@dataclass
class Car:
    pos: Any
    speed: Any

    def step(self, u):
        self.speed = self.speed + 0.1 * u
        if self.speed > 1.0:
            self.speed = 1.0 + 0.0 * self.speed
        self.pos = self.pos + 0.1 * self.speed


def dataclass_car(x, y):
    car = Car(x, y)
    for i in range(4):
        car.step(1.0 if car.pos < 0.5 else -1.0)
    return car.pos * car.speed


@dataclass(frozen=True)
class Frozen:
    a: Any
    b: Any

    def moved(self):
        return Frozen(self.b, self.a) if self.a > self.b else self


def frozen(x, y):
    f = Frozen(x, y).moved()
    return f.a * 3 + f.b


class Model:
    scale = 1.5

    def __init__(self, k):
        self.k = k
        self.calls = 0

    @property
    def doubled(self):
        return self.k * 2.0

    @staticmethod
    def clip(v, lo=-1.0, hi=1.0):
        return lo if v < lo else hi if v > hi else v

    @classmethod
    def scaled(cls, v):
        return v * cls.scale if v > 0 else v / cls.scale

    def forward(self, v):
        return self.clip(self.scaled(v) + self.k)

    def __call__(self, v):
        return self.forward(v) * self.doubled

    def counted(self, v):
        self.calls += 1
        return v if v > 0 else -v


MODEL = Model(0.4)


def with_methods(x, y):
    return MODEL(x) + MODEL.forward(y) * x


def with_counter(x, y):
    return MODEL.counted(x) + y


class Base:
    def f(self, v):
        return v * 2 if v > 0 else v


class Derived(Base):
    def f(self, v):
        r = super().f(v)
        return r if r < 1 else r * r


DERIVED = Derived()


def inherited(x, y):
    return DERIVED.f(x) + DERIVED.f(y)


def recursive(v, n):
    if n == 0:
        return v
    return recursive(v * 0.5 + 0.3 if v > 0 else -v, n - 1)


def recursion(x, y):
    return recursive(x, 5) + recursive(y, 3)


def recursion_value(x, y):
    def down(v, depth=0):
        if v < 0.3 or depth > 8:
            return v
        return down(v * 0.6, depth + 1)

    return down(x) * y


def closure(x, y):
    k = x * 2.0

    def inner(v):
        nonlocal k
        if v > 0:
            k = k + v
        return k * v

    return inner(y) + inner(x)


def default_args(x, y):
    def g(v, low=0.25, *, high=0.75):
        return min(max(v, low), high)

    return g(x) + g(y, high=1.5) * g(x * y, -1)


def star_args(x, y):
    def total(*vs, scale=1.0):
        t = 0.0
        for v in vs:
            if v > 0:
                t = t + v * scale
        return t

    return total(x, y, x * y, scale=2.0) + total(*[x, y]) + x * 0


def lambdas(x, y):
    pos = lambda v: v if v > 0 else 0.0
    neg = lambda v: (0.0 if v > 0 else v) * 2
    return pos(x) * y + neg(y) - (lambda v: abs(v) if v < y else v)(x)


def decorated(f):
    @wraps(f)
    def g(v):
        r = f(v)
        return r if r > 0.1 else r * 0.1

    return g


@decorated
def wrapped(v):
    return v * v - 0.5 if v > 0 else v


def with_decorator(x, y):
    return wrapped(x) * y


@lru_cache(maxsize=None)
def cached(n):
    return 1.0 if n < 2 else cached(n - 1) + cached(n - 2)


def with_cache(x, y):
    return (x if x > 0 else y) * cached(6)


def partials(x, y):
    clip = partial(Model.clip, lo=-0.5)
    return clip(x) + partial(Model.clip, hi=0.2)(y)


def generator_helper(x, y):
    def gen():
        v = x
        for _ in range(4):
            yield v
            v = v * 0.5 if v > 0.2 else v + 0.1

    return sum(gen()) + y


def accumulates(x, y):
    total = list(accumulate([x, y, x * y], lambda a, b: a + b if b > 0 else a))
    return total[-1]


def maps(x, y):
    return sum(map(lambda v: v if v > 0 else -v, [x, y])) + max(map(abs, [x, y, 0.3]))


def key_functions(x, y):
    best = max([x, y, x * y], key=lambda v: v * v)
    return best + min((x, y), default=0.0)


def formatted(x, y):
    name = f"{'pos' if x > 0 else 'neg'}"
    return x * len(name) + (y if name == "pos" else -y)


def int_index(x, y):
    i = 0
    if x > 0:
        i = 1
    if y > 0:
        i += 1
    return [x, y, x * y][i]


def int_range(x, y):
    n = 2
    if x > 0:
        n = 4
    t = y * 0.0
    for i in range(n):
        t = t + x * i
    return t


def int_power(x, y):
    n = 1 if x > 0 else 2
    return (y + 3.0) ** n + 2.0**n


def int_division(x, y):
    n = 3 if x > 0 else 4
    return y * (n // 2) + x * (n % 3) + x / n


def negative_zero(x, y):
    z = 0 if x > 0 else -0.0
    return rg.where(x > 0, x, y) * z + 1.0 / (y * y + 1.0 + z)


def whole_numbers(x, y):
    n = 0
    for v in (x, y, x * y):
        if v > 0:
            n = n + 1
        else:
            n = -n
    return n * x - n


def infinite(x, y):
    best = math.inf
    for v in (x, y, x - y):
        if v < best:
            best = v
    return best


def inf_side(x, y):
    z = math.inf
    if x > 0:
        z = x
    return min(z, 10.0) + y


def nan_side(x, y):
    z = math.nan
    if x > -1:
        z = x
    return z * y


def zero_times(x, y):
    return (rg.log(x) if x > 0 else 0.0) * y + (1 / x if x > 0.5 else x)


def steep(x, y):
    return rg.sqrt(x) * y if x > 0 else y


def power_sides(x, y):
    return x**0.5 if x > 0 else (-x) ** 1.5 + y


def abs_chain(x, y):
    return abs(abs(x) - abs(y)) + abs(x * abs(y))


def minmax(x, y):
    return (
        max(min(x, y), -0.5, x * y, key=None)
        if False
        else max(min(x, y), -0.5, x * y) - min([x, y, 0.1])
    )


def equal_compare(x, y):
    if x == 0.0:
        return y
    if x != y:
        x = x / y if y != 0 else x
    return x * y


def ints_and_floats(x, y):
    t = 0
    if x > 0:
        t = 1.0
    if y > 0:
        t = t + x
    return t * y + x * 0


def same_name(x, y):
    if x > 0:
        x = x
    else:
        x = x
    return x * y


def same_value_both(x, y):
    z = x * y
    w = z if x > 0 else z
    return w + z


def returns_argument(x, y):
    return x if x > y else y


def returns_constant(x, y):
    return 1.0 if x > y else 2.0 + 0.0 * x


def returns_constants(x, y):
    z = 1.0 if x > y else 2.0
    return z


def returns_tuple(x, y):
    if x > 0:
        x, y = y, x
    return x * 2.0, y - 1.0


def returns_dict(x, y):
    d = {"a": x, "b": y}
    if x > 0:
        d = {"a": y, "b": x * x}
    return d


def returns_dict_item(x, y):
    z = x * x if x > 0 else y
    return {"a": z, "b": [z, x + z]}


def returns_flag(x, y):
    alive = True
    if x > 0:
        alive = False
    return x * y + alive


def global_weight(x, y):
    z = WEIGHT * x
    if z > BIAS:
        z = z + BIAS * y
    else:
        z = z * WEIGHT
    return z


def captured_side(x, y):
    return (WEIGHT if x > 0 else BIAS) * y


def captured_mixed(x, y):
    k = WEIGHT if x > 0 else 2.0
    return k * y + BIAS


def detach_side(x, y):
    z = x.detach() * y if x > 0 else x * y
    return z * x


def no_grad_side(x, y):
    if x > 0:
        with rg.no_grad():
            z = x * y
    else:
        z = x + y
    return z * x
