"""``explain``, ``diff``, ``releases``, ``verify``, ``record``, ``new`` on the recorded releases."""

import datetime
import json
from pathlib import Path

import jsonschema
import pytest

import sglang_contracts
from sglang_contracts.cli import index
from sglang_contracts.contract.load import parse_contract
from sglang_contracts.errors import ContractsError
from sglang_contracts.report.rules import read_pages, rule_pages
from sglang_contracts.surface import load_catalog

SCHEMAS = Path(__file__).parents[2] / "docs" / "schemas"
POOL = "sglang.srt.model_executor.forward_batch_info:ForwardBatch.token_to_kv_pool"

SOME = ">=0.5.12,<0.5.14"
"""Four releases: what is to be seen over all of them is seen in these."""

CONTRACT = """\
[contract]
id = "forward-batch"
title = "What a backend may read"
target = "sglang.srt.model_executor.forward_batch_info:ForwardBatch"
provider = "sglang"
consumer = "backend"
sglang = ">=0.4.6"
known_as = ["forward_batch"]

[fields.seq_lens]
note = "lengths with the prefix"

[fields.token_to_kv_pool]
sglang = "<{bound}"
source = "wheels"
[[fields.token_to_kv_pool.replaced_by]]
sglang = ">=0.5.13"
use = "sglang.srt.model_executor.forward_context:get_token_to_kv_pool"
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SGLANG_CONTRACTS_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def contract(monkeypatch):
    """One contract; its bound can be set wrong."""

    def use(bound="0.5.13"):
        found = parse_contract(CONTRACT.format(bound=bound), "forward-batch.toml")
        monkeypatch.setattr("sglang_contracts.contract.load_contracts", lambda: (found,))

    use()
    return use


def document(ran):
    found = json.loads(ran.out)
    schema = json.loads((SCHEMAS / f"{found['command']}.schema.json").read_text())
    jsonschema.validate(found, schema, jsonschema.Draft202012Validator)
    return found


@pytest.mark.parametrize(
    "spelling", [POOL, POOL.replace(":", "."), "ForwardBatch.token_to_kv_pool"]
)
def test_a_symbol_has_a_life_and_a_replacement(run, contract, spelling):
    ran = run("explain", spelling)
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0] == POOL
    assert lines[1] == "  in 0.4.6 ... 0.5.12.post1; gone since 0.5.13"
    assert "replaced in >=0.5.13 by" in lines[2]
    assert "forward_context:get_token_to_kv_pool" in " ".join(lines[2:4])
    found = document(run("explain", spelling, "-f", "json"))
    assert found["intervals"] == [{"first": "0.4.6", "last": "0.5.12.post1"}]
    assert found["clauses"][0]["id"] == "forward-batch/token_to_kv_pool"


def test_a_folder_without_init_is_a_module(run, contract):
    ran = run("explain", "sglang.srt.layers.attention")
    assert ran.out.startswith("sglang.srt.layers.attention\n  in 0.4.6 ... ")


@pytest.mark.parametrize(
    ("what", "hint"),
    [
        ("ForwardBatc", "ForwardBatch"),
        ("field-remved", "field-removed"),
        (POOL[:-1], "ForwardBatch.token_to_kv_pool"),
        ("flag:--attention-bakend", "flag:--attention-backend"),
        ("--attention-bakend", "flag:--attention-backend"),
        ("forward-bach/seq_lens", "forward-batch"),
        ("forward-batch/seq_len", "forward-batch/seq_lens"),
    ],
)
def test_near_misses_are_named(run, contract, what, hint):
    ran = run("explain", "--", what)
    assert ran.code == 2
    assert hint in ran.err


def test_a_clause_and_a_contract_say_what_they_hold(run, contract):
    ran = run("explain", "forward-batch/token_to_kv_pool")
    assert ran.out.startswith("forward-batch/token_to_kv_pool (field, <0.5.13)")
    assert "source: wheels" in ran.out
    document(run("explain", "forward-batch/token_to_kv_pool", "-f", "json"))
    ran = run("explain", "forward-batch")
    assert "known as: forward_batch" in ran.out
    assert "seq_lens" in ran.out


def test_a_contract_says_what_it_is_for_and_what_changed_last(run, monkeypatch):
    said = 'purpose = """\nWhat it\nis for.\n"""\nlast_change = "0.5.13: it went"\n'
    text = CONTRACT.format(bound="0.5.13").replace("target =", f"{said}target =", 1)
    found = parse_contract(text, "forward-batch.toml")
    monkeypatch.setattr("sglang_contracts.contract.load_contracts", lambda: (found,))
    ran = run("explain", "forward-batch")
    assert "  What it is for.\n  changed last: 0.5.13: it went\n" in ran.out
    facts = document(run("explain", "forward-batch", "-f", "json"))
    assert (facts["purpose"], facts["last_change"]) == ("What it is for.", "0.5.13: it went")


@pytest.mark.parametrize("rule", sorted(rule_pages()))
def test_every_rule_has_a_page_with_example_and_fix(run, contract, rule):
    page = rule_pages()[rule]
    assert set(page) == {"title", "why", "broken", "fixed", "fix"}
    assert page["broken"] != page["fixed"]
    ran = run("explain", rule)
    assert ran.code == 0
    assert page["title"] in " ".join(ran.out.split())
    document(run("explain", rule, "-f", "json"))


def test_the_list_names_rules_and_contracts(run, contract):
    for ran in (run("explain", "--list"), run("explain")):
        assert "  field-removed " in ran.out
        assert "  forward-batch " in ran.out
    assert "```text" in run("explain", "--list", "-f", "markdown").out


def test_verify_says_how_much_it_checked(run, contract):
    ran = run("verify", "--releases", SOME)
    assert ran.code == 0
    assert "2 clauses x 4 releases: 8 checked, 0 wrong" in ran.out
    assert "forward-batch" in ran.out
    assert document(run("verify", "--releases", SOME, "-f", "json"))["checked"] == 8


def test_verify_tells_a_wrong_bound_with_its_releases_and_the_right_one(run, contract):
    contract(bound="0.5.12")
    ran = run("verify", "--releases", SOME)
    assert ran.code == 1
    assert "contracts/forward-batch.toml:13" in ran.out
    assert "is present, but the range says '<0.5.12'" in " ".join(ran.out.split())
    assert "in 0.5.12, 0.5.12.post1" in ran.out
    assert "proposal: forward-batch/token_to_kv_pool: <0.5.13" in ran.out
    assert run("verify", "--release", "0.5.16").code == 0
    for name in ("sarif", "junit", "github", "markdown"):
        assert run("verify", "--releases", SOME, "-f", name).code == 1


def test_verify_of_an_unknown_contract_or_of_none(run, contract, monkeypatch):
    ran = run("verify", "--contract", "forward-bach")
    assert ran.code == 2
    assert "forward-batch" in ran.err
    monkeypatch.setattr("sglang_contracts.contract.load_contracts", lambda: ())
    ran = run("verify")
    assert ran.code == 2
    assert "no clause to verify" in ran.err


def test_diff_is_exit_one_where_something_differs(run, contract):
    ran = run("diff", "0.5.12", "0.5.13")
    assert ran.code == 1
    assert "removed (1)" in ran.out
    assert "- ForwardBatch.token_to_kv_pool" in ran.out
    assert "forward_context:get_token_to_kv_pool" in ran.out
    found = document(run("diff", "0.5.12", "0.5.13", "-f", "json"))
    assert (found["old"], found["new"]) == ("0.5.12", "0.5.13")
    assert "### Removed" in run("diff", "0.5.12", "0.5.13", "-f", "markdown").out
    ran = run("diff", "0.5.12", "0.5.12.post1")
    assert ran.code == 0
    assert "0 differences" in ran.out


def test_releases_tell_what_the_index_has_beyond(run, monkeypatch):
    newest = load_catalog().releases[-1]
    monkeypatch.setattr(
        "sglang_contracts.surface.obtain.available", lambda: (newest, "0.99.0", "0.99.0.post1")
    )
    ran = run("releases")
    assert ran.code == 0
    assert f"{len(load_catalog().releases)} releases recorded" in ran.out
    assert "sglang-contracts record 0.99.0 0.99.0.post1" in " ".join(ran.out.split())
    found = document(run("releases", "--offline", "-f", "json"))
    assert found["beyond"] == ["0.99.0", "0.99.0.post1"]
    assert "| 0.5.12 |" in run("releases", "--offline", "-f", "markdown").out


def test_releases_work_without_a_network(run, monkeypatch):
    def offline():
        raise ContractsError("the index cannot be asked", "check the network")

    monkeypatch.setattr("sglang_contracts.surface.obtain.available", offline)
    ran = run("releases")
    assert ran.code == 0
    assert "the index cannot be asked (check the network)" in ran.out
    assert "the index has not been asked" in ran.out


def test_what_the_index_had_is_remembered_unless_the_memory_is_broken(tmp_path, monkeypatch):
    monkeypatch.setattr("sglang_contracts.surface.obtain.available", lambda: ("0.5.1",))
    index.ask_index()
    assert index.remembered_index() == index.Index(datetime.date.today(), ("0.5.1",))
    (tmp_path / "cache" / "index.json").write_text("{")
    assert index.remembered_index() is None


@pytest.mark.parametrize("spec", ["nonsense", "./none.whl"])
def test_what_cannot_be_recorded_is_told(run, spec):
    ran = run("record", spec)
    assert ran.code == 2
    assert ran.err.startswith("error: ")


def test_what_is_recorded_is_left_alone(run):
    ran = run("record", "0.5.12")
    assert ran.code == 0
    assert "is recorded already" in ran.out
    assert document(run("record", "0.5.12", "-f", "json"))["recorded"][0]["fresh"] is False


def test_a_new_contract_is_a_stub_with_a_test(run, tmp_path):
    folder = tmp_path / "contracts"
    folder.mkdir()
    ran = run("new", "contract", "my-interface", "--into", folder)
    assert ran.code == 0
    assert (folder / "my-interface.toml").is_file()
    assert run("new", "contract", "my-interface", "--into", folder).code == 2
    assert run("new", "contract", "My Interface", "--into", folder).code == 2


@pytest.fixture
def checkout(tmp_path):
    """What ``new rule`` looks at in a checkout."""
    rules = Path("sglang_contracts", "verify", "rules")
    (tmp_path / rules).mkdir(parents=True)
    (tmp_path / "tests" / "verify" / "rules").mkdir(parents=True)
    top = Path(sglang_contracts.__file__).parents[1]
    (tmp_path / rules / "registry.py").write_bytes((top / rules / "registry.py").read_bytes())
    return tmp_path


def test_a_new_rule_is_in_every_place(run, checkout):
    ran = run("new", "rule", "import-as", "--checkout", checkout)
    assert ran.code == 0
    rules = checkout / "sglang_contracts" / "verify" / "rules"
    registry = (rules / "registry.py").read_text()
    before = (Path(sglang_contracts.__file__).parent / "verify/rules/registry.py").read_text()
    added = set(registry.splitlines()) - set(before.splitlines())
    assert added == {'    "import_as",'}
    assert '    "import_as",\n)' in registry
    for text in (registry, (rules / "import_as.py").read_text()):
        compile(text, "module", "exec")
    assert set(read_pages((rules / "import_as.toml").read_text())) == {"import-as"}
    fixtures = checkout / "tests" / "verify" / "rules" / "import_as"
    assert sorted(path.name for path in fixtures.iterdir()) == ["fires", "new", "old", "silent"]
    assert run("new", "rule", "import-as", "--checkout", checkout).code == 2


def test_a_new_rule_wants_a_new_name_and_a_checkout(run, checkout):
    for name in ("field-removed", "clause-bounds", "Field", "single", "a" * 30 + "-b"):
        assert run("new", "rule", name, "--checkout", checkout).code == 2
    assert run("new", "rule", "other-name", "--checkout", checkout / "tests").code == 2


def test_an_installed_copy_says_where_rules_are_made(run, tmp_path, monkeypatch):
    monkeypatch.setattr("sglang_contracts.paths.package", lambda: tmp_path / "sglang_contracts")
    ran = run("new", "rule", "other-name")
    assert ran.code == 2
    assert "pip install -e" in ran.err


def test_what_is_shipped_is_listed_with_what_could_not_be(run, tmp_path, monkeypatch):
    from sglang_contracts.surface import Catalog
    from sglang_contracts.surface.roster import load_roster

    shipped = tmp_path / "matrix" / "surfaces"
    shipped.mkdir(parents=True)
    for release in ("0.4.6", "0.4.6.post1"):
        source = load_catalog().shipped / f"{release}.surface"
        (shipped / source.name).write_bytes(source.read_bytes())
    monkeypatch.setattr(
        "sglang_contracts.surface.load_catalog", lambda: Catalog(shipped, tmp_path / "none")
    )
    monkeypatch.setattr(
        "sglang_contracts.surface.obtain.available", lambda: ("0.4.6", "0.4.6.post1", "0.4.7")
    )

    def unreachable(release, folder):
        raise ContractsError(f"pip cannot fetch {release}")

    monkeypatch.setattr("sglang_contracts.surface.obtain.download", unreachable)
    ran = run("record", "--shipped")
    assert ran.code == 0
    assert "pip cannot fetch 0.4.7" in ran.out
    roster = load_roster(shipped.parent / "releases.toml")
    assert [each.version for each in roster.releases] == ["0.4.6", "0.4.6.post1"]
    assert [(each.version, each.reason) for each in roster.missing] == [
        ("0.4.7", "pip cannot fetch 0.4.7")
    ]
    assert roster.checked == datetime.date.today().isoformat()


def test_record_wants_something_to_record(run):
    assert run("record").code == 2
    assert run("record", "--shipped", "--into", "x").code == 2


def test_an_installation_is_not_written_to(run, tmp_path, monkeypatch):
    (tmp_path / "data" / "matrix").mkdir(parents=True)
    monkeypatch.setattr("sglang_contracts.paths.package", lambda: tmp_path)
    ran = run("record", "--shipped", "0.5.12")
    assert ran.code == 2
    assert "is for a checkout" in ran.err


def test_what_sglang_expects_and_has_not_itself_is_explained_by_its_clause(run):
    short = run("explain", "CustomSpecAlgo.create_future_map", "--format", "json")
    assert short.code == 0
    said = json.loads(short.out)
    assert said["kind"] == "clause"
    spelled = "sglang.srt.speculative.spec_registry:CustomSpecAlgo.create_future_map"
    assert run("explain", spelled, "--format", "json").out == short.out
    unknown = run("explain", "CustomSpecAlgo.create_future_maps")
    assert unknown.code == 2
    assert "no recorded release has" in unknown.err
