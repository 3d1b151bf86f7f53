"""Reference implementations of the kernels, written to be read. Imports nothing from slfs."""

import itertools
from collections import Counter
from fractions import Fraction
from math import factorial, fsum, inf, isclose, log, log2, prod

from scipy.stats import chi2


def n_log_n(counts):
    return fsum(n * log(n) for n in counts if n)


def entropy(f):
    return log(len(f)) - n_log_n(Counter(f).values()) / len(f)


def mutual_information(f, k):
    return entropy(f) + entropy(k) - entropy(list(zip(f, k, strict=True)))


def conditional_information(f, y, k):
    """I(f;y|k)."""
    fk, yk = list(zip(f, k, strict=True)), list(zip(y, k, strict=True))
    return entropy(fk) + entropy(yk) - entropy(list(zip(f, y, k, strict=True))) - entropy(k)


def joint_counts(f, k, y, shape):
    """table[c][a][b] = samples of class c with f = a and k = b."""
    n_classes, levels_f, levels_k = shape
    table = [[[0] * levels_k for _ in range(levels_f)] for _ in range(n_classes)]
    for a, b, c in zip(f, k, y, strict=True):
        table[c][a][b] += 1
    return table


def interaction(table, rounds=5000):
    """G and Pearson's statistic of table[c][a][b] and its fit without three-way interaction."""
    cells = list(itertools.product(*(range(n) for n in (len(table), len(table[0]), len(table[0][0])))))
    seen = {cell: table[cell[0]][cell[1]][cell[2]] for cell in cells}
    fit = dict.fromkeys(cells, 1.0)
    for _ in range(rounds):
        before = dict(fit)
        for kept in ((1, 2), (0, 1), (0, 2)):
            wanted, got = Counter(), Counter()
            for cell in cells:
                key = tuple(cell[i] for i in kept)
                wanted[key] += seen[cell]
                got[key] += fit[cell]
            for cell in cells:
                key = tuple(cell[i] for i in kept)
                fit[cell] *= wanted[key] / got[key] if got[key] else 0.0
        if all(isclose(fit[cell], before[cell], rel_tol=1e-12) for cell in cells):
            break
    g = 2 * fsum(seen[cell] * log(seen[cell] / fit[cell]) for cell in cells if seen[cell])
    x2 = fsum((seen[cell] - fit[cell]) ** 2 / fit[cell] for cell in cells if fit[cell] > 1e-9)
    return g, x2


def interaction_of_groups(table, group_f, group_k, rounds=5000):
    """Likelihood ratio of table[c][a][b]: all two-way margins with and without classes by groups."""
    cells = list(itertools.product(*(range(n) for n in (len(table), len(table[0]), len(table[0][0])))))
    margins = [
        lambda c, a, b: (a, b),  # noqa: ARG005
        lambda c, a, b: (c, a),  # noqa: ARG005
        lambda c, a, b: (c, b),  # noqa: ARG005
        lambda c, a, b: (c, group_f[a], group_k[b]),
    ]
    fits = []
    for n_margins in (3, 4):
        fit = dict.fromkeys(cells, 1.0)
        for _ in range(rounds):
            before = dict(fit)
            for key in margins[:n_margins]:
                wanted, got = Counter(), Counter()
                for c, a, b in cells:
                    wanted[key(c, a, b)] += table[c][a][b]
                    got[key(c, a, b)] += fit[c, a, b]
                for cell in cells:
                    fit[cell] *= wanted[key(*cell)] / got[key(*cell)] if got[key(*cell)] else 0.0
            if all(isclose(fit[cell], before[cell], rel_tol=1e-12) for cell in cells):
                break
        fits.append(fit)
    return 2 * fsum(
        table[c][a][b] * log(fits[1][c, a, b] / fits[0][c, a, b]) for c, a, b in cells if table[c][a][b]
    )


def exact_interaction(table):
    """Two levels, levels and classes: share of tables with the same two-way margins as rare as this."""
    weights = {}
    for shift in range(-500, 501):
        counts = [
            table[c][a][b] + (shift if (a + b + c) % 2 == 0 else -shift)
            for c, a, b in itertools.product(range(2), repeat=3)
        ]
        if min(counts) >= 0:
            weights[shift] = Fraction(1, prod(map(factorial, counts)))
    rare = [weight for weight in weights.values() if weight <= weights[0]]
    return float(sum(rare) / sum(weights.values()))


