"""Export of networks: BIF, Graphviz, Mermaid, networkx, HTML."""

import bisect
import html.parser
import itertools
import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slfs import BNSLFS, MRMR, SLFS, TAN, ChowLiu, FastOSFS, NaiveBayes, TreeNetwork
from slfs.saving.interchange import to_bif, to_states, write_bif

HOSTILE = [
    "plain",
    "stable1",  # pgmpy finds "table 1" in it
    "table",
    "Größe (cm)",
    'quo"te; } // */ /* {',
    "<script>alert(1)</script>",
    "3rd",
    "3rd ",
    "日本",
    "line\nbreak \\",
    "",
]


def mixed(seed, n_samples=400):
    """Numbers and categories with missing values, and names with special characters."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 3, n_samples)
    columns = {}
    for index, name in enumerate(HOSTILE):
        noisy = np.where(
            random.random(n_samples) < 0.2 + 0.05 * index, random.integers(0, 3, n_samples), y
        )
        if index % 3 == 0:
            values = noisy + random.normal(scale=0.4, size=n_samples) - 1.5
            values[random.random(n_samples) < 0.1 * (index % 2)] = np.nan
        elif index % 3 == 1:
            values = np.array(["a b", "A_B", "default"], dtype=object)[noisy]
            values[random.random(n_samples) < 0.1 * (index % 2)] = None
        else:
            values = pd.Categorical.from_codes(noisy, ["<= 1", "é", "e"])
        columns[name] = values
    return pd.DataFrame(columns), pd.Series(np.array(["yes", "no", "-1"])[y], name="Größe")


def unseen(X):
    """New samples: missing values in complete columns, unknown categories, numbers out of range."""
    X = X.sample(60, random_state=0).reset_index(drop=True).astype(object)
    X.iloc[3] = None
    X.iloc[5, 1::3] = "never seen"
    X.iloc[7, 0::3] = 1e9
    X.iloc[8, 0::3] = -np.inf
    return X.astype(dict.fromkeys(X.columns[0::3], float))


CLASSIFIERS = {
    "linked": BNSLFS(SLFS(max_depth=3), structure="linked"),
    "augmented": BNSLFS(structure="augmented", backoff=None),
    "tree": BNSLFS(structure="tree", alpha=0.01),
    "mrmr": BNSLFS(MRMR(4), structure="linked"),
    "one level": BNSLFS(FastOSFS(statistic="fisher_z", alpha=0.5), structure="linked"),
    "tan": TAN(backoff=0.5),
    "chow-liu": ChowLiu(),
    "naive": NaiveBayes(alpha=1e-9),
}


@pytest.fixture(params=CLASSIFIERS)
def fitted(request):
    X, y = mixed(0)
    if request.param == "one level":
        X = X[X.columns[0::3]].assign(noise=np.random.default_rng(1).normal(size=len(X)))
        return CLASSIFIERS[request.param].fit(X, y), X.sample(60, random_state=0)
    return CLASSIFIERS[request.param].fit(X, y), unseen(X)


def read_bif(text):
    """A simple reader: the states of each variable, and the parents and rows of each table."""
    assert text.isascii()
    text = re.sub("//.*", "", text)
    states = {
        name: [state.strip() for state in listed.split(",")]
        for name, listed in re.findall(
            r"^variable (\w+) \{\s*type discrete \[ \d+ \] \{ ([^}]*) \};\s*\}$", text, re.MULTILINE
        )
    }
    tables = {}
    for name, parents, body in re.findall(
        r"^probability \( (\w+)(?: \| ([\w, ]+))? \) \{(.*?)^\}$", text, re.MULTILINE | re.DOTALL
    ):
        rows = re.findall(r"^  (?:table|\(([\w, ]+)\)) ([0-9., ]+);$", body, re.MULTILINE)
        assert len(rows) == body.count(";")
        tables[name] = (
            parents.split(", ") if parents else [],
            {
                tuple(given.split(", ")) if given else (): [float(p) for p in numbers.split(", ")]
                for given, numbers in rows
            },
        )
    assert len(states) == text.count("variable ") == len(tables)
    return states, tables


def posterior(states, tables, root, evidence):
    """P(root | evidence) by multiplying everything out, summed over the states of other variables."""
    children = {name: [] for name in states}
    for name, (parents, _) in tables.items():
        if parents:
            children[parents[-1]].append(name)

    def below(name, world):
        return np.prod([share(child, world) for child in children[name]])

    def share(name, world):
        parents, rows = tables[name]
        row = rows[tuple(world[parent] for parent in parents)]
        return sum(
            row[states[name].index(state)] * below(name, {**world, name: state})
            for state in ([evidence[name]] if name in evidence else states[name])
        )

    prior = tables[root][1][()]
    joint = [p * below(root, {root: state}) for p, state in zip(prior, states[root], strict=True)]
    return np.array(joint) / sum(joint)


@pytest.mark.filterwarnings("ignore::slfs.UnseenValueWarning")
def test_bif_by_a_naive_reader(fitted):
    classifier, X = fitted
    states, tables = read_bif(to_bif(classifier))
    root = next(iter(states))
    for name, (parents, rows) in tables.items():
        assert set(rows) == set(itertools.product(*(states[parent] for parent in parents)))
        for row in rows.values():
            assert len(row) == len(states[name])
            assert sum(row) == pytest.approx(1, abs=1e-12)
            assert min(row) > 0
    expected = classifier.predict_proba(X)
    for evidence, shares in zip(to_states(classifier, X), expected, strict=True):
        assert evidence.keys() <= states.keys() - {root}
        np.testing.assert_allclose(posterior(states, tables, root, evidence), shares, rtol=0, atol=1e-9)


def test_bif_leaves_out_columns_of_one_level():
    X, y = mixed(0)
    X = X[X.columns[0::3]].assign(noise=np.random.default_rng(1).normal(size=len(X)))
    classifier = CLASSIFIERS["one level"].fit(X, y)
    assert (classifier._coding.n_levels == 1).any(), "the case is not met"
    states, _ = read_bif(to_bif(classifier))
    assert min(map(len, states.values())) > 1
    assert len(states) == 1 + (classifier._coding.n_levels > 1).sum()


def test_bif_names_are_legal_unique_and_the_originals_are_kept():
    X, y = mixed(0)
    text = to_bif(NaiveBayes().fit(X, y))
    states, _ = read_bif(text)
    assert len({name.lower() for name in states}) == len(states) == 1 + len(HOSTILE)
    for name in itertools.chain(states, *states.values()):
        assert re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name)
        assert name not in ("table", "default", "variable")
    assert list(states)[:5] == ["Groe", "plain", "stable_1", "table_2", "Groe_cm"]
    comments = re.findall(r'^  // ("(?:[^"\\]|\\.)*"): (.*)$', text, re.MULTILINE)
    assert [json.loads(title) for title, _ in comments] == [y.name, *HOSTILE]
    assert json.loads(f"[{comments[0][1]}]") == ["-1", "no", "yes"]
    assert states[next(iter(states))] == ["minus_1", "no", "yes"]


def test_states_of_numbers_are_where_the_comment_says():
    X, y = mixed(0)
    classifier = NaiveBayes().fit(X[["plain"]], y)
    cuts = re.search(r"cut points: (.*)", to_bif(classifier))[1]
    cuts = [float(cut) for cut in cuts.split(", ")]
    states, _ = read_bif(to_bif(classifier))
    values = [-5.0, *cuts, *(np.nextafter(cut, 9) for cut in cuts), 5.0]
    expected = [states["plain"][bisect.bisect_left(cuts, value)] for value in values]
    found = to_states(classifier, pd.DataFrame({"plain": values}))
    assert [sample["plain"] for sample in found] == expected
    assert states["plain"][0].startswith("up_to_")
    assert states["plain"][-1].startswith("over_")


def test_write_bif(tmp_path):
    X, y = mixed(0)
    classifier = BNSLFS(structure="linked").fit(X, y)
    write_bif(classifier, tmp_path / "network.bif")
    assert (tmp_path / "network.bif").read_text() == to_bif(classifier)
    assert [path.name for path in tmp_path.iterdir()] == ["network.bif"]


def test_bif_of_a_network_without_features():
    X, y = np.random.default_rng(0).normal(size=(50, 2)), [0, 1] * 25
    states, tables = read_bif(to_bif(BNSLFS(structure="linked").fit(X, y)))
    assert states == {"class": ["v0", "v1"]}
    assert tables == {"class": ([], {(): [0.5, 0.5]})}


def test_bif_refuses_what_has_no_tables():
    X, y = mixed(0)
    with pytest.raises(TypeError, match=r"SLFS.*selector.to_classifier\(\)"):
        to_bif(SLFS().fit(X, y))
    with pytest.raises(ValueError, match="not fitted"):
        to_bif(BNSLFS())


@pytest.mark.filterwarnings("ignore::slfs.UnseenValueWarning")
def test_pyagrum_gives_the_same_posteriors(fitted, tmp_path):
    """pyAgrum reads BIF in single precision: its tables are compared accordingly, then replaced."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gum = pytest.importorskip("pyagrum", reason="pyagrum is not installed")
    classifier, X = fitted
    write_bif(classifier, tmp_path / "network.bif")
    network = gum.loadBN(str(tmp_path / "network.bif"))
    states, tables = read_bif(to_bif(classifier))
    root = next(iter(states))
    assert {name: list(network.variable(name).labels()) for name in network.names()} == states
    for name, (parents, rows) in tables.items():
        table = network.cpt(name)
        for given_states, row in rows.items():
            given_these = dict(zip(parents, given_states, strict=True))
            found = table[given_these] if parents else table.toarray()
            np.testing.assert_allclose(found, row, rtol=1e-7)
            if parents:
                table[given_these] = row
            else:
                table.fillWith(row)
    engine = gum.LazyPropagation(network)
    for evidence, shares in zip(to_states(classifier, X), classifier.predict_proba(X), strict=True):
        engine.setEvidence(evidence)
        engine.makeInference()
        np.testing.assert_allclose(engine.posterior(root).toarray(), shares, rtol=0, atol=1e-9)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::slfs.UnseenValueWarning")
