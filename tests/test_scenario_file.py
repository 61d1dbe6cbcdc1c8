"""Scenario files: inheritance, problems with their lines, overrides, and round trips."""

from __future__ import annotations

from pathlib import Path

import pytest

from capmodel.model.errors import InputError, Problem, ScenarioError
from capmodel.model.overrides import shorthand_overrides
from capmodel.model.scenario import resolved_in_flight
from capmodel.model.scenario_file import dump_scenario, load_scenario
from capmodel.model.scenario_summary import scenario_summary
from capmodel.model.shipped import shipped_content, shipped_names
from capmodel.model.workload import ConsistencyLevel
from capmodel.model.yaml_source import MAX_BYTES, read_yaml
from capmodel.scenarios.catalogue import catalogue, scenario_names

SHIPPED = shipped_names("scenarios")


def write(folder: Path, text: str, name: str = "mine.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def problems(source: str | Path, *overrides: str) -> dict[str, Problem]:
    """Return the problems of a scenario that must be refused, by key."""
    with pytest.raises(ScenarioError) as caught:
        load_scenario(source, overrides)
    return {problem.key: problem for problem in caught.value.problems}


def refusal(source: str | Path, *overrides: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        load_scenario(source, overrides)
    return str(caught.value)


class TestDefault:
    def test_says_what_the_documentation_promises(self) -> None:
        default = load_scenario("default")
        assert (default.cluster.nodes, default.cluster.replication.factor, default.cluster.num_tokens) == (3, 3, 16)
        assert default.cluster.version == "5.0"
        assert (default.hardware.cores, default.hardware.ram) == (8, 32 * 2**30)
        assert default.hardware.data_disks.kind == "nvme"
        mix = {name: (op.share, op.consistency) for name, op in default.workload.operations.items()}
        assert mix == dict.fromkeys(("read", "write"), (0.5, ConsistencyLevel.LOCAL_QUORUM))
        assert default.clients.routing == "token-aware" and default.clients.shuffle_replicas
        assert resolved_in_flight(default) == 3 * 64

    def test_is_what_a_file_without_extends_differs_from(self, tmp_path: Path) -> None:
        mine = load_scenario(write(tmp_path, "hardware: {cores: 4}"))
        default = load_scenario("default")
        assert mine.hardware == default.hardware.model_copy(update={"cores": 4})
        assert (mine.cluster, mine.workload, mine.clients) == (default.cluster, default.workload, default.clients)

    def test_replicates_to_no_more_nodes_than_there_are_unless_the_factor_is_given(self, tmp_path: Path) -> None:
        assert load_scenario("default", ["cluster.nodes=2"]).cluster.replication.factor == 2
        assert "at most 2" in problems("default", "cluster.nodes=2", "cluster.replication.factor=3")[
            "cluster.replication.factor"
        ].right
        given = write(tmp_path, "cluster: {nodes: 2, replication: {factor: 3}}")
        assert "cluster.replication.factor" in problems(given)


class TestShipped:
    def test_all_are_listed_with_the_default_first(self) -> None:
        assert scenario_names()[0] == "default"
        assert sorted(scenario_names()) == sorted(SHIPPED)
        assert {"juho-1-node", "juho-2-nodes", "juho-2-nodes-through-one"} <= set(SHIPPED)
        assert all(entry.title and entry.nodes >= 1 for entry in catalogue())

    @pytest.mark.parametrize("name", SHIPPED)
    def test_each_is_named_like_its_file(self, name: str) -> None:
        assert load_scenario(name).name == name

    @pytest.mark.parametrize("name", SHIPPED)
    @pytest.mark.parametrize("differences", [False, True])
    def test_reads_back_as_it_was_written(self, name: str, differences: bool, tmp_path: Path) -> None:
        scenario = load_scenario(name)
        path = write(tmp_path, dump_scenario(scenario, differences=differences))
        assert load_scenario(path) == scenario

    def test_juho_asks_as_he_wrote(self) -> None:
        one, two, through_one = (load_scenario(f"juho-{n}") for n in ("1-node", "2-nodes", "2-nodes-through-one"))
        assert [s.cluster.nodes for s in (one, two, through_one)] == [1, 2, 2]
        assert through_one.clients.coordinators == (0,) and not two.clients.coordinators
        assert {resolved_in_flight(s) for s in (one, two, through_one)} == {50}
        assert one.workload.absent_keys == 1 and set(one.workload.operations) == {"read"}
        assert one.hardware.ram == 16 * 2**30 and one.hardware.nic == 1e9 / 8


class TestExtends:
    def test_finds_a_file_beside_this_one_and_holds_differences(self, tmp_path: Path) -> None:
        (tmp_path / "deep").mkdir()
        write(tmp_path, "extends: juho-1-node\nhardware: {cores: 2, heap: 1GiB}", "base.yaml")
        path = write(tmp_path / "deep", "extends: ../base.yaml\nhardware: {cores: 3}")
        scenario = load_scenario(path)
        assert (scenario.hardware.cores, scenario.hardware.heap) == (3, 2**30)
        assert scenario.cluster.version == "0.6" and scenario.clients.in_flight == 50
        assert (scenario.name, scenario.title) == ("mine", "")

    def test_refuses_a_circle(self, tmp_path: Path) -> None:
        write(tmp_path, "extends: b.yaml", "a.yaml")
        write(tmp_path, "extends: a.yaml", "b.yaml")
        assert "circle" in problems(tmp_path / "a.yaml")["extends"].right
        own = write(tmp_path, "# nothing\nextends: self.yaml", "self.yaml")
        assert problems(own)["extends"].line == 2

    @pytest.mark.parametrize("value", ["nosuch", "nosuch.yaml", "[a]", "3", "."])
    def test_refuses_what_is_not_there(self, value: str, tmp_path: Path) -> None:
        assert "extends" in problems(write(tmp_path, f"extends: {value}"))

    @pytest.mark.parametrize(
        ("text", "there", "gone"),
        [
            ("cluster: {groups: [{nodes: 4}]}", ("cluster", "groups"), ("cluster", "nodes")),
            ("clients: {in_flight: 7}", ("clients", "in_flight"), ("clients", "in_flight_per_node")),
            ("clients: {rate: 100/s}", ("clients", "rate"), ("clients", "in_flight_per_node")),
        ],
    )
    def test_keys_that_exclude_each_other_replace_each_other(
        self, text: str, there: tuple[str, str], gone: tuple[str, str], tmp_path: Path
    ) -> None:
        scenario = load_scenario(write(tmp_path, text))
        assert getattr(getattr(scenario, there[0]), there[1])
        assert getattr(getattr(scenario, gone[0]), gone[1]) is None

    def test_nodes_replace_groups_and_a_closed_load_an_open_one(self, tmp_path: Path) -> None:
        write(tmp_path, "cluster: {groups: [{nodes: 2}, {nodes: 3}]}\nclients: {rate: 5}", "base.yaml")
        path = write(tmp_path, "extends: base.yaml\ncluster: {nodes: 4}\nclients: {in_flight: 9}")
        scenario = load_scenario(path)
        assert scenario.cluster.node_count == 4 and scenario.clients.rate is None

    def test_both_in_one_file_are_a_contradiction(self, tmp_path: Path) -> None:
        path = write(tmp_path, "cluster: {nodes: 3, groups: [{nodes: 4}]}")
        assert "not both" in problems(path)["cluster.nodes"].right

    def test_lists_replace_and_maps_merge(self, tmp_path: Path) -> None:
        write(tmp_path, "clients: {coordinators: [0, 1]}\nhardware: {hops: {client: 1ms}}", "base.yaml")
        path = write(tmp_path, "extends: base.yaml\nclients: {coordinators: [2]}\nhardware: {hops: {same_rack: 2ms}}")
        scenario = load_scenario(path)
        assert scenario.clients.coordinators == (2,)
        assert (scenario.hardware.hops.client, scenario.hardware.hops.same_rack) == (0.001, 0.002)

    def test_a_mix_that_states_a_share_is_the_whole_mix(self, tmp_path: Path) -> None:
        whole = load_scenario(write(tmp_path, "workload: {operations: {read: {share: 1}}}"))
        assert set(whole.workload.operations) == {"read"}
        assert whole.workload.operations["read"].consistency is ConsistencyLevel.LOCAL_QUORUM
        levels = load_scenario(write(tmp_path, "workload: {operations: {read: {consistency: ONE}}}"))
        assert [op.share for op in levels.workload.operations.values()] == [0.5, 0.5]


class TestProblems:
    TEXT = """\
cluster:
  nods: 4
  replication:
    factor: three
hardware:
  ram: 12 parsecs
  cores: 0
workload:
  operations:
    read:
      consistency: quorum
clients:
  coordinators: [0, x]
"""

    def test_all_are_reported_at_once_with_file_line_value_and_what_would_be_right(self, tmp_path: Path) -> None:
        path = write(tmp_path, self.TEXT)
        found = problems(path)
        expected = {
            "cluster.nods": ("nods", 4, "did you mean nodes?"),
            "cluster.replication.factor": ("factor", "three", "a whole number"),
            "hardware.ram": ("ram", "12 parsecs", "64MiB"),
            "hardware.cores": ("cores", 0, "at least 1"),
            "workload.operations.read.consistency": ("consistency", "quorum", "did you mean QUORUM?"),
            "clients.coordinators[1]": ("coordinators", "x", "a whole number"),
        }
        lines = self.TEXT.splitlines()
        assert set(found) == set(expected)
        for key, (name, value, right) in expected.items():
            problem = found[key]
            assert problem.file == str(path) and problem.value == value and right in problem.right
            assert problem.line is not None and lines[problem.line - 1].strip().startswith(f"{name}:")

    def test_contradictions_are_reported_beside_wrong_types(self, tmp_path: Path) -> None:
        path = write(tmp_path, "hardware: {cores: many}\ncluster: {nodes: 2, replication: {factor: 5}}")
        assert set(problems(path)) == {"hardware.cores", "cluster.replication.factor"}

    def test_a_key_that_could_not_be_read_raises_no_second_problem(self, tmp_path: Path) -> None:
        path = write(tmp_path, "cluster: {nodes: lots, replication: {factor: 5}}")
        assert set(problems(path)) == {"cluster.nodes"}

    def test_what_the_default_says_is_named_as_the_default(self, tmp_path: Path) -> None:
        path = write(tmp_path, "hardware: {ram: 4GiB}")
        problem = problems(path)["hardware.heap"]
        assert problem.file == str(path) and problem.line is None and "this is the default" in problem.right

    @pytest.mark.parametrize(
        ("override", "suggestion"),
        [
            ("cluster.nods=4", "did you mean nodes?"),
            ("hardware.core=4", "did you mean cores?"),
            ("clients.inflight=4", "did you mean in_flight?"),
            ("nic=3", "did you mean hardware.nic"),
            ("rf=3", "did you mean cluster.replication.factor?"),
            ("hardware.data_disks.iops=3", "did you mean read_iops?"),
            ("workload.operation.read.share=1", "did you mean operations?"),
            ("zzzzzz=3", "known here: clients, cluster"),
        ],
    )
    def test_an_unknown_key_is_refused_with_the_nearest_known_one(self, override: str, suggestion: str) -> None:
        assert suggestion in refusal("default", override)

    @pytest.mark.parametrize("value", ["true", "[1]", "{a: 1}", "3.5", "'x'", "-1", "0", "1000000000", "1e400", ".nan"])
    def test_a_number_of_nodes_is_a_number_of_nodes(self, value: str) -> None:
        assert set(problems("default", f"cluster.nodes={value}")) == {"cluster.nodes"}

    def test_a_version_may_lack_its_quotes(self) -> None:
        assert load_scenario("default", ["cluster.version=4.1"]).cluster.version == "4.1"


class TestUnreadable:
    @pytest.mark.parametrize(
        ("content", "right"),
        [
            (b"", "a map of keys"),
            (b"- 1\n- 2\n", "a map of keys"),
            (b"cluster: {nodes: 4", "not YAML"),
            (b"\x00\x01\x02\xff\xfe", "UTF-8"),
            (b"a\x07b: 1", "not YAML"),
            (b"cluster: {nodes: 4}\n---\ncluster: {nodes: 5}\n", "not YAML"),
            (b"cluster: &a {nodes: 4}\nhardware: *a\n", "no aliases"),
            (b"cluster: " + b"[" * 30, "at most 20 levels"),
            (b"cluster: " + b"[" * 5000, "not YAML"),
            (b"cluster: !!python/object:os.system {}\n", "no tag"),
            (b"hardware: {cores: !!timestamp 2001-01-01, ram: !!binary aa}\n", "plain text"),
            (b"#" * (MAX_BYTES + 1), "at most 4 MiB"),
            (b"? [a, b]\n: 1\n", "a name before the colon"),
            (b"hardware: {cores: " + b"9" * 5000 + b"}", "fewer digits"),
        ],
        ids=lambda value: str(value)[:24],
    )
    def test_is_refused_in_a_sentence(self, content: bytes, right: str, tmp_path: Path) -> None:
        path = tmp_path / "broken.yaml"
        path.write_bytes(content)
        text = refusal(path)
        assert right in text and str(path) in text

    def test_a_key_given_twice_is_refused_with_both_lines(self, tmp_path: Path) -> None:
        path = write(tmp_path, "hardware:\n  cores: 4\n  cores: 8\n")
        assert refusal(path) == f"{path}:3: 'cores' only once; line 2 has it too"

    def test_billions_of_values_from_a_few_lines_are_refused_at_once(self, tmp_path: Path) -> None:
        lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
        lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 30)]
        assert "no aliases" in refusal(write(tmp_path, "\n".join(lines)))

    def test_a_file_that_is_not_there(self, tmp_path: Path) -> None:
        assert "no such file" in refusal(tmp_path / "nosuch.yaml")
        assert "not a folder" in refusal(tmp_path)
        assert "did you mean juho-2-nodes?" in refusal("juho-2-node")
        assert refusal("nul\0byte.yaml") and refusal("x" * 5000 + ".yaml") and refusal("")

    def test_a_name_is_not_a_way_out_of_the_folder(self) -> None:
        assert shipped_content("../model/versions", "scenarios") is None

    def test_dates_and_sixties_stay_text(self) -> None:
        values = read_yaml(b"a: 2024-01-01\nb: 1:30\nc: =\nd: 0x10\ne: yes\n", "f", InputError).plain()
        assert values == {"a": "2024-01-01", "b": "1:30", "c": "=", "d": 16, "e": True}