def most_even(sizes, most, least):
    """The smallest sum of squares of a division of intervals into groups with enough samples."""
    best = sum(sizes) ** 2
    for n_cuts in range(1, most):
        for cuts in itertools.combinations(range(1, len(sizes)), n_cuts):
            groups = [sum(sizes[i:j]) for i, j in itertools.pairwise((0, *cuts, len(sizes)))]
            if min(groups) >= least:
                best = min(best, sum(group**2 for group in groups))
    return best


def mdlp(values, labels):
    """Cut points of one column (Fayyad & Irani 1993), straight from the definition, in bits."""

    def ent(labels):
        return -fsum(n / len(labels) * log2(n / len(labels)) for n in Counter(labels).values())

    pairs = sorted(zip(values, labels, strict=True), key=lambda pair: pair[0])
    size, whole = len(pairs), [label for _, label in pairs]
    best = None
    for i in range(1, size):
        if pairs[i - 1][0] == pairs[i][0]:
            continue
        left, right = whole[:i], whole[i:]
        score = (i * ent(left) + (size - i) * ent(right)) / size
        if best is None or score < best[0] - 1e-12:
            best = (score, i)
    if best is None:
        return []
    score, i = best
    left, right = whole[:i], whole[i:]
    k, k1, k2 = len(set(whole)), len(set(left)), len(set(right))
    delta = log2(3**k - 2) - (k * ent(whole) - k1 * ent(left) - k2 * ent(right))
    if not ent(whole) - score > (log2(size - 1) + delta) / size:
        return []
    cut = (pairs[i - 1][0] + pairs[i][0]) / 2
    below = [pair for pair in pairs if pair[0] <= cut]
    above = [pair for pair in pairs if pair[0] > cut]
    return [*mdlp(*zip(*below, strict=True)), cut, *mdlp(*zip(*above, strict=True))]


def partitions(values):
    """All divisions of a list into groups."""
    if not values:
        yield []
        return
    for rest in partitions(values[1:]):
        yield [[values[0]], *rest]
        for i in range(len(rest)):
            yield [*rest[:i], [values[0], *rest[i]], *rest[i + 1 :]]


def grouping_cost(counts, groups):
    """Description length of a division of values, given as lists of indices into ``counts``."""
    n_values, n_classes, size = len(counts), len(counts[0]), sum(map(sum, counts))
    at_most = [0] * (n_values + 1)
    for division in partitions(list(range(n_values))):
        for k in range(len(division), n_values + 1):
            at_most[k] += 1
    cost = (len(groups) - 1) * (n_classes - 1) / 2 * log(size) + log(at_most[len(groups)])
    for group in groups:
        by_class = [sum(counts[value][c] for value in group) for c in range(n_classes)]
        cost += n_log_n([sum(by_class)]) - n_log_n(by_class)
    return cost


