"""The JSON Schemas: shipped files satisfy them, wrong ones do not."""

from __future__ import annotations

import jsonschema
import pytest

from capmodel.model.errors import InputError
from capmodel.model.schemas import KINDS, schema_of
from capmodel.model.shipped import shipped_content, shipped_names
from capmodel.model.yaml_source import read_yaml

SHIPPED = shipped_names("scenarios")


class TestSchema:
    def test_every_shipped_file_satisfies_it(self) -> None:
        validator = jsonschema.Draft202012Validator(schema_of("scenario"))
        for name in SHIPPED:
            content = shipped_content(name, "scenarios")
            assert content is not None
            validator.validate(read_yaml(content, name, InputError).plain())

    @pytest.mark.parametrize(
        "wrong",
        [{"cluster": {"nods": 3}}, {"hardware": {"ram": "12 parsecs"}}, {"cluster": {"nodes": 0}}, {"extends": 3}],
    )
    def test_wrong_files_do_not(self, wrong: dict[str, object]) -> None:
        assert not jsonschema.Draft202012Validator(schema_of("scenario")).is_valid(wrong)

    @pytest.mark.parametrize("kind", KINDS)
    def test_is_a_schema(self, kind: str) -> None:
        jsonschema.Draft202012Validator.check_schema(schema_of(kind))

    def test_of_an_unknown_kind_is_refused(self) -> None:
        with pytest.raises(InputError, match="did you mean prediction"):
            schema_of("predictions")
