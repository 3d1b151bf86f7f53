"""The report in a real browser: what a reader clicks, types and sees."""

import shutil

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer

from slfs import MRMR, SLFS, ResidualPursuit
from slfs.evaluation.accuracy import compare_accuracy
from slfs.report import make_facts, render_html

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None
)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium on the path"),
]

SCRIPT = "<script>alert(1)</script>"
IMAGE = '"><img src=x onerror=alert(2)>'
LONG = "a name that is as long as names of measurements get, with the laboratory and the year in it " * 3


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def show(browser, tmp_path):
    """Open the report of some facts; at the end nothing may have gone wrong in the page."""
    problems, contexts = [], []

    def open_report(facts, width=1280, height=900, **settings):
        path = tmp_path / "report.html"
        path.write_text(render_html(facts), encoding="utf-8")
        context = browser.new_context(
            viewport={"width": width, "height": height}, reduced_motion="reduce", **settings
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: (problems.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: request.url == path.as_uri() or problems.append(request.url))
        page.goto(path.as_uri())
        return page

    yield open_report
    for context in contexts:
        context.close()
    assert problems == []


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = y.map({0: "malignant", 1: "benign"}).rename("diagnosis")
    selector = SLFS(order="conditional").fit(X, y)
    return make_facts(selector, data="cancer", accuracy=compare_accuracy(selector, X, y, cv=3))


@pytest.fixture(scope="module")
def pursuit():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return make_facts(SLFS(order="residual").fit(X, y))


@pytest.fixture(scope="module")
def hostile():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:, :4].set_axis([SCRIPT, IMAGE, "</script>", LONG], axis=1)
    return make_facts(SLFS().fit(X, pd.Series(np.where(y, "<b>", "</script>"), name=IMAGE)), data=SCRIPT)


def item(page, name):
    return page.get_by_role("treeitem", name=name)


def walk(facts, node=-1):
    """The nodes below a node from top to bottom, as the tree shows them: siblings by relevance."""
    children = [index for index, one in enumerate(facts["nodes"]) if one["parent"] == node]
    for child in sorted(children, key=lambda index: -facts["nodes"][index]["relevance"]):
        yield facts["nodes"][child]["name"]
        yield from walk(facts, child)


def branch(facts):
    """The name of the first child of the class with children, and the names below it."""
    top = (name for name in walk(facts) if node_of(facts, name)["parent"] == -1)
    found = ((name, list(walk(facts, facts["nodes"].index(node_of(facts, name))))) for name in top)
    return next((name, below) for name, below in found if below)


def node_of(facts, name):
    (node,) = [node for node in facts["nodes"] if node["name"] == name]
    return node


def names(page):
    return page.locator("#rows td:first-child button").all_inner_texts()


def overflow(page):
    return page.evaluate("document.documentElement.scrollWidth - window.innerWidth")


def test_a_clicked_node_shows_its_details(show, cancer):
    page = show(cancer)
    assert page.locator(".lead").inner_text() == cancer["summary"]
    assert page.locator(".score .dot").count() == 3
    assert overflow(page) <= 0
    item(page, "worst area,").locator("text").first.click()
    panel = page.locator("#panel")
    assert panel.locator("h3").inner_text() == "worst area"
    (node,) = [node for node in cancer["nodes"] if node["name"] == "worst area"]
    assert panel.locator(".sentence").inner_text() == node["sentence"]
    assert panel.locator(".bar-row").count() == 2 * len(node["levels"])
    assert panel.locator(".cuts li").all_inner_texts() == [f"{cut:.9g}" for cut in node["cuts"]]
    panel.get_by_text("Counts as a table").click()
    cells = panel.locator(".counts td").all_inner_texts()
    assert cells == [f"{count:,}" for counts in node["counts"] for count in counts]
    assert item(page, "worst area,").get_attribute("aria-selected") == "true"
    panel.get_by_role("button", name="worst perimeter").click()
    assert panel.locator("h3").inner_text() == "worst perimeter"


