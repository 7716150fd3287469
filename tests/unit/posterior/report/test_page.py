"""The report: complete, self-contained, escaped, and sound in a real browser."""

import dataclasses
import html
import math
import re
import shutil
import subprocess
from html.parser import HTMLParser

import numpy as np
import pytest

import pydpmc as dp
from pydpmc.errors import WrongType
from pydpmc.posterior.privacy_curves import attack_success, best_guess
from pydpmc.rounding import upper

VOID_TAGS = {"meta", "link", "br", "hr", "img", "input"}
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def post():
    rng = np.random.default_rng(5)
    columns = ["age", "a_rather_long_column_name_that_must_not_widen_a_phone", "<script>alert(1)</script>"]
    data = dp.Data(rng.normal(size=(300, 3)), rng.integers(0, 2, 300), row_norm=1.0, columns=columns)
    model = dp.LogisticRegression(intercept=True, prior={"beta": dp.Normal(), "intercept": dp.Flat()})
    return dp.plan(model, data.public, dp.Barker(steps=6000, scale=0.3), chains=2).run(data, progress=False)


@pytest.fixture(scope="module")
def page(post, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "post.html"
    post.report(path, title="A study & its report", ledger_entry={"entry": 7, "left": "epsilon 0.5"})
    return path.read_text(encoding="utf-8")


def words_of(page):
    body = re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]*>", " ", body))


