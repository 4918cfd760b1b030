import math


class Var:
    def __init__(self, val, name=None, parents=(), grad_fn=None):
        self.val = float(val)
        self.name = name
        self.parents = list(parents)
        self.grad_fn = grad_fn
        self.adj = 0.0

    def _wrap(self, o):
        return o if isinstance(o, Var) else Var(o)

    def __add__(self, o):
        o = self._wrap(o)
        return Var(self.val + o.val, parents=[self, o], grad_fn=lambda g: (g, g))

    def __mul__(self, o):
        o = self._wrap(o)
        return Var(self.val * o.val, parents=[self, o], grad_fn=lambda g: (g * o.val, g * self.val))

    def __sub__(self, o):
        return self + self._wrap(o) * -1

    __radd__, __rmul__ = __add__, __mul__

    def sin(self):
        return Var(math.sin(self.val), parents=[self], grad_fn=lambda g: (g * math.cos(self.val),))

    def backward(self):
        order, seen = [], set()

        def visit(v):
            if v in seen:
                return
            seen.add(v)
            for p in v.parents:
                visit(p)
            order.append(v)

        visit(self)
        self.adj = 1.0
        for v in reversed(order):
            if v.grad_fn:
                for p, g in zip(v.parents, v.grad_fn(v.adj)):
                    p.adj += g


x, y = Var(1.3, "x"), Var(0.7, name="y")
z = (x * y).sin() + x * x - 2 * y
z.backward()
for v in (x, y, z):
    print(v.name, v.val, v.adj)