def test_subtrees_fold_and_unfold(show, cancer):
    page = show(cancer)
    tree = page.get_by_role("treeitem")
    size = len(cancer["nodes"]) + 1
    assert tree.count() == size
    parent, below = branch(cancer)
    item(page, f"{parent},").locator(".toggle").click()
    assert tree.count() == size - len(below)
    assert item(page, f"{parent},").get_attribute("aria-expanded") == "false"
    item(page, f"{parent},").locator(".toggle").click()
    page.get_by_role("button", name="Collapse all").click()
    assert tree.count() == 1 + sum(node["level"] == 1 for node in cancer["nodes"])
    page.get_by_role("button", name="Expand all").click()
    assert tree.count() == size


def test_the_tree_moves_and_zooms(show, cancer):
    page = show(cancer)
    world = page.locator("#drawing > g")
    before = world.get_attribute("transform")
    page.get_by_role("button", name="Zoom in").click()
    zoomed = world.get_attribute("transform")
    assert zoomed != before
    box = page.locator("#drawing").bounding_box()
    page.mouse.move(box["x"] + 60, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 160, box["y"] + 60, steps=4)
    page.mouse.up()
    moved = world.get_attribute("transform")
    assert moved != zoomed
    page.mouse.wheel(0, -300)
    page.wait_for_timeout(100)
    assert world.get_attribute("transform") == moved, "without a click into the tree the page scrolls"
    item(page, "diagnosis").click()
    moved = world.get_attribute("transform")
    page.mouse.wheel(0, -300)
    page.wait_for_function(
        "before => document.querySelector('#drawing > g').getAttribute('transform') !== before",
        arg=moved,
    )
    page.get_by_role("button", name="Fit").click()
    page.wait_for_timeout(50)
    assert all(
        box["x"] <= node.bounding_box()["x"] <= box["x"] + box["width"]
        for node in page.get_by_role("treeitem").all()
    )


@pytest.mark.parametrize("view", ["Drawing", "List"])
def test_the_keyboard_walks_the_tree(show, cancer, view):
    page = show(cancer)
    page.get_by_role("button", name=view, exact=True).click()
    parent, below = branch(cancer)
    order = ["diagnosis", *walk(cancer)]
    item(page, "diagnosis").focus()
    before = order[1 : order.index(parent)]
    for key, name in [
        *(("ArrowDown", name) for name in [*before, parent]),
        ("ArrowRight", below[0]),
        ("Enter", below[0]),
        ("ArrowLeft", parent),
        ("ArrowLeft", parent),  # collapses it
        ("ArrowDown", order[order.index(parent) + len(below) + 1]),
        ("ArrowUp", parent),
        ("ArrowRight", parent),  # expands it
        ("End", order[-1]),
        ("Home", "diagnosis"),
    ]:
        page.keyboard.press(key)
        focused = page.evaluate("document.activeElement.getAttribute('aria-label')")
        assert focused.startswith(f"{name},"), key
    assert page.locator("#panel h3").inner_text() == below[0]
    assert page.get_by_role("treeitem").count() == len(order)
    assert page.locator("[role=treeitem][tabindex='0']").count() == 1


def test_the_table_sorts_searches_and_filters(show, cancer):
    page = show(cancer)
    relevance = dict(zip(cancer["columns"]["name"], cancer["columns"]["relevance"], strict=True))
    assert [relevance[name] for name in names(page)] == sorted(relevance.values(), reverse=True)
    for head in page.locator("#head th").all():
        head.get_by_role("button").click()
        assert head.get_attribute("aria-sort") in ("ascending", "descending")
        assert page.locator("#head th:not([aria-sort=none])").count() == 1
    page.get_by_role("button", name="Name", exact=True).click()
    assert names(page) == sorted(relevance)
    page.get_by_role("button", name="Name", exact=True).click()
    assert names(page) == sorted(relevance, reverse=True)
    page.get_by_label("Search column names").fill("WORST")
    page.locator("#found").get_by_text("10 of 30 columns").wait_for()
    assert all(name.startswith("worst") for name in names(page))
    role, count = next((role, count) for role, count in cancer["role_counts"].items() if count > 1)
    page.get_by_role("button", name=f"{role} {count}", exact=True).click()
    assert names(page)
    assert all(
        cancer["roles"][cancer["columns"]["role"][cancer["columns"]["name"].index(name)]] == role
        for name in names(page)
    )
    page.get_by_role("button", name="All 30").click()
    page.get_by_label("Search column names").fill("nothing has this name")
    page.get_by_text("No matching columns.").wait_for()
    assert names(page) == []