class SLFS:
    """The insertion algorithm on coded columns; every value is computed again."""

    ROOT = -1

    def __init__(
        self, columns, y, relevance_weight, max_depth, max_children, rule, irrelevance, swap, order
    ):
        self.columns, self.y = columns, y
        self.relevance_weight, self.max_depth, self.max_children = (
            relevance_weight,
            max_depth,
            max_children,
        )
        self.rule, self.irrelevance, self.swap, self.order = rule, irrelevance, swap, order
        self.parent, self.redundant, self.irrelevant = {}, {}, set()
        self.relevance = {f: mutual_information(column, y) for f, column in columns.items()}

    def run(self):
        waiting = sorted(self.columns)
        while waiting:
            if self.order == "relevance":
                f = max(waiting, key=lambda f: (round(self.relevance[f], 12), -f))
            elif self.order == "conditional":
                f = max(waiting, key=lambda f: (round(self.margin(f), 12), -f))
            else:
                f = waiting[0]
            waiting.remove(f)
            self.insert(f)
        return self

    def margin(self, f):
        met = [self.conditional(f, k) for k in self.parent]
        return min([self.relevance[f], *met])

    def conditional(self, f, k):
        return conditional_information(self.columns[f], self.y, self.columns[k])

    def s(self, weight, f, k):
        return mutual_information(self.columns[f], self.columns[k]) - weight * self.conditional(f, k)

    def affinity(self, f, k):
        return self.s(self.relevance_weight if self.rule == "objective" else 1, f, k)

    def children(self, node):
        return [f for f, parent in self.parent.items() if parent == node]

    def level(self, node):
        return 0 if node == self.ROOT else 1 + self.level(self.parent[node])

    def nearest(self, f, nodes):
        return max(nodes, key=lambda k: (round(self.affinity(f, k), 12), -k))

    def insert(self, f):
        top = self.children(self.ROOT)
        if not top:
            self.parent[f] = self.ROOT
            return
        node = self.nearest(f, top)
        if self.irrelevance in ("printed", "reversed"):
            sign = self.s(1, f, node) if self.irrelevance == "reversed" else -self.s(1, f, node)
            if sign > 0 and self.relevance[f] < entropy(self.columns[f]):
                self.irrelevant.add(f)
                return
        closest = None
        if self.order != "given":
            closest = min(self.parent, key=lambda k: round(self.conditional(f, k), 12))
            if self.conditional(f, closest) < 1e-9:
                self.redundant[f] = closest
                return
        if self.prefers_class(f, node) and len(top) < self.max_children:
            self.parent[f] = self.ROOT
            return
        while True:
            if self.order == "given" and self.should_swap(f, node):
                own = self.children(node)
                self.parent[f] = self.parent.pop(node)
                for child in own:
                    self.parent[child] = f
                f, node = node, f
            if self.level(node) == self.max_depth:
                self.redundant[f] = node if closest is None else closest
                return
            below = self.children(node)
            child = self.nearest(f, below) if below else None
            if child is None or (
                self.affinity(f, node) > self.affinity(f, child) and len(below) < self.max_children
            ):
                if self.order != "given" and self.adds_nothing(f, node):
                    self.redundant[f] = node
                else:
                    self.parent[f] = node
                return
            node = child

    def adds_nothing(self, f, k):
        """Whether I(f;Y|k) is not significant at 5 %, by the G-test."""
        freedom = 0
        for value in set(self.columns[k]):
            own = [i for i, other in enumerate(self.columns[k]) if other == value]
            levels, labels = {self.columns[f][i] for i in own}, {self.y[i] for i in own}
            freedom += (len(levels) - 1) * (len(labels) - 1)
        statistic = 2 * len(self.y) * self.conditional(f, k)
        return freedom == 0 or chi2.sf(statistic, freedom) > 0.05

    def survivor(self, f):
        """The node that f was compared with, or the node that replaced that one, and so on."""
        while f not in self.parent:
            f = self.redundant[f]
        return f

    def prefers_class(self, f, node):
        if self.rule == "objective":
            return self.relevance[f] > self.s(self.relevance_weight, f, node)
        return self.relevance_weight * self.relevance[f] - entropy(self.columns[f]) > self.s(
            self.relevance_weight, f, node
        )

    def should_swap(self, f, node):
        if self.swap == "never":
            return False
        if self.swap == "printed":
            return self.relevance[f] > self.relevance[node]
        return self.objective_with(f, node, swapped=True) > self.objective_with(f, node, swapped=False)

    def objective_with(self, f, node, swapped):
        """J of the tree with f below node, or with the two exchanged."""
        parent = dict(self.parent)
        if swapped:
            for child in self.children(node):
                parent[child] = f
            parent[f], parent[node] = parent[node], f
        else:
            parent[f] = node
        return self.objective(parent)

    def objective(self, parent=None):
        total = 0.0
        for f, k in (self.parent if parent is None else parent).items():
            if k == self.ROOT:
                total += self.relevance[f] * (1 + self.relevance_weight) - entropy(self.columns[f])
            else:
                shared = mutual_information(self.columns[f], self.columns[k])
                new = self.conditional(f, k)
                total += (
                    shared - entropy(self.columns[f]) + self.relevance_weight * (self.relevance[f] - new)
                )
        return total