def test_pgmpy_gives_the_same_posteriors(fitted):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("pgmpy", reason="pgmpy is not installed")
        from pgmpy.inference import VariableElimination
        from pgmpy.readwrite import BIFReader

        classifier, X = fitted
        network = BIFReader(string=to_bif(classifier)).get_model()
        assert network.check_model()
        states, _ = read_bif(to_bif(classifier))
        root = next(iter(states))
        assert network.states == states
        engine = VariableElimination(network)
        found = to_states(classifier, X)
        for evidence, shares in list(zip(found, classifier.predict_proba(X), strict=True))[:15]:
            table = engine.query([root], evidence=evidence, show_progress=False)
            own = [table.get_value(**{root: state}) for state in states[root]]
            np.testing.assert_allclose(own, shares, rtol=0, atol=1e-9)


def tree(names, parents, class_name="class"):
    """A network with the given parents and arbitrary values."""
    n = len(names)
    levels = np.ones(n, np.int64)
    for node, parent in enumerate(parents):
        levels[node] = 1 if parent == -1 else levels[parent] + 1
    figures = np.linspace(0.1, 1, 4 * n).reshape(4, n)
    return TreeNetwork(
        tuple(names), np.arange(n), np.array(parents, np.int64), levels, *figures, class_name
    )


