import zipfile

import fsspec
import pytest
from content import served

from filterkit.errors import FilterkitError
from filterkit.files.source import Source, find_input_file_sizes


def open_first(pattern):
    """Open the first of the inputs that a pattern names."""
    return Source(next(iter(find_input_file_sizes(pattern))))


@pytest.fixture
def folder(tmp_path):
    for name in ("b-2.arff", "b-1.arff", "b-10.arff", "a.arff", "c[1].arff", "c1.arff"):
        (tmp_path / name).write_text(name)
    return tmp_path


def test_patterns_of_urls_are_expanded_in_order_with_their_protocol(folder):
    found = find_input_file_sizes(f"file://{folder}/b-*.arff")
    assert list(found) == [f"file://{folder}/b-{n}.arff" for n in ("1", "10", "2")]
    assert list(found.values()) == [8, 9, 8]
    memory = fsspec.filesystem("memory")
    memory.pipe("/expanded/x1.csv", b"1\n")
    assert list(find_input_file_sizes("memory://expanded/x[12].csv")) == ["memory:///expanded/x1.csv"]


def test_patterns_in_chained_urls_are_expanded_where_they_stand(folder):
    with zipfile.ZipFile(folder / "all.zip", "w") as archive:
        for path in folder.glob("b-*.arff"):
            archive.write(path, path.name)
    for url in (f"zip://b-*.arff::file://{folder}/all.zip", f"simplecache::file://{folder}/b-*.arff"):
        assert list(find_input_file_sizes(url)) == [url.replace("*", n) for n in ("1", "10", "2")]
        assert open_first(url).read(100) == b"b-1.arff"


def test_a_file_that_has_the_name_of_a_pattern_is_meant_itself(folder):
    url = f"file://{folder}/c[1].arff"
    assert list(find_input_file_sizes(url)) == [url]


def test_web_servers_that_list_their_files_are_asked(folder):
    with served(folder) as url:
        assert list(find_input_file_sizes(f"{url}/b-*.arff")) == [f"{url}/b-{n}.arff" for n in ("1", "10", "2")]
        assert list(find_input_file_sizes(f"{url}/a.arff?x[1]=2")) == [f"{url}/a.arff?x[1]=2"]  # a query
        assert Source(f"{url}/a.arff?x[1]=2").read(100) == b"a.arff"
        with pytest.raises(FileNotFoundError, match=r"/z\*: no file matches this pattern$"):
            find_input_file_sizes(f"{url}/z*")


@pytest.mark.parametrize("pattern", ["x.arff", "x*.arff"])
def test_servers_that_cannot_be_asked_are_errors_that_say_why(pattern, folder):
    with served(folder) as closed:
        pass
    with served(folder, 403) as url:
        for server, message in (
            (closed, rf"{pattern.replace('*', '.')}: Connect call failed"),
            (url, r"x.*\.arff: .*(403|[Ff]orbidden|matches)"),
            ("nowhere:/", r"nowhere://.*: Protocol not known: nowhere"),
            (f"file://{folder}/none", r"no file matches|No such file"),
        ):
            with pytest.raises((FilterkitError, FileNotFoundError), match=message):
                open_first(f"{server}/{pattern}")


@pytest.mark.parametrize("pattern", ["x.arff", "x*.arff"])
def test_a_package_that_is_not_there_is_named(pattern, monkeypatch):
    fsspec.register_implementation("elsewhere", "no_such_package.Files", errtxt="Install no_such_package to read it")
    with pytest.raises(FilterkitError, match=r"elsewhere://b/x.*\.arff: Install no_such_package to read it$"):
        open_first(f"elsewhere://b/{pattern}")


@pytest.mark.parametrize("error", [TimeoutError(), RuntimeError("no credentials"), OSError("odd"), ValueError()])
def test_any_error_of_a_server_is_one_line_that_names_the_url(error, monkeypatch):
    memory = fsspec.filesystem("memory")
    memory.pipe("/errors/x.arff", b"1\n")
    source = Source("memory://errors/x.arff")

    def fail(*_, **__):
        raise error

    monkeypatch.setattr(type(memory), "cat_file", fail)
    with pytest.raises(FilterkitError) as caught:
        source.read_range(0, 1)
    words = str(error) or (
        "the server does not answer; try again later" if isinstance(error, TimeoutError) else "ValueError"
    )
    assert str(caught.value) == f"memory://errors/x.arff: {words}"