class Balanced(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        if tag not in VOID_TAGS:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_needs_nothing_from_outside(page):
    parser = Balanced()
    parser.feed(page)
    assert parser.open == []
    assert not {"script", "link", "img", "iframe"} & set(parser.seen)
    assert not re.search(r"https?:|src=|href=|@import|url\(", page)
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in page


def test_the_promise_names_what_it_takes_for_granted_of_the_attacker(page):
    """ChaCha20 is secure against bounded attackers only; the page once said "however much they compute"."""
    text = " ".join(words_of(page).split())
    assert "however much" not in text
    assert "it assumes that they cannot predict the random numbers" in text
    assert "ChaCha20" in text


def test_names_are_escaped(page):
    assert "<script" not in page
    assert "beta[&lt;script&gt;alert(1)&lt;/script&gt;]" in page
    assert "A study &amp; its report" in page


def test_the_figures_of_the_promise_are_those_of_the_guarantee(page, post):
    text = " ".join(words_of(page).split())
    epsilon = post.guarantee.epsilon(1e-6)
    assert f"epsilon = {upper(epsilon, 4)} at delta = 1e-06, for one record" in text
    assert epsilon > 700.0  # of these steps together: e to the epsilon is no double
    assert f"at most 10^{math.ceil(epsilon / math.log(10.0))} times" in text
    guess = upper(100 * best_guess(post.guarantee), 3)
    apart = f"can tell two versions of one record apart at most {guess} % of the time (a coin: 50 %)."
    assert f"Even someone who knows everything else {apart}" in text
    assert f"at most {guess} % of cases" in text
    (bound,) = attack_success(post.guarantee, [0.01])
    assert re.search(rf"1 % {re.escape(upper(100 * bound, 3))} %", text)
    assert post.guarantee.statement() in text


def test_everything_that_the_board_asks_for_is_there(page, post):
    text = " ".join(words_of(page).split())
    for heading in (
        *("The promise", "What one record can change", "What this rests on", "The data, as declared"),
        *("Model and prior", "The posterior", "Diagnostics", "How it was made"),
    ):
        assert heading in text
    for name, row in post.summary().rows.items():
        assert f"{name} {row['mean']:.3g}" in text
    assert "type: Normal, scale: 1, loc: 0" in text
    assert f"pydpmc {dp.__version__}" in text
    assert "epsilon 0.5" in text
    assert post.verdict.usable
    assert page.count("<svg") == 2 + 1 + 4 + 4


def test_draws_that_must_not_be_used_show_no_interval_and_no_density(rng):
    from pydpmc.posterior.report import render

    data = dp.Data(rng.uniform(-0.5, 0.5, (60, 2)), rng.integers(0, 2, 60), row_norm=1.0)
    plan = dp.plan(dp.LogisticRegression(), data.public, dp.Barker(steps=400, scale=1e-6))
    post = plan.run(data, progress=False)
    page = render(post)
    assert post.verdict.kind == "do not use"
    assert page.count("<svg") == 2 + 2  # privacy and traces
    text = " ".join(words_of(page).split())
    assert f"Do not use {post.verdict.reason[0].upper()}{post.verdict.reason[1:]}." in text
    assert "95%" not in text
    assert "90 % confidence" not in page
    assert "prior and posterior of" not in page


@pytest.fixture(scope="module")
def good():
    rng = np.random.default_rng(6)
    x = rng.uniform(-0.2, 0.2, (20_000, 13))
    data = dp.Data(x, (x[:, 0] * 4 + rng.logistic(size=20_000) > 0) * 1.0, row_norm=1.0)
    return dp.sample(dp.LogisticRegression(), data, dp.Newton(draws=40), epsilon=3.0, delta=1e-6, progress=False)


def test_useful_draws_have_both_boxes_intervals_and_pictures(good):
    from pydpmc.posterior.report import render

    page = render(good)
    text = " ".join(words_of(page).split())
    assert re.search(r"Useful Intervals about ([\d.]+ times )?as wide as without privacy\.", text)
    assert page.count('class="banner"') == 2
    row = good.interval(0.9).rows["beta[x0]"]
    assert f"beta[x0] {row['estimate']:.3g} {row['se']:.3g} {row['low']:.3g} {row['high']:.3g}" in text
    assert page.count("<svg") == 2 + 1 + 12


def test_the_page_counts_what_it_leaves_out_and_shows_few_draws_one_by_one(good):
    from pydpmc.posterior.report import render

    page = render(good)
    assert "The densities of the first 12 of 13 parameters:" in page
    first = page[page.index("prior and posterior of beta[x0]") :].split("</svg>")[0]
    assert first.count('<line class="posterior"') == 40
    assert '<polygon class="area"' not in first


def test_a_refused_interval_is_said_instead_of_quantiles_in_its_place(rng):
    data = dp.Data(rng.uniform(-0.5, 0.5, (60, 2)), rng.integers(0, 2, 60), row_norm=1.0)
    model = dp.LogisticRegression(prior=dp.Laplace(scale=1.0))
    run = dp.plan(model, data.public, dp.Barker(steps=8000, scale=1.0, w=0.2)).run(data, progress=False)
    from pydpmc.posterior.report import render

    text = " ".join(words_of(render(run)).split())
    assert run.verdict.usable
    assert "No confidence interval follows from these draws: intervals need a Normal or Flat prior" in text
    assert "(tempered, w = 0.2)" in text
    assert "90 % confidence intervals" not in text


def test_what_is_left_in_the_ledger_is_explained(good):
    from pydpmc.posterior.report import render

    entry = {"run": 1, "epsilon left after this run": 2.758}
    assert "the largest epsilon that one more run may cost" in " ".join(
        words_of(render(good, ledger_entry=entry)).split()
    )


def test_a_schema_shows_the_columns_as_declared(rng):
    schema = dp.Schema({"a": dp.Number(3, 7), "y": dp.Binary()}, target="y", missing="drop")
    data = schema.data({"a": rng.uniform(3, 7, 50), "y": rng.integers(0, 2, 50)})
    run = dp.plan(dp.LogisticRegression(), data.public, dp.Barker(steps=40, scale=0.3)).run(data, progress=False)
    from pydpmc.posterior.report import render

    assert "number in [3, 7]" in render(run, schema=schema)


def test_a_result_without_guarantee_says_so_first(rng):
    data = dp.Data(rng.integers(0, 2, 80))
    run = dp.sample(dp.BernoulliLogit(), data, dp.Barker(steps=60), private=False, progress=False)
    from pydpmc.posterior.report import render

    text = words_of(render(run))
    assert text.index("There is NO privacy guarantee") < text.index("The promise")
    assert "What one record can change" not in text
    assert "must not be released as private" in text


def test_a_single_draw_has_a_report_too(rng):
    data = dp.Data(rng.uniform(-0.5, 0.5, (60, 2)), rng.integers(0, 2, 60), row_norm=1.0)
    plan = dp.plan(dp.LogisticRegression(), data.public, dp.Langevin(w=0.05))
    from pydpmc.posterior.report import render

    assert "This is one draw, made on its own" in words_of(render(plan.run(data, progress=False)))


PROBE = """<!doctype html><body style="margin:0"><iframe id="f" style="width:380px;height:700px;border:0"></iframe>
<script>
const frame = document.getElementById("f");
frame.onload = () => {
  const root = frame.contentDocument.documentElement;
  const pictures = [...root.querySelectorAll("svg")];
  const wide = pictures.filter(picture => picture.getBoundingClientRect().width > 380);
  const cut = [...root.querySelectorAll(".scroll")].filter(table => table.scrollWidth > table.clientWidth);
  const counts = [pictures.length, wide.length, cut.length];
  document.body.dataset.found = [root.scrollWidth, root.clientWidth, ...counts].join(" ");
};
frame.srcdoc = %s;
</script></body>"""


def in_browser(path, *options):
    command = [
        BROWSER,
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        "--enable-logging=stderr",
    ]
    return subprocess.run([*command, *options, path.as_uri()], capture_output=True, text=True, timeout=240, check=True)


@pytest.mark.skipif(BROWSER is None, reason="no chromium on this machine: the report is not tested in a browser")
def test_a_phone_shows_it_without_horizontal_scroll_and_without_a_console_message(page, tmp_path):
    import json

    probe = tmp_path / "probe.html"
    probe.write_text(PROBE % json.dumps(page).replace("</", "<\\/"), encoding="utf-8")
    done = in_browser(probe, "--dump-dom", "--virtual-time-budget=3000")
    found = re.search(r'data-found="(\d+) (\d+) (\d+) (\d+) (\d+)"', done.stdout)
    assert found, done.stderr
    scroll, client, pictures, too_wide, cut_off = map(int, found.groups())
    assert client == 380
    assert scroll <= client
    assert pictures == page.count("<svg")
    assert too_wide == 0
    assert cut_off == 0  # no column of a table is to be looked for by scrolling
    assert "CONSOLE" not in done.stderr


@pytest.mark.skipif(BROWSER is None, reason="no chromium on this machine: the report is not printed to PDF")
def test_it_prints(page, tmp_path):
    source, pdf = tmp_path / "post.html", tmp_path / "post.pdf"
    source.write_text(page, encoding="utf-8")
    in_browser(source, f"--print-to-pdf={pdf}")
    assert pdf.read_bytes().startswith(b"%PDF")


def test_independent_draws_have_no_chain_to_diagnose(rng):
    data = dp.Data(rng.uniform(-0.5, 0.5, (60, 2)), rng.integers(0, 2, 60), row_norm=1.0)
    run = dp.plan(dp.LogisticRegression(), data.public, dp.Langevin(draws=7, w=0.05)).run(data, progress=False)
    assert run.summary()["beta[x0]"]["ess"] == 7.0
    assert np.isnan(run.summary()["beta[x0]"]["rhat"])
    from pydpmc.posterior.report import render

    text = words_of(render(run))
    assert "These are 7 independent draws" in text
    assert "largest R-hat" not in text
    assert "7 x " in str(dp.plan(dp.LogisticRegression(), data.public, dp.Langevin(draws=7, w=0.05)))


def test_the_choice_of_the_sampler_is_a_section_if_the_planner_chose(rng, good):
    from pydpmc.posterior.report import render

    x = rng.uniform(-0.5, 0.5, (20_000, 2))
    data = dp.Data(x, (rng.random(20_000) < 0.5) * 1.0, row_norm=1.0)
    post = dp.sample(dp.LogisticRegression(), data, epsilon=3.0, delta=1e-6, progress=False)
    text = " ".join(words_of(render(post)).split())
    assert "How the sampler was chosen Newton was taken:" in text
    assert "Langevin" in text
    assert "How the sampler was chosen" not in render(good)  # its sampler was named


@pytest.mark.parametrize("broken", [None, 3, {}, {"headings": 1, "rows": 2, "why": 3}, {"headings": ["a"], "rows": []}])
def test_a_strange_comparison_in_a_file_is_left_out(good, broken):
    from pydpmc.posterior.report import render

    strange = dataclasses.replace(good, plan={**good.plan, "comparison": broken})
    assert "How the sampler was chosen" not in render(strange)


def test_a_rehearsal_is_shown_at_the_top_with_its_picture(good):
    from pydpmc.posterior.report import render

    public = dp.Public(n=2000, columns=("x0", "x1"), has_target=True, row_norm=1.0)
    found = dp.plan(dp.LogisticRegression(), public, epsilon=3.0, delta=1e-6).rehearse(runs=2, progress=False)
    page = render(good, rehearsal=found)
    text = " ".join(words_of(page).split())
    assert f"ran 2 times on made-up records whose true values are known: {found.coverage:.0%} of its" in text
    assert page.index("What it can be trusted for") < page.index("The promise")
    picture = page[page.index("true against private values") : page.index("The promise")]
    assert picture.count("<circle") == found.truths.size
    with pytest.raises(WrongType, match="rehearsal must be what"):
        render(good, rehearsal={"runs": 3})
