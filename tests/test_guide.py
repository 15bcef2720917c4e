"""The guide and the reference for plugins: every example works and conforms. Generated references are complete."""

import dataclasses
import importlib
import inspect
import os
import re
import shutil
import subprocess
from pathlib import Path

import click
import numpy as np
import pytest
from agreement import make
from command import output, shell, stdout_of
from pages import GENERATED, make_input, print_page, text_of

import filterkit
from filterkit import Chain, FilterkitError, TrainingStage, errors, plugin, testing
from filterkit.cli import main
from filterkit.plugin.hookspecs import Hooks
from filterkit.plugin.registry import OWN, Registry, get_registry
from filterkit.stages.metric_scaling import ClassAgainstRestScaling, MetricScaling
from filterkit.stages.options import make_flag
from filterkit.testing import check_declaration, check_stage, sample

ROOT = Path(__file__).parent.parent
GUIDE = "".join((ROOT / "docs" / name).read_text() for name in ("plugins.md", "plugin-reference.md"))
BLOCKS = re.findall(r"^```python\n(.*?)^```", GUIDE, re.M | re.S)
EXAMPLES = [block for block in BLOCKS if "def filterkit_stages" in block or "def filterkit_metrics" in block]
IRIS = str(ROOT / "arff_samples/iris.arff")
# Samples of the kit: one of each form of rows.
FORMS = ("many-digits", "sparse-two-classes", "all-kinds", "multi-label", "one-row", "no-class")


def block(mark, folder):
    """The file `my_example.py` with the first example of the guide that has this text in it."""
    path = folder / "my_example.py"
    path.write_text(next(text for text in BLOCKS if mark in text))
    return str(path)


@pytest.mark.parametrize("text", EXAMPLES, ids=lambda text: re.search(r'name = "(\w+)"|Metric\("(\w+)"', text)[0])
def test_an_example_works_and_conforms(text, tmp_path):
    path = tmp_path / "my_example.py"
    path.write_text(text)
    known = Registry()
    known.load_plugin_file(str(path))
    (stage,) = known.plugins[-1].stages
    check_declaration(stage())
    for name in FORMS:
        check_stage(stage(), sample(name))
    said = f"% {'75 of 150' if issubclass(stage, TrainingStage) else '150'} rows"
    assert said in output("--plugin", path, IRIS, stage.name)


def test_the_subcommand_runs(tmp_path):
    shown = output("--plugin", block("def filterkit_subcommands", tmp_path), "classes", IRIS)
    assert shown == "setosa 50\nversicolor 50\nvirginica 50\n"


def test_the_text_format_reads_a_header_of_any_length(tmp_path):
    names = [f"attribute_number_{number}" for number in range(9000)]
    (tmp_path / "wide.space").write_text(" ".join(names) + "\n" + " ".join(map(str, range(9000))) + "\n")
    out = tmp_path / "out.space"
    output("--plugin", block("class Space(", tmp_path), "-o", out, tmp_path / "wide.space")
    assert out.read_text() == (tmp_path / "wide.space").read_text()


def test_the_axis_of_rows_in_several_blocks_is_that_of_numpy(tmp_path):
    known = Registry()
    known.load_plugin_file(block("class Axis(", tmp_path))
    rng = np.random.default_rng(0)
    X = np.outer(rng.normal(size=1100), rng.normal(size=100)) + 0.01 * rng.normal(size=(1100, 100))
    data = make(X, [0] * 1100)
    out = Chain([known.stages["axis"]()]).fit(data).transform(data).X
    _, lengths, axes = np.linalg.svd(X, full_matrices=False)
    found = abs(out[:, 0] @ (X @ axes[0])) / np.linalg.norm(out) / lengths[0]
    assert found == pytest.approx(1, abs=1e-9)


FILES = {"log": "class Log", "gini": "def gini", "arrows": "Arrows", "classes": "def classes", "in_order": "InOrder"}
FILES |= {"thirds": "class Thirds", "centroid": "class Centroid", "space": "class Space("}
FILES |= {"axis": "class Axis(", "thin": "class Thin("}


@pytest.mark.posix
def test_the_commands_of_the_guide_run(tmp_path):
    for name, mark in FILES.items():
        (text,) = [block for block in BLOCKS if mark in block]
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "in.arff").write_text(Path(IRIS).read_text())
    for command in re.findall(r"^    \$ (filterkit .*)$", GUIDE, re.M):
        stdout_of(shell(command.replace("--top 100 ", "--top 3 "), tmp_path))


def test_examples_have_fewer_than_20_lines():
    """A row stage, a column stage and a metric take fewer than 20 lines."""
    for mark in ("class Log(", "class Clip(", "def gini("):
        (text,) = [block for block in EXAMPLES if mark in block]
        assert sum(bool(line.strip()) for line in text.splitlines()) < 20


