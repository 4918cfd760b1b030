class Scalar:
    def __init__(self, data, children=()):
        self.data = data
        self.grad = 0.0
        self.children = tuple(children)
        self.op = None
        self._backward = lambda: None

    def __add__(self, other):
        other = other if isinstance(other, Scalar) else Scalar(other)
        out = Scalar(self.data + other.data, (self, other))
        out.op = "+"

        def _backward():
            self.grad += out.grad
            other.grad += out.grad

        out._backward = _backward
        return out

    def __mul__(self, other):
        other = other if isinstance(other, Scalar) else Scalar(other)
        out = Scalar(self.data * other.data, (self, other))
        out.op = "*"

        def _backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out._backward = _backward
        return out

    def backward(self):
        topo = []
        visited = set()

        def build_topo(v):
            if v not in visited:
                visited.add(v)
                for child in v.children:
                    build_topo(child)
                topo.append(v)

        build_topo(self)
        self.grad = 1.0
        for node in reversed(topo):
            node._backward()

    __radd__, __rmul__ = __add__, __mul__


def show(v, depth=0):
    print("  " * depth + f"{v.op or 'leaf'} {v.data:.3f} {v.grad:.3f}")
    for c in v.children:
        show(c, depth + 1)


a, b = Scalar(2.0), Scalar(-3.0)
c = a * b + 2 * a
c.op = "loss"
c.backward()
show(c)