def joint_log_probability(sample, label, columns, y, parents, alpha, backoff, *, tree_only=()):
    """log P(label, sample) of a network over coded columns; parents[f] is None or another column.

    Columns in ``tree_only`` do not see the class.
    """
    classes, size = sorted(set(y)), len(y)
    total = log((y.count(label) + alpha) / (size + alpha * len(classes)))
    for f, column in columns.items():
        levels = len(set(column))
        rows = [i for i in range(size) if f in tree_only or y[i] == label]
        hits = [i for i in rows if column[i] == sample[f]]
        share = (len(hits) + alpha) / (len(rows) + alpha * levels)
        k = parents[f]
        if k is not None:
            rows = [i for i in rows if columns[k][i] == sample[k]]
            hits = [i for i in rows if column[i] == sample[f]]
            share = (len(hits) + backoff * share) / (len(rows) + backoff)
        total += log(share) if share > 0 else -inf
    return total


def nogueira_stability(supports):
    """Nogueira's measure and its variance, term by term as the paper has them (theorems 3 and 7)."""
    runs, features = len(supports), len(supports[0])
    share = [sum(run[f] for run in supports) / runs for f in range(features)]
    mean_size = sum(sum(run) for run in supports) / runs
    chance = mean_size / features * (1 - mean_size / features)
    spread = sum(runs / (runs - 1) * p * (1 - p) for p in share) / features
    stability = 1 - spread / chance
    parts = []
    for run in supports:
        size = sum(run)
        agreement = sum(z * p for z, p in zip(run, share, strict=True)) / features
        cross = size * mean_size / features**2
        rest = 2 * cross - size / features - mean_size / features + 1
        parts.append((agreement - cross + stability / 2 * rest) / chance)
    mean = sum(parts) / runs
    return stability, 4 / runs**2 * sum((part - mean) ** 2 for part in parts)


def effective_stability(supports, similarity):
    """1 - tr(CS) / tr(C S0); S0 by listing all selections of the observed sizes, or None if it is 0."""
    runs, features = len(supports), len(supports[0])

    def trace(weighted):
        """tr(C cov) of selections with weights, where cov is the covariance with these weights."""
        pairs = list(itertools.product(range(features), repeat=2))
        mean = [sum(w * z[f] for z, w in weighted) for f in range(features)]
        both = {(f, g): sum(w * z[f] * z[g] for z, w in weighted) for f, g in pairs}
        return sum(similarity[f][g] * (both[f, g] - mean[f] * mean[g]) for f, g in pairs)

    chance = []
    for run in supports:
        subsets = list(itertools.combinations(range(features), sum(run)))
        weight = 1 / (len(subsets) * runs)
        chance += [([int(f in subset) for f in range(features)], weight) for subset in subsets]
    expected = trace(chance)
    if abs(expected) < 1e-9:
        return None
    return 1 - runs / (runs - 1) * trace([(run, 1 / runs) for run in supports]) / expected


def marginal_probability(prior, tables, parents, known):
    """P(class, known values) of a network for each class, by the sum over all values of the others.

    ``tables[f][a][b][c]`` is P(f = a | parent = b, class c), with b = 0 for a column without a parent;
    ``known[f]`` is the value of column f, or None.
    """
    choices = [
        [value] if value is not None else range(len(table))
        for value, table in zip(known, tables, strict=True)
    ]
    total = [0.0] * len(prior)
    for world in itertools.product(*choices):
        for c, share in enumerate(prior):
            product = share
            for f, table in enumerate(tables):
                row = table[world[f]][world[parents[f]] if parents[f] >= 0 else 0]
                product *= row[c if len(row) > 1 else 0]
            total[c] += product
    return total


def genotype_planes(pairs, source, n_people):
    """planes[variant][copies][word] of two-bit genotypes, 32 per word; bit i is sample source[i]."""
    copies_of_code = {0: 2, 2: 1, 3: 0}  # 1: missing
    planes = []
    for row in pairs:
        own = [[0] * (len(source) // 64) for _ in range(3)]
        for bit, sample in enumerate(source):
            if sample < n_people:
                code = row[sample // 32] >> 2 * (sample % 32) & 3
                if code in copies_of_code:
                    own[copies_of_code[code]][bit // 64] |= 1 << bit % 64
        planes.append(own)
    return planes


def count_pairs(f, k):
    """How often each pair of values occurs."""
    return Counter(zip(map(int, f), map(int, k), strict=True))
