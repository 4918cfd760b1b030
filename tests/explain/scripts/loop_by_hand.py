"""A cooling cup in Euler steps, with two losses: every name is assigned again and again."""

from retrograde import Value

k, ambient = Value(0.7), Value(0.2)
x = Value(1.0)
dt = 0.1
loss = 0
for step in range(30):
    dx = -k * (x - ambient)
    x = x + dt * dx
    loss += (x - 0.5) ** 2
loss /= 30
loss.backward()
