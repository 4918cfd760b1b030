class Node:
    def __init__(self, value, parents=None):
        self.value = value
        self.parents = parents or []  # (node, local derivative)
        self.grad = 0.0

    @staticmethod
    def lift(x):
        return x if type(x) is Node else Node(float(x))

    def __add__(self, other):
        other = Node.lift(other)
        return Node(self.value + other.value, [(self, 1.0), (other, 1.0)])

    def __mul__(self, other):
        other = Node.lift(other)
        return Node(self.value * other.value, [(self, other.value), (other, self.value)])

    __radd__, __rmul__ = __add__, __mul__

    def backward(self, upstream=1.0):
        self.grad += upstream
        for node, local in self.parents:
            node.backward(upstream * local)


x, y = Node(2.0), Node(3.0)
z = x * y + x * x + 4 * y
z.backward()
print(z.value, x.grad, y.grad, len(z.parents))
x.grad = y.grad = 0.0
z.backward(0.5)
print(x.grad, y.grad)
