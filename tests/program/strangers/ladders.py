"""Ladders of elif, loops in sides, and things picked by a branch."""

from .common import *


def numpy_funcs(x, y):
    z = np.exp(x) if x < 1 else np.tanh(x)
    return np.maximum(z, y) + np.sqrt(abs(y))


def math_funcs(x, y):
    n = 2 if x > 0 else 3
    return x * math.sqrt(n) + y


def rounding(x, y):
    k = 1.6 if x > 0 else 2.4
    return round(k) * y + int(k) * x


def isinstance_check(x, y):
    z = 0.0
    if x > 0:
        z = y
    return z if isinstance(z, float) else z * 2


def type_check(x, y):
    z = 1 if x > 0 else y
    return y * 2 if type(z) is int else z


def contains(x, y):
    k = 1 if x > 0 else 2
    return x * 3 if k in (1, 5) else y


def stringify(x, y):
    k = 1 if x > 0 else 2
    return x * len(str(k)) + (y if str(k) == "1" else 0.0)


def formatted_number(x, y):
    k = 1.0 if x > 0 else 10.0
    return x * len(f"{k}") + y


def hash_key(x, y):
    k = 1 if x > 0 else 2
    return {1: x, 2: y}[k]


def dict_get(x, y):
    k = 1 if x > 0 else 2
    return {1: x * y}.get(k, y)


def slice_by(x, y):
    n = 1 if x > 0 else 3
    return sum([x, y, x * y][:n])


def multiply_list(x, y):
    n = 1 if x > 0 else 3
    return sum([x] * n) + y


def elif_ladder(x, y):
    if x < -1.5:
        r = 0.1 * x
    elif x < -0.5:
        r = 0.2 * x * x
    elif x < 0.5:
        r = 0.3 * rg.sin(x)
    elif x < 1.5:
        r = 0.4 * rg.exp(y)
    else:
        r = 0.5 / x
    return r * y


def nested_loops(x, y):
    for i in range(3):
        for j in range(3):
            if x > i * y:
                x = x - 0.1 * j
            elif y > x * j:
                y = y * 0.9
    return x * y


def loop_var_after(x, y):
    for i in range(4):
        if x > 1:
            x = x * 0.8
    return x * i + y


def inner_loop_in_side(x, y):
    if x > 0:
        for i in range(3):
            x = x * 0.9 + 0.01 * i
            if x > y:
                y = y + 0.1
    return x * y


def break_in_side(x, y):
    if x > 0:
        for i in range(5):
            x = x * 0.7
            if x < 0.3:
                break
    return x * y + 0.0


def assert_side(x, y):
    if x > 0:
        assert y == y or True
        x = x + y
    return x


def assert_value(x, y):
    assert (x > 0) or True, "fine"
    return x if x > y else y


def pass_side(x, y):
    if x > 0:
        pass
    else:
        x = -x
    return x + y


def docstring_side(x, y):
    if x > 0:
        "a remark"
        x = 2 * x
    return x + y


def typed(x, y):
    z: float = 0.0
    if x > 0:
        z: float = x * y
    return z + y


def conditional_function(x, y):
    f = rg.sin if x > 0 else rg.cos
    return f(y)


def conditional_lambda(x, y):
    f = (lambda v: v * 2) if x > 0 else (lambda v: v - 1)
    return f(y)


def conditional_tuple(x, y):
    a, b = (x, y) if x > y else (y, x)
    return a * 2 + b


def conditional_nested_tuple(x, y):
    (a, b), c = ((x, 1.0), y) if x > 0 else ((y, 2.0), x)
    return a * b + c


def conditional_starred(x, y):
    a, *rest = (x, y, 1.0) if x > 0 else (y, x, 2.0)
    return a + sum(rest)
