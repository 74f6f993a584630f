# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Derivatives of numpy expressions in float64, for test/harness/reference.py: a tape of a handful of
primitives. Every value is a Node; operators and methods make new ones."""
import numpy as np


class Tape:
    """Values of one forward pass in the order of their making; `backward` goes over them in reverse."""

    def __init__(self):
        self.nodes = []

    def node(self, value, *parents):
        """parents: (node, function from this value's gradient to the parent's)."""
        self.nodes.append(Node(self, np.asarray(value, np.float64), parents))
        return self.nodes[-1]

    def backward(self, loss):
        loss.grad = np.ones_like(loss.value)
        for node in reversed(self.nodes):
            for parent, pull in node.parents if node.grad is not None else ():
                share = summed_to(pull(node.grad), parent.value.shape)
                parent.grad = share if parent.grad is None else parent.grad + share


def summed_to(gradient, shape):
    """The gradient of a value that was broadcast: summed over the dimensions that it lacked."""
    extra = gradient.ndim - len(shape)
    gradient = gradient.sum(axis=tuple(range(extra)))
    for axis, size in enumerate(shape):
        if size == 1 and gradient.shape[axis] != 1:
            gradient = gradient.sum(axis=axis, keepdims=True)
    return gradient


class Node:
    def __init__(self, tape, value, parents):
        self.tape, self.value, self.parents, self.grad = tape, value, parents, None

    def __add__(self, other):
        if not isinstance(other, Node):
            return self.tape.node(self.value + other, (self, lambda g: g))
        return self.tape.node(self.value + other.value, (self, lambda g: g), (other, lambda g: g))

    def __mul__(self, other):
        if not isinstance(other, Node):
            return self.tape.node(self.value * other, (self, lambda g: g * other))
        return self.tape.node(self.value * other.value, (self, lambda g: g * other.value),
                              (other, lambda g: g * self.value))

    def map(self, function, slope):
        return self.tape.node(function(self.value), (self, lambda g: g * slope(self.value)))

    def power(self, exponent):
        return self.map(lambda x: x ** exponent, lambda x: exponent * x ** (exponent - 1))

    def mean(self):
        """Over the last dimension, which stays with size 1."""
        size = self.value.shape[-1]
        return self.tape.node(self.value.mean(-1, keepdims=True),
                              (self, lambda g: np.broadcast_to(g / size, self.value.shape)))

    def sum(self):
        return self.mean() * self.value.shape[-1]

    def reshape(self, *shape):
        return self.tape.node(self.value.reshape(shape), (self, lambda g: g.reshape(self.value.shape)))

    def rows(self, index):
        """Rows of a table, any shape of index."""
        def pull(g):
            table = np.zeros_like(self.value)
            np.add.at(table, index, g)
            return table
        return self.tape.node(self.value[index], (self, pull))


def einsum(spec, a, b):
    """Of two nodes, or a node and a constant; every index stands in two of the three terms."""
    left, right, out = spec.replace("->", ",").split(",")
    other = b.value if isinstance(b, Node) else b
    parents = [(a, lambda g: np.einsum(f"{out},{right}->{left}", g, other, optimize=True))]
    if isinstance(b, Node):
        parents.append((b, lambda g: np.einsum(f"{left},{out}->{right}", a.value, g, optimize=True)))
    return a.tape.node(np.einsum(spec, a.value, other, optimize=True), *parents)
