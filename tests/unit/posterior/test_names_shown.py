"""Column names are a stranger's text: no output lets one move the cursor, end a line, or run in a browser."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import pydpmc as dp
from pydpmc.checks import visible
from pydpmc.posterior.inference import COLUMNS, Intervals

HOSTILE = ["age\x1b[2Jx", "a\nb | c |", "\u202egnp\u2066", "<img src=x onerror=y>", "nul\x00\x7f\x9b", "\u2028 \r"]
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


@pytest.fixture(scope="module")
def post():
    rng = np.random.default_rng(3)
    data = dp.Data(rng.normal(size=(80, 6)), rng.integers(0, 2, 80), row_norm=1.0, columns=HOSTILE)
    plan = dp.plan(dp.LogisticRegression(), data.public, dp.Barker(steps=400, scale=0.3), private=False)
    return plan.run(data, progress=False)


@pytest.fixture(scope="module")
def page(post, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "post.html"
    post.report(path, title="title\x1b\u202e")
    return path.read_text(encoding="utf-8")


def test_no_output_holds_a_control_character(post, page):
    schema = dp.Schema({name: dp.Number(0, 1) for name in HOSTILE}, missing="drop")
    intervals = Intervals({f"beta[{name}]": dict.fromkeys(COLUMNS, 0.0) for name in HOSTILE}, level=0.9, df=5.0)
    for shown in (post, post.summary(), intervals, schema):
        assert not CONTROL.search(str(shown))
    for text in (post._repr_html_(), post.table(), post.table("latex"), page):
        assert not CONTROL.search(text)


def test_every_name_takes_one_line_of_a_table(post):
    for text in (str(post.summary()), post.table()):
        assert sum("beta[" in line for line in text.splitlines()) == len(HOSTILE)
    rows = [line for line in post.table().splitlines() if line.startswith("| beta")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {8}
    assert "<img" not in post.table() + post._repr_html_()


def test_names_that_people_have_are_shown_as_they_are():
    for name in ("größe", "年齢", "سن\u200cها", "a b", "x_1", "👩\u200d👩\u200d👧"):
        assert visible(name) == name


def test_names_still_find_their_rows(post):
    assert set(post.summary()) == {f"beta[{name}]" for name in HOSTILE}


class Policed(HTMLParser):
    """What a browser would refuse under the page's own policy."""

    def __init__(self):
        super().__init__()
        self.policy, self.styles, self.refused, self.inside, self.before = None, [], [], None, []

    def handle_starttag(self, tag, attrs):
        attrs, self.inside = dict(attrs), tag
        if attrs.get("http-equiv") == "Content-Security-Policy":
            self.policy = dict(part.strip().split(" ", 1) for part in attrs["content"].split(";"))
        if self.policy is None:
            self.before.append(tag)
        if tag in ("script", "link", "img", "iframe", "object", "embed", "base", "form", "image", "use"):
            self.refused.append(tag)
        self.refused += [name for name in attrs if name == "style" or name.startswith("on") or name in ("src", "href")]

    def handle_data(self, data):
        if self.inside == "style" and data.strip():
            self.styles.append(data)
            self.inside = None


def test_the_report_works_under_its_own_content_security_policy(page):
    parser = Policed()
    parser.feed(page)
    assert parser.policy["default-src"] == "'none'"
    assert set(parser.policy) == {"default-src", "style-src", "base-uri", "form-action"}
    assert parser.before == ["html", "head", "meta"]  # the charset; nothing else comes before the policy
    (style,) = parser.styles
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert parser.policy["style-src"] == f"'sha256-{digest}'"
    assert parser.refused == []


def test_the_command_line_escapes_what_an_error_quotes(tmp_path, capsys):
    from pydpmc.cli.main import main

    (tmp_path / "study.toml").write_text('"a\\u001b[2J" = 1\n')
    assert main(["plan", str(tmp_path / "study.toml")]) == 1
    assert not CONTROL.search(capsys.readouterr().err)
