"""A class with matrices as attributes: lists of lists of values, trained in a loop."""

import random
from retrograde import Value

random.seed(1)


class Net:
    def __init__(self, nin, nh, nout):
        self.w = [[Value(random.uniform(-1, 1)) for _ in range(nin)] for _ in range(nh)]
        self.b = [Value(0.0) for _ in range(nh)]
        self.v = [[Value(random.uniform(-1, 1)) for _ in range(nh)] for _ in range(nout)]
        self.c = [Value(0.0) for _ in range(nout)]

    def forward(self, x):
        h = []
        for i in range(len(self.w)):
            s = self.b[i]
            for j in range(len(x)):
                s = s + self.w[i][j] * x[j]
            h.append(s.tanh())
        out = []
        for i in range(len(self.v)):
            s = self.c[i]
            for j in range(len(h)):
                s = s + self.v[i][j] * h[j]
            out.append(s)
        return out

    def parameters(self):
        return [p for row in self.w + self.v for p in row] + self.b + self.c


net = Net(3, 6, 2)
xs = [[random.uniform(-1, 1) for _ in range(3)] for _ in range(6)]
ys = [[1.0, -1.0] for _ in xs]
for step in range(3):
    loss = Value(0.0)
    for x, y in zip(xs, ys):
        for p, t in zip(net.forward(x), y):
            loss = loss + (p - t) ** 2
    for p in net.parameters():
        p.grad = 0.0
    loss.backward()
    for p in net.parameters():
        p.data -= 0.05 * p.grad