def test_a_column_of_the_table_leads_to_the_tree_or_to_its_reason(show, cancer):
    page = show(cancer)
    page.get_by_role("button", name="Collapse all").click()
    page.locator("#rows").get_by_role("button", name="mean texture").click()
    assert page.locator("#panel h3").inner_text() == "mean texture"
    assert item(page, "mean texture").is_visible()
    page.locator("#rows").get_by_role("button", name="worst radius").click()
    detail = page.locator("#rows .detail").inner_text()
    assert detail.startswith("“worst radius” is dropped")
    assert "it has 0.462 nats of information about the class (70% of the class entropy)" in detail
    page.locator("#rows .detail").get_by_role("button").click()
    assert page.locator("#panel h3").inner_text() == "worst area"


def test_hostile_names_are_text(show, hostile):
    page = show(hostile)
    assert page.title().startswith(SCRIPT)
    assert page.locator("h1").inner_text() == SCRIPT
    assert set(names(page)) >= {SCRIPT, IMAGE, "</script>"}
    for node in range(page.get_by_role("treeitem").count()):
        page.get_by_role("treeitem").nth(node).locator("text").first.click()
    assert page.locator("img, #tree b").count() == 0
    page.wait_for_timeout(100)


def test_light_and_dark(show, cancer):
    page = show(cancer, color_scheme="light")
    background = "getComputedStyle(document.body).backgroundColor"
    button = page.get_by_role("button", name="Dark mode")
    light = page.evaluate(background)
    button.click()
    dark = page.evaluate(background)
    assert button.get_attribute("aria-pressed") == "true"
    assert dark != light
    button.click()
    assert page.evaluate(background) == light
    assert show(cancer, color_scheme="dark").evaluate(background) == dark


def test_a_phone_shows_everything_without_scrolling_sideways(show, cancer, hostile):
    for facts in (cancer, hostile):
        page = show(facts, width=360, height=740)
        page.get_by_role("treeitem").nth(1).click()
        assert overflow(page) <= 0
        assert page.locator("#rows tr").first.bounding_box()["width"] <= 360


@pytest.mark.parametrize("width", [1280, 390])
def test_the_curve_marks_the_number_of_columns(show, pursuit, width):
    page, path = show(pursuit, width=width), pursuit["size_path"]
    section = page.locator("#size")
    assert section.locator("p").first.inner_text() == path["sentence"]
    frame = section.locator(".curve > svg").bounding_box()
    dot = section.locator(".blue.dot").bounding_box()
    x = frame["x"] + frame["width"] * path["size"] / path["n_features"][-1]
    assert dot["x"] + dot["width"] / 2 == pytest.approx(x, abs=1)
    sizes = {path["size"], path["within_one_standard_error"]}
    assert set(section.locator(".mark-label").all_text_contents()) == set(map(str, sizes))
    trace = section.locator(".trace").get_attribute("points").split()
    assert len(trace) == len(path["log_loss"])
    section.get_by_text("Curve as a table").click()
    cells = section.locator(".counts td").all_inner_texts()
    assert [float(cell) for cell in cells[::2]] == path["log_loss"]
    rows = section.locator(".added li")
    assert rows.count() == len(pursuit["nodes"]) + 1
    assert rows.nth(1).inner_text().split("\n")[1] == pursuit["nodes"][0]["name"]
    assert rows.nth(1).locator(".value").inner_text() == f"{pursuit['nodes'][0]['log_loss']:.3f}"
    assert overflow(page) <= 0
    rows.nth(2).locator("button").click()
    assert page.locator("#panel h3").inner_text() == pursuit["nodes"][1]["name"]