PUBLIC = ("filterkit", "filterkit.plugin", "filterkit.testing")
SOURCES = sorted((ROOT / "filterkit").rglob("*.py"))
PAGES = {name: (ROOT / "docs" / name).read_text() for name in ("plugins.md", "plugin-reference.md", "python.md")}


@pytest.mark.parametrize("page", PAGES)
def test_every_name_in_the_guide_can_be_imported(page):
    """`filterkit.name` wherever it stands, what examples import, and capitalised names of filterkit in the text."""
    text = PAGES[page]
    hooks = {hook.removeprefix("filterkit_") for hook in vars(Hooks)}  # groups of entry points are named so
    asked = {("filterkit", name) for name in re.findall(r"\bfilterkit\.(\w+)", text) if name not in hooks}
    for module, names in re.findall(r"^from (filterkit[.\w]*) import (.*)$", text, re.M):
        asked |= {(module, name) for name in names.split(", ")}
    assert len(asked) > 8
    for module, name in asked:
        found = importlib.import_module(module)
        assert hasattr(found, name) or importlib.import_module(f"{module}.{name}"), f"{page} names {module}.{name}"
        assert name in [*getattr(found, "__all__", [name]), "plugin", "testing", "sklearn"], name
    spans = " ".join(re.findall(r"`+([^`\n]+)`+", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)))
    defined = re.findall(r"^class (\w+)", "\n".join(path.read_text() for path in SOURCES), re.M)
    public = {name for module in PUBLIC for name in importlib.import_module(module).__all__}
    assert set(re.findall(r"(?<![\w.-])[A-Z]\w+", spans)) & set(defined) <= public


def test_examples_of_other_kinds_conform(tmp_path):
    known = Registry()
    for number, mark in enumerate(("def filterkit_formats", "class Space(", "InOrder", "def classes")):
        (tmp_path / str(number)).mkdir()
        known.load_plugin_file(block(mark, tmp_path / str(number)))
    (simple, kind, engine, command) = (
        thing for plugin in known.plugins for thing in (*plugin.formats, *plugin.engines, *plugin.subcommands)
    )
    for check in testing.FORMAT_CHECKS:
        for name in FORMS:
            check(simple, sample(name))
            check(kind(), sample(name))
    for check in testing.ENGINE_CHECKS:
        check(engine)
    for check in testing.SUBCOMMAND_CHECKS:
        check(command)


def test_the_manual_page_is_current():
    """The repository holds it, because packages are built where nothing can print it."""
    said = (ROOT / "docs" / "filterkit.1").read_text(encoding="utf-8")
    assert print_page("docs/man.py") == said, "python docs/man.py > docs/filterkit.1"


def test_building_the_site_prints_every_generated_page():
    (printed,) = re.findall(r"^pages=\((.*)\)", (ROOT / "tools" / "build_site").read_text(), re.M)
    assert {f"docs/{name}.md" for name in printed.split()} == set(GENERATED)
    assert {f"/{page}" for page in GENERATED} <= set((ROOT / ".gitignore").read_text().splitlines())


@pytest.mark.posix
def test_the_manual_page_shows_without_warnings():
    if shutil.which("man") is None or shutil.which("groff") is None:
        pytest.skip("man or groff is not installed")
    page = str(ROOT / "docs" / "filterkit.1")
    options = {"env": os.environ | {"LC_ALL": "C.UTF-8"}, "capture_output": True, "text": True, "check": True}
    done = subprocess.run(["man", "--warnings=w", "-l", page], **options)
    assert done.stderr == "" and "filterkit evaluate" in done.stdout


