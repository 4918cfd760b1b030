class Lehmer:
    def __init__(self, seed):
        self.state = seed

    def uniform(self, a, b):
        self.state = (self.state * 48271) % 2147483647
        return a + (b - a) * self.state / 2147483647


def colour(nodes, name):
    for n in nodes:
        n._vis_color = name


def draw(root):
    seen, waiting = set(), [root]
    colours = {}
    while waiting:
        n = waiting.pop()
        if n in seen:
            continue
        seen.add(n)
        c = n._vis_color if hasattr(n, "_vis_color") else "white"
        colours[c] = colours.get(c, 0) + 1
        waiting.extend(n._prev)
    return sorted(colours.items())
