class no_grad:
    active = False

    def __enter__(self):
        no_grad.active = True

    def __exit__(self, *a):
        no_grad.active = False


class Value:
    def __init__(self, data, _children=(), _op="", requires_grad=True):
        self.data = data
        self.grad = 0.0
        self.requires_grad = requires_grad and not no_grad.active
        self._backward = lambda: None
        self._prev = set(_children) if self.requires_grad else set()
        self._op = _op

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other, requires_grad=False)
        out = Value(
            self.data + other.data,
            (self, other),
            "+",
            requires_grad=self.requires_grad or other.requires_grad,
        )

        def _backward():
            if self.requires_grad:
                self.grad += out.grad
            if other.requires_grad:
                other.grad += out.grad

        out._backward = _backward
        return out

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other, requires_grad=False)
        out = Value(
            self.data * other.data,
            (self, other),
            "*",
            requires_grad=self.requires_grad or other.requires_grad,
        )

        def _backward():
            if self.requires_grad:
                self.grad += other.data * out.grad
            if other.requires_grad:
                other.grad += self.data * out.grad

        out._backward = _backward
        return out

    __radd__, __rmul__ = __add__, __mul__

    def backward(self):
        topo = []
        visited = set()

        def build_topo(v):
            if v not in visited:
                visited.add(v)
                for child in v._prev:
                    build_topo(child)
                topo.append(v)

        build_topo(self)
        self.grad = 1.0
        for node in reversed(topo):
            node._backward()


w, frozen = Value(2.0), Value(3.0, requires_grad=False)
y = w * frozen + 1
y.backward()
print(y.data, w.grad, frozen.grad, y.requires_grad)
with no_grad():
    z = w * 5 + y
print(z.data, z.requires_grad, len(z._prev))
w.data -= 0.1 * w.grad
print(w.data)