def test_a_given_number_of_columns_has_no_curve(show):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    page = show(make_facts(ResidualPursuit(3).fit(X, y)))
    assert page.locator("#size h2").inner_text() == "What each column added"
    assert page.locator(".added li").count() == 4
    assert page.locator(".curve").count() == 0
    page = show(make_facts(MRMR(3).fit(X, y)))
    assert page.locator("#size, nav a[href='#size']").count() == 0
    random = np.random.default_rng(0)
    with pytest.warns(UserWarning, match="selected 0 of"):
        nothing = ResidualPursuit().fit(random.normal(size=(60, 2)), random.integers(0, 2, 60))
    page = show(make_facts(nothing))
    assert page.locator("#size, nav a[href='#size']").count() == 0


@pytest.fixture(scope="module")
def unspaced():
    """Names of columns, classes and target of 120 characters without a space."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X.columns = [
        f"{name.replace(' ', '_')}_{'measurement_' * 12}"[:117] + f"{i:03}" for i, name in enumerate(X)
    ]
    labels = np.array(["benign_" * 18, "malignant_" * 12])[y]
    return make_facts(SLFS().fit(X, pd.Series(labels, name="outcome_" * 15)), data="table_" * 20)


@pytest.mark.parametrize("width", [390, 768, 1000, 1280])
def test_long_names_do_not_widen_the_page(show, unspaced, width):
    page = show(unspaced, width=width)
    assert overflow(page) <= 0
    page.locator(".pick").last.click()
    page.locator("#rows tr:not(.kept) button").first.click()
    assert page.locator("#rows .detail").is_visible()
    assert overflow(page) <= 0
    for part in ("#answer", "#panel", "#table", "#reproduce-body"):
        spill = "one => one.scrollWidth - one.clientWidth"
        assert page.locator(part).evaluate(spill) <= 0, part


def test_the_first_screen_is_the_answer(show, cancer):
    for width, height, most in ((1280, 800, 15), (390, 844, 8)):
        page = show(cancer, width=width, height=height)
        picks = page.locator(".pick")
        assert picks.count() == min(most, cancer["n_selected"])
        assert page.locator(".why").inner_text() == cancer["dropped"]
        assert picks.first.locator(".pick-name").inner_text() == "worst perimeter"
        assert "strongly relevant" in picks.first.inner_text()
        assert "evidence: overwhelming" in picks.first.inner_text()
        assert "72%" in picks.first.inner_text()
        box = picks.nth(5).bounding_box()
        assert box["y"] + box["height"] <= height
        assert "seconds" not in page.locator(".intro").inner_text()
    page.get_by_role("button", name=f"Show all {cancer['n_selected']} in the table").click()
    assert page.locator("#found").inner_text().startswith(f"{cancer['n_selected']} of 30 columns")
    page.locator(".pick").nth(1).click()
    assert page.locator("#panel h3").inner_text() == "worst concave points"


def test_a_phone_shows_the_tree_as_a_list_of_whole_names(show, cancer):
    page = show(cancer, width=390, height=844)
    assert page.locator("#list").is_visible()
    assert not page.locator("#drawing").is_visible()
    assert page.locator("#list .line-name").all_inner_texts() == ["diagnosis", *walk(cancer)]
    parent, below = branch(cancer)
    item(page, f"{parent},").locator(".fold").click()
    size = len(cancer["nodes"]) + 1 - len(below)
    assert page.get_by_role("treeitem").count() == size
    item(page, "worst texture").click()
    assert page.locator("#panel h3").inner_text() == "worst texture"
    page.get_by_role("button", name="Drawing", exact=True).click()
    assert page.locator("#drawing [role=treeitem]").count() == size
    assert page.locator("#list [role=treeitem]").count() == 0
    assert overflow(page) <= 0


def test_names_in_a_fitted_drawing_are_legible(show, many):
    page = show(many)
    assert page.locator("#list").is_visible(), "more than 60 nodes are shown as a list"
    page.get_by_role("button", name="Drawing", exact=True).click()
    page.get_by_role("button", name="Expand all").click()
    assert page.get_by_role("treeitem").count() == many["n_selected"] + 1
    page.get_by_role("button", name="Fit").click()
    text = page.locator("#drawing .item.blue text").first.bounding_box()
    assert text["height"] >= 6.5


@pytest.fixture(scope="module")
def many():
    """Two hundred columns in a tree with several levels, and 26 classes."""
    random = np.random.default_rng(0)
    y = random.integers(0, 26, 3000)
    X = y[:, np.newaxis] * np.arange(1, 201) % 29 + random.normal(0, 3, (3000, 200))
    facts = make_facts(SLFS(max_depth=3).fit(X, np.array(list("abcdefghijklmnopqrstuvwxyz"))[y]))
    assert facts["n_selected"] > 60
    assert facts["depth"] > 1
    return facts


def test_many_classes_are_a_heat_map(show, many):
    page = show(many)
    assert page.locator("#panel .tile").count() == 26, "the classes"
    page.locator(".pick").first.click()
    cells = page.locator("#panel .chart .bar")
    (node,) = [node for node in many["nodes"] if node["name"] == page.locator("#panel h3").inner_text()]
    assert cells.count() == 26 * len(node["levels"])
    shares = np.array(node["counts"]).T / np.array(many["class_counts"])[:, np.newaxis]
    opacity = cells.evaluate_all("all => all.map((one) => Number(one.getAttribute('fill-opacity')))")
    np.testing.assert_allclose(opacity, shares.ravel(), atol=6e-4)
    assert cells.first.locator("title").text_content().startswith("a, ")


def test_the_columns_can_be_downloaded_as_csv(show, cancer, hostile):
    for facts in (cancer, hostile):
        page = show(facts)
        with page.expect_download() as download:
            page.get_by_role("button", name="Download CSV").click()
        assert download.value.suggested_filename.endswith(".csv")
        table = pd.read_csv(download.value.path(), encoding="utf-8-sig")
        assert table["name"].tolist() == facts["columns"]["name"]
        assert table["relevance"].tolist() == facts["columns"]["relevance"]
        assert table["selected"].sum() == facts["n_selected"]
        assert table["role"].tolist() == [facts["roles"][role] for role in facts["columns"]["role"]]
        assert table["explanation"].str.len().min() > 20
        parents = [None if node["parent"] < 0 else node["level"] for node in facts["nodes"]]
        assert table["parent"].notna().sum() == sum(level is not None for level in parents)


def test_formulas_in_names_are_text_in_the_csv_file(show):
    X = pd.DataFrame({"=1+1": [0, 1] * 50, "-x": [0, 0, 1, 1] * 25, 'a,b"c': [0, 1] * 50})
    page = show(make_facts(SLFS().fit(X, X["=1+1"])))
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").click()
    assert pd.read_csv(download.value.path())["name"].tolist() == ["'=1+1", "'-x", 'a,b"c']


def test_fdr_is_explained_where_it_is_shown(show, cancer):
    page = show(cancer)
    meaning = "expected share of irrelevant columns among those that are at least as significant"
    assert meaning in page.locator("#fdr-meaning").inner_text()
    assert meaning in page.get_by_role("button", name="FDR (q-value)").get_attribute("title")
    page.locator(".pick").first.click()
    assert meaning in page.locator("#panel").inner_text()


def test_warnings_duplicates_and_the_command_are_shown_if_there_are_any(show, cancer):
    page = show(cancer)
    assert not page.locator("#warnings").is_visible()
    assert page.locator("#duplicates").count() == 0
    assert "report written" in page.locator("#reproduce").inner_text()
    more = {"warnings": [SCRIPT], "duplicates": [["x1", IMAGE]], "command": "slfs select 'a b.csv'"}
    page = show({**cancer, **more})
    assert page.locator("#warnings").inner_text() == SCRIPT
    assert page.locator("#duplicates li").inner_text() == f"x1, {IMAGE}"
    assert page.locator("#reproduce pre").first.inner_text() == "slfs select 'a b.csv'"


def test_print_has_tree_and_first_rows_but_no_controls(show, cancer):
    page = show(cancer)
    page.emulate_media(media="print")
    assert page.get_by_role("treeitem").first.is_visible()
    assert not page.get_by_label("Search column names").is_visible()
    assert not page.get_by_text("Expand all").is_visible()
    assert page.locator("#rows tr").first.is_visible()
    assert page.locator(".pick").first.is_visible()
    page = show({**cancer}, width=390)
    page.emulate_media(media="print")
    assert page.locator("#list .line").first.is_visible()


def test_nothing_selected(show):
    random = np.random.default_rng(0)
    selector = SLFS().fit(random.normal(size=(100, 5)), random.integers(0, 2, 100))
    page = show(make_facts(selector))
    assert page.get_by_role("treeitem").count() == 0
    assert "No column was selected" in page.locator("#answer").inner_text()
    assert page.locator("nav a").all_inner_texts() == ["Columns", "Reproduce"]
    assert len(names(page)) == 5


def test_many_nodes_and_classes(show):
    random = np.random.default_rng(0)
    y = random.integers(0, 26, 3000)
    X = np.where(random.random((3000, 220)) < 0.4, (y[:, np.newaxis] * np.arange(1, 221)) % 26 // 5, 0)
    X = np.where(random.random(X.shape) < 0.2, random.integers(0, 6, X.shape), X)
    selector = MRMR(n_features_to_select=180, categorical_features="all").fit(
        X, np.array([f"class {c:02}" for c in range(26)])[y]
    )
    page = show(make_facts(selector))
    assert page.get_by_role("treeitem").count() == 181
    item(page, "class, the class").focus()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    labels = page.locator("#panel svg .chart-label").evaluate_all(
        "all => all.map((one) => one.lastChild.data)"
    )
    assert labels == [f"class {c:02}" for c in range(26)]
    for view in ("List", "Drawing"):
        page.get_by_role("button", name=view, exact=True).click()
        item(page, "class, the class").focus()
        page.keyboard.press("End")
        last = page.get_by_role("treeitem").last.bounding_box()
        frame = page.locator("#list" if view == "List" else "#drawing").bounding_box()
        assert frame["y"] <= last["y"] <= frame["y"] + frame["height"]


def test_a_hundred_thousand_columns_open_at_once(show):
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 200)
    noise = sparse.random(200, 99_980, density=0.01, format="csc", random_state=0)
    signal = sparse.csc_matrix((random.random((200, 20)) < 0.1 + 0.6 * y[:, np.newaxis]).astype(float))
    selector = SLFS().fit(sparse.hstack([noise, signal], format="csc"), y)
    page = show(make_facts(selector))
    paint = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
    page.wait_for_function(paint)
    assert page.evaluate(paint) < 5000
    assert page.locator("#rows tr").count() == 50
    assert page.locator("#page").inner_text() == "Page 1 of 2,000"
    first = names(page)
    page.get_by_role("button", name="Next").click()
    assert page.locator("#page").inner_text() == "Page 2 of 2,000"
    assert not set(first) & set(names(page))
    page.get_by_role("button", name="Previous").click()
    assert names(page) == first
    page.get_by_role("button", name="Name", exact=True).click()
    assert names(page)[:3] == ["x0", "x1", "x2"]
    page.get_by_label("Search column names").fill("x9999")
    page.get_by_text("11 of 100,000 columns").wait_for()
    assert names(page)[:2] == ["x9999", "x99990"]