def read_dot(text):
    """The edges of a Graphviz file; names are quoted, with escapes."""
    quoted = r'"((?:[^"\\]|\\.)*)"'
    lines = text.split("\n")
    assert (lines[0], lines[-1]) == ("digraph slfs {", "}")
    edges = []
    for line in lines[3:-1]:
        found = re.fullmatch(rf'  {quoted} -> {quoted} \[label="[0-9.]+"\];', line)
        edges.append(
            tuple(
                re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], name)
                for name in found.groups()
            )
        )
    return edges


def read_mermaid(text):
    """The edges of a Mermaid flowchart; entities stand for characters."""
    lines = text.split("\n")
    assert lines[0] == "flowchart TD"
    names, edges = {}, []
    for line in lines[1:]:
        node = re.fullmatch(r'  (root|n\d+)(?:\(\["([^"]+)"\]\)|\["([^"]+)"\])', line)
        if node:
            label = node[2] or node[3]
            assert not re.search(r"[<>&{}\[\]`%;]", re.sub(r"#\d+;", "", label))
            names[node[1]] = re.sub(r"#(\d+);", lambda m: chr(int(m[1])), label)
        else:
            above, below = re.fullmatch(r"  (root|n\d+) -->\|[0-9.]+\| (n\d+)", line).groups()
            edges.append((names[above], names[below]))
    return edges


class Reader(html.parser.HTMLParser):
    """Collects the text and the elements of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.shown = set(), [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.add((tag, *dict(attributes)))
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.shown.append(data)


def test_forms_agree_on_the_edges():
    network = tree(HOSTILE[:-1], [-1, 0, 0, -1, 1, 2, 2, 3, -1, 4], "the <class>")
    assert read_dot(network.to_dot()) == network.edges
    assert set(network.to_networkx().edges) == set(network.edges)
    shown = [tuple(name.replace("\n", "\\n") for name in edge) for edge in network.edges]
    assert read_mermaid(network.to_mermaid()) == [tuple(map(str.strip, edge)) for edge in shown]


names = st.lists(st.text(max_size=8) | st.sampled_from(HOSTILE), min_size=1, max_size=6, unique=True)


@given(names)
def test_names_do_no_harm(names):
    network = tree(names, [-1, *range(len(names) - 1)], names[-1] + "?")
    printable = [name for name in names if name.isprintable() and name.strip() == name != ""]
    edges = read_mermaid(network.to_mermaid())
    assert len(edges) == len(names)
    assert set(printable) <= {name for edge in edges for name in edge}
    reader = Reader(network._repr_html_())
    assert reader.tags <= {("div", "class"), ("strong",), ("ul",), ("li",), ("small",)}
    assert reader.open == []
    for name in printable:
        assert any(name in text for text in reader.shown)


def test_a_large_network_is_cut_short_in_a_notebook():
    n = 3000
    network = tree([f"x{j}" for j in range(n)], list(range(-1, n - 1)))
    reader = Reader(network._repr_html_())
    assert reader.open == []
    assert "and 2500 more" in reader.shown
    assert network.to_mermaid().count("-->") == n


def test_class_that_a_feature_is_called_like():
    network = tree(["class"], [-1])
    assert read_mermaid(network.to_mermaid()) == [("class'", "class")]
    assert network.edges == [(network.root_name, "class")]