def sections(page, level):
    """The text of each section of a generated page of docs/, by its title."""
    parts = re.split(rf"^{level} (.*)\n", text_of(f"docs/{page}"), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_stage_and_its_options_are_documented():
    documented = sections("stages.md", "###")
    assert set(documented) == {name for each in get_registry().plugins for name in offered(each)}
    shared = text_of("docs/stages.md").partition("Unless another table")[2]
    for name, text in documented.items():
        stage = get_registry().stages[name]
        assert len(text.strip().splitlines()[0]) > 10, f"{name} has no help"
        for field in dataclasses.fields(stage):
            flag = field.name.upper() if field.metadata["bare"] else make_flag(field)
            assert field.metadata["help"], f"{name} {flag} has no help"
            assert f"`{flag}" in (shared if issubclass(stage, ClassAgainstRestScaling) else text), f"{name} {flag}"


# Of the stages that metrics become, one example stands for all.
STAGES = {name: stage for name, stage in get_registry().stages.items() if not issubclass(stage, MetricScaling)}
STAGES["bns"] = get_registry().stages["bns"]


@pytest.mark.posix
@pytest.mark.parametrize("name", STAGES)
def test_the_examples_in_the_help_of_a_stage_run(name, tmp_path):
    make_input(tmp_path)
    (tmp_path / "arff_samples").symlink_to(ROOT / "arff_samples")
    commands = re.findall(r"^    (filterkit .*)$", inspect.getdoc(STAGES[name]), re.M)
    assert any(re.search(rf"(?<![\w-]){name}(?![\w-])", command) for command in commands)
    stdout_of(shell("\n".join(commands), tmp_path))


def test_every_hook_has_a_section_of_its_own():
    hooks = {name for name in vars(Hooks) if name.startswith("filterkit_")}
    documented = sections("hooks.md", "##")
    assert hooks == set(documented) and all(vars(Hooks)[name].__doc__ for name in hooks)


def test_every_format_and_its_options_are_documented():
    documented = sections("format_options.md", "##")
    kinds = {name: kind for name, kind in get_registry().formats.items() if name[0] not in "./"}
    assert set(documented) == set(kinds)
    for name, kind in kinds.items():
        for field in dataclasses.fields(kind) if isinstance(kind, type) else ():
            assert f"| `{kind.name_option(field)}=" in documented[name], f"{name} {field.name}"


def test_every_error_and_warning_is_documented_and_mistakes_end_in_one_line():
    text = text_of("docs/errors.md")
    for name, kind in inspect.getmembers(errors, inspect.isclass):
        assert f"\n### {name}\n" in text or not issubclass(kind, FilterkitError), name
    for name in dir(filterkit):
        kind = getattr(filterkit, name)
        assert f"\n| `{name}` | " in text or not (inspect.isclass(kind) and issubclass(kind, Warning)), name
    causes = re.findall(r" → (\d+):\n\n```text\n\$ .*\n((?:.+\n)+)```", text)
    assert len(causes) == text.count(" → ") and all(status in "12" for status, _ in causes)
    assert "Traceback" not in text


def offered(plugin):
    return [stage.name for stage in plugin.stages] if plugin.origin.startswith("arff-filterkit ") else []


def own_subcommands():
    return [get_registry().subcommands[name] for name in OWN["subcommand"]]


def test_every_subcommand_and_its_options_are_documented():
    documented = sections("command.md", "##")
    for command in (main.run_chain_or_subcommand, *own_subcommands()):
        text = documented["filterkit" if command is main.run_chain_or_subcommand else f"filterkit {command.name}"]
        assert command.help, command.name
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                assert option.help, f"{command.name} {option.name} has no help"
                for flag in (*option.opts, *option.secondary_opts):
                    assert re.search(rf"^\| .*`{flag}`.* \| \S.* \|$", text, re.M), f"{command.name} {flag}"


def test_only_known_options_are_hidden():
    options = [option for command in (main.run_chain_or_subcommand, *own_subcommands()) for option in command.params]
    hidden = {flag for option in options if getattr(option, "hidden", False) for flag in option.opts}
    assert hidden == {"--block-size"}  # which is for tests


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_documented(name):
    public = importlib.import_module(name).__all__
    documented = sections("api.md", "##")[name]
    texts = dict(re.findall(r"^### (\w+)\n(.*?)(?=^### |\Z)", documented, re.M | re.S))
    assert sorted(texts) == sorted(name for name in public if not name.startswith("__"))
    for each, text in texts.items():
        assert re.sub(r"^```python.*?^```", "", text, flags=re.M | re.S).strip(), f"{each} has no docstring"


@pytest.mark.parametrize("module", [filterkit, plugin, testing])
def test_type_checkers_see_every_public_name(module):
    listed = re.findall(r" as (\w+)$", Path(module.__file__).with_suffix(".pyi").read_text(encoding="utf-8"), re.M)
    assert sorted(listed) == sorted(module.__all__)


def test_methods_are_documented_with_what_they_take():
    for called in ("find_axes(most)", "output_columns(schema, state, totals)", "width"):
        assert f"\n- `{called}`: " in text_of("docs/api.md")


def test_every_option_is_tested():
    """Its flag, what takes the flag back, or its name occurs in a test of another file."""
    others = [path for path in Path(__file__).parent.rglob("test_*.py") if path.name != "test_guide.py"]
    texts = "\n".join(path.read_text() for path in others)
    for name, stage in get_registry().stages.items():
        for field in dataclasses.fields(stage):
            words = (make_flag(field), make_flag(field).replace("--", "--no-", 1), f"{field.name}=")
            assert field.metadata["bare"] or any(word in texts for word in words), f"{name} {words[0]} is in no test"


def test_the_picture_of_isolines_has_every_metric():
    pytest.importorskip("matplotlib", reason="pictures need matplotlib")
    kept = (ROOT / "docs" / "pictures" / "isolines.svg").read_text(encoding="utf-8")
    made = print_page("docs/isolines.py")
    metrics = [name for name, metric in get_registry().metrics.items() if metric.by_column is None]
    assert [name for name in metrics if f">{name}<" not in kept or f">{name}<" not in made] == []