class TestText:
    def test_a_dump_is_written_as_people_write(self) -> None:
        text = dump_scenario(load_scenario("default"))
        for line in ("ram: 32GiB", "same_rack: 50us", "other_datacenter: 20ms", "nic: 10Gbit/s", "version: '5.0'"):
            assert line in text

    def test_differences_from_the_default_are_none_for_the_default(self) -> None:
        lines = dump_scenario(load_scenario("default"), differences=True).splitlines()
        assert [line.partition(":")[0] for line in lines] == ["format_version", "name", "title"]

    def test_a_scenario_in_json_is_in_si(self) -> None:
        assert load_scenario("default").model_dump(mode="json")["hardware"]["ram"] == 32 * 2**30

    def test_the_summary_says_what_was_assumed(self) -> None:
        assert scenario_summary(load_scenario("default", shorthand_overrides(rf=2))) == (
            "3 nodes, RF 2, 8 cores, 32 GiB, NVMe, Cassandra 5.0, 50/50 read/write at LOCAL_QUORUM, "
            "token-aware shuffled, 192 in flight, 5 x 34 B, uniform keys"
        )
        words = scenario_summary(load_scenario("juho-2-nodes-through-one", ["clients.rate=5000"]))
        assert "through 1 of the nodes" in words and "5,000/s poisson" in words and "100 % absent" in words
