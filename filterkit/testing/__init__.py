"""The conformance kit: what plugins must hold to, for their authors and for filterkit itself.

    import pytest
    from filterkit.testing import SAMPLES, check_declaration, check_stage, sample

    def test_declaration():
        check_declaration(MyStage())

    @pytest.mark.parametrize("name", SAMPLES)
    def test_conformance(name):
        refusal = check_stage(MyStage(), sample(name))
        if refusal:
            pytest.skip(str(refusal))

A check raises an `AssertionError` whose message says how to repair the plugin. A stage may refuse a sample with a
`StageError`, and a format with a `FilterkitError`, but then it must always refuse it.

`DECLARATION_CHECKS` take a stage; `CHECKS` a stage and a sample; `FORMAT_CHECKS` a file format and a sample;
`ENGINE_CHECKS` an engine class; `SUBCOMMAND_CHECKS` a click command. A metric is checked as the stage that it becomes.
The checks of a list stand in the order in which they are best run. Those in `BASIC_CHECKS` come before others that
build on them, and that would only report the same mistake once more.
"""

from filterkit._lazy import make_lazy_attributes

__getattr__, __dir__, __all__ = make_lazy_attributes(__name__, __file__)
