"""Codes and the tables of a network -> log P(class, features), with unknown values summed out.

A sample without unknown values needs one table entry per node. The other samples need messages, from the
leaves to the root: for an unknown node, each child sends its log probability for every level of the
node. Nodes that are unknown and have no known descendant send nothing: their probabilities sum to one.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from slfs.classifiers.tables import LogTable
from slfs.coding.encode import Encoded
from slfs.network.tree import ROOT

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_MESSAGE_ENTRIES = 1 << 22
"""Maximum number of floats in the messages that are in memory at a time."""


def parents_first(parents: Ints) -> list[int]:
    """Return the nodes in an order in which every parent precedes its children."""
    depth = np.zeros(len(parents), np.int64)
    above = parents.copy()
    while (above != ROOT).any():
        below = above != ROOT
        depth[below] += 1
        above[below] = parents[above[below]]
    order: list[int] = np.argsort(depth, kind="stable").tolist()
    return order


def joint_log_proba(tables: list[LogTable], log_prior: Floats, encoded: Encoded) -> Floats:
    """Compute log P(class, known features) of each sample: an array of shape (n_samples, n_classes)."""
    rows = encoded.unknown_rows()
    n_samples = encoded.codes.shape[1]
    joint = np.tile(log_prior, (n_samples, 1))
    if len(rows) < n_samples:
        for node, own in enumerate(tables):
            joint += _known_factor(own, encoded.codes, node)
    if len(rows):
        known = _Known(tables, encoded.codes[:, rows], ~encoded.unknown_mask(rows))
        joint[rows] = log_prior + known.log_likelihood(len(log_prior))
    return joint


def log_factors(tables: list[LogTable], n_classes: int, encoded: Encoded) -> Floats:
    """Compute the log probability of each value, of shape (n_samples, n_nodes, n_classes).

    The factor of a known value is P(value | class, parent). If its parent is unknown, it is P(value |
    class, known values of the nodes before it), with parents before children. That of an unknown value
    is one. By the chain rule the factors multiply to P(known values | class).
    """
    n_nodes, n_samples = encoded.codes.shape
    factors = np.zeros((n_samples, n_nodes, n_classes))
    for node, own in enumerate(tables):
        factors[:, node] = _known_factor(own, encoded.codes, node)
    rows = encoded.unknown_rows()
    if len(rows) == 0:
        return factors
    codes, known = encoded.codes[:, rows], ~encoded.unknown_mask(rows)
    parents = np.array([own.parent for own in tables], np.int64)
    order = parents_first(parents)
    position = np.argsort(order)
    orphan = known & (parents != ROOT)[:, np.newaxis] & ~known[parents]
    nodes, samples = np.nonzero(orphan)
    factors[rows] *= known.T[:, :, np.newaxis]
    before = known[:, samples] & (position[:, np.newaxis] < position[nodes])
    after = before.copy()
    after[nodes, np.arange(len(nodes))] = True
    factors[rows[samples], nodes] = _Known(tables, codes[:, samples], after).log_likelihood(
        n_classes
    ) - _Known(tables, codes[:, samples], before).log_likelihood(n_classes)
    return factors


def expected_contributions(tables: list[LogTable], log_prior: Floats) -> Floats:
    """Compute the mean contribution of each node to the true class.

    The mean is over the distribution of the network. A contribution is log P(value | class, parent)
    minus the logarithm of its mean over the classes; see `PredictionExplanation`. The mean contribution
    is not negative.
    """
    prior = np.exp(log_prior)
    given_class: dict[int, Floats] = {int(ROOT): np.ones((1, len(prior)))}  # P(level | class)
    expected = np.zeros(len(tables))
    for node in parents_first(np.array([own.parent for own in tables], np.int64)):
        shares = np.exp(tables[node].values)
        joint = shares * given_class[tables[node].parent]  # P(level, level of the parent | class)
        given_class[node] = joint.sum(axis=1)
        mean = shares @ prior if shares.shape[2] > 1 else shares[:, :, 0]
        contribution = tables[node].values - np.log(mean)[:, :, np.newaxis]
        expected[node] = (joint * contribution).sum(axis=(0, 1)) @ prior
    return np.maximum(expected, 0)  # rounding errors


def _known_factor(own: LogTable, codes: NDArray[np.uint8], node: int) -> Floats:
    """Return log P(value | class, parent) of one node for samples whose values are known."""
    parent = 0 if own.parent == ROOT else codes[own.parent]
    factor: Floats = own.values[codes[node], parent]
    return factor


class _Known:
    """Samples of which only some values are known.

    ``codes`` and ``known`` have shape (n_nodes, n_samples); codes of unknown values are ignored.
    """

    def __init__(
        self, tables: list[LogTable], codes: NDArray[np.uint8], known: NDArray[np.bool_]
    ) -> None:
        self.tables, self.codes, self.known = tables, codes, known
        self.upwards = parents_first(np.array([own.parent for own in tables], np.int64))[::-1]

    def log_likelihood(self, n_classes: int) -> Floats:
        """Return log P(known values | class), of shape (n_samples, n_classes)."""
        found = np.zeros((self.codes.shape[1], n_classes))
        for rows in self._chunks(n_classes):
            self._pass_messages(rows, found[rows])
        return found

    def _chunks(self, n_classes: int) -> Iterator[slice]:
        """Split the samples so that the messages fit in memory."""
        inner = {own.parent for own in self.tables} - {int(ROOT)}
        entries = n_classes * sum(len(self.tables[node].values) for node in inner)
        size = max(1, _MESSAGE_ENTRIES // max(entries, 1))
        for first in range(0, self.codes.shape[1], size):
            yield slice(first, first + size)

    def _pass_messages(self, rows: slice, found: Floats) -> None:
        """Add the log likelihood of some samples to ``found``."""
        codes, known = self.codes[:, rows], self.known[:, rows]
        n_samples, n_classes = found.shape
        received: dict[int, Floats] = {}  # for unknown nodes: by sample, level and class
        informed = known.copy()  # known, or with a known descendant

        def send(node: int, samples: NDArray[np.bool_]) -> Floats:
            informed[node] |= samples
            shape = (n_samples, len(self.tables[node].values), n_classes)
            return received.setdefault(node, np.zeros(shape))

        for node in self.upwards:
            table, parent = self.tables[node].values, self.tables[node].parent
            above = np.ones(n_samples, np.bool_) if parent == ROOT else known[parent]
            level = np.zeros(n_samples, np.uint8) if parent == ROOT else codes[parent]
            certain, summed = known[node], informed[node] & ~known[node]
            direct = certain & above
            found[direct] += table[codes[node, direct], level[direct]]
            upwards = certain & ~above
            if upwards.any():
                send(parent, upwards)[upwards] += table[codes[node, upwards]]
            if summed.any():
                message = _sum_out(table, received.pop(node)[summed])
                direct, upwards = above[summed], ~above[summed]
                found[summed & above] += message[direct, level[summed & above]]
                if upwards.any():
                    send(parent, summed & ~above)[summed & ~above] += message[upwards]


def _sum_out(table: Floats, received: Floats) -> Floats:
    """Sum a node out: its table and the messages of its children -> a message to its parent.

    ``received`` has shape (n_samples, n_levels, n_classes), the result (n_samples, n_levels of the
    parent, n_classes). Levels are added one by one, so that the result for a sample does not depend on
    the others.
    """
    top = received.max(axis=1, keepdims=True)
    weight, probability = np.exp(received - top), np.exp(table)
    total = np.zeros((len(received), table.shape[1], received.shape[2]))
    for level in range(len(table)):
        total += weight[:, level, np.newaxis] * probability[level]
    message: Floats = np.log(total) + top
    return message
