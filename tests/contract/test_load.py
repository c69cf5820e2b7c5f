import pytest

from sglang_contracts.contract.load import parse_contract
from sglang_contracts.contract.model import Kind, KvWrites, Role, known_names, variant
from sglang_contracts.errors import ContractsError

HEAD = """\
[contract]
id = "batch"
title = "t"
target = ["sglang.srt.new:Batch", "sglang.srt.old:Batch"]
provider = "sglang"
consumer = "backend"
sglang = ">=0.4.6"
known_as = "forward_batch"

[dims]
B = "requests"
T = "tokens"

"""


def loaded(body: str, head: str = HEAD):
    return parse_contract(head + body, "batch.toml")


def failure(body: str, head: str = HEAD) -> ContractsError:
    with pytest.raises(ContractsError) as caught:
        loaded(body, head)
    return caught.value


def test_a_field_is_spelt_on_every_target():
    contract = loaded('[fields.seq_lens]\ndtype = "int64"\nshape = ["B"]\ndevice = "compute"\n')
    clause = contract.clauses[0]
    assert clause.id == "batch/seq_lens"
    assert clause.kind is Kind.FIELD
    assert clause.symbols == ("sglang.srt.new:Batch.seq_lens", "sglang.srt.old:Batch.seq_lens")
    assert clause.sglang == (">=0.4.6",)
    assert variant(clause.dtype, "0.5.0") == ("int64",)
    assert clause.line == 14
    assert contract.clause("seq_lens") is clause


def test_values_may_depend_on_the_release():
    clause = loaded(
        '[fields.x]\ndtype = [{ sglang = "<0.5.3", value = "int32" }, '
        '{ sglang = ">=0.5.3", value = ["int64", "int32"] }]\n'
    ).clauses[0]
    assert variant(clause.dtype, "0.5.2") == ("int32",)
    assert variant(clause.dtype, "0.5.3") == ("int64", "int32")


def test_a_member_of_a_further_class_is_named_by_it():
    contract = loaded(
        '[classes.Pool]\nsymbol = "sglang.srt.m:Pool"\nknown_as = ["pool"]\n'
        '[methods."Pool.set"]\nparameters = ["loc", "x=", "*", "y", "**kwargs"]\n'
        "host_transfers = 0\n"
        'kv_writes = { method = "set", when = "x", loc = "f.loc" }\n'
        'returns = { dtype = "q.dtype", shape = ["T", "B * 2"], device = "q.device" }\n'
    )
    method = contract.clause("Pool.set")
    assert method is not None
    assert method.symbols == ("sglang.srt.m:Pool.set",)
    assert variant(method.parameters, "0.5.0") == ("loc", "x=", "*", "y", "**kwargs")
    assert method.host_transfers == 0
    assert method.kv_writes == KvWrites(method="set", when="x", loc="f.loc")
    assert known_names((contract,)) == {
        "forward_batch": contract.targets,
        "pool": ("sglang.srt.m:Pool",),
    }


def test_flags_environment_and_registries_have_their_own_spelling():
    contract = loaded(
        '[flags."--tp-size"]\n[flag_values."--x(y)"]\n[environment.SGLANG_X]\n'
        '[registries.nsa]\nsymbol = "sglang.srt.r:BACKENDS"\n'
        '[modules.r]\nsymbol = "sglang.srt.r"\n[functions.f]\nsymbol = "sglang.srt.r:f"\n'
    )
    assert {clause.symbols[0] for clause in contract.clauses} == {
        "flag:--tp-size",
        "flag:--x(y)",
        "env:SGLANG_X",
        'sglang.srt.r:BACKENDS["nsa"]',
        "sglang.srt.r",
        "sglang.srt.r:f",
    }


def test_a_behaviour_says_whom_it_hits():
    clause = loaded(
        '[behaviours.b]\nsglang = ">=0.5.13"\nnow = "n"\nseverity = "warning"\n'
        'on = { symbol = "sglang.srt.m:C.f", role = "overrider", argument = "loc", position = 1 }\n'
    ).clauses[0]
    assert clause.on is not None
    assert clause.on.role is Role.OVERRIDER
    assert (clause.on.argument, clause.on.position) == ("loc", 1)
    assert clause.symbols == ("sglang.srt.m:C.f",)
    assert clause.severity == "warning"


def test_an_obligation_is_spelt_on_the_class_of_the_plugins_object():
    clause = loaded('[obligations.pool]\nreceivers = ["backend"]\n').clauses[0]
    assert (clause.id, clause.name) == ("batch/pool", "pool")
    assert clause.symbols == ("sglang.srt.new:Batch.pool", "sglang.srt.old:Batch.pool")


def test_an_obligation_may_have_an_id_beside_the_name():
    clause = loaded('[obligations.pool-call]\nname = "pool"\nreceivers = "backend"\n').clauses[0]
    assert (clause.id, clause.name) == ("batch/pool-call", "pool")
    assert clause.symbols == ("sglang.srt.new:Batch.pool", "sglang.srt.old:Batch.pool")


def test_dotted_keys_say_whom_a_behaviour_hits():
    dotted = 'on.symbol = "sglang.srt.m:C.f"\non.role = "caller"\n'
    head = '[behaviours.b]\nsglang = ">=0.5.13"\nnow = "n"\n'
    inline = 'on = { symbol = "sglang.srt.m:C.f", role = "caller" }\n'
    assert loaded(head + dotted).clauses == loaded(head + inline).clauses
    error = failure(head + dotted.replace("caller", "caler"))
    assert error.message.startswith("batch.toml:18: unknown role 'caler'")


def test_a_replacement_may_hold_in_some_releases_only():
    clause = loaded(
        '[fields.x]\nsglang = "<0.5.3"\nreplaced_by = [{ sglang = ">=0.5.3,<0.5.8", use = "a" }, '
        '{ sglang = ">=0.5.8", use = "b" }]\n'
    ).clauses[0]
    found = [clause.replacement(release) for release in ("0.5.2", "0.5.3", "0.5.8")]
    assert [each and each.use for each in found] == [None, "a", "b"]


@pytest.mark.parametrize(
    ("body", "line", "text", "hint"),
    [
        ('[feilds.x]\ndtype = "a"\n', 14, "unknown table 'feilds'", "fields"),
        ('[fields.x]\ndtpye = "a"\n', 15, "unknown key 'dtpye' in [fields.x]", "dtype"),
        ('[fields.x]\nsglang = "<=0.5.12"\n', 15, "'<=0.5.12'", "0.5.12.post1"),
        ('[fields.x]\nsglang = [">=0.5.3", "!=0.5.4"]\n', 15, "'!=0.5.4'", "list"),
        ('[fields.x]\nshape = ["B", "TT"]\n', 15, "unknown dimension 'TT'", "'T'"),
        ('[fields.x]\nshape = [\n"B",\n"len(T)"]\n', 17, "bad dimension 'len(T)'", "..."),
        ('[fields.x]\ndevice = "hots"\n', 15, "'device' cannot be 'hots'", "host"),
        ('[fields.x]\noptional = "yes"\n', 15, "must be true or false, not 'yes'", ""),
        ("[fields.x]\ndtype = 3\n", 15, "must be a string or a list", ""),
        ("[fields]\nx = 3\n", 15, "'x' must be a table", ""),
        ('[invariants.i]\nholds = "len(sq) == B"\n', 15, "unknown field 'sq'", ""),
        (
            '[fields.seq_lens]\n[invariants.i]\nholds = "len(seq_len) == B"\n',
            16,
            "unknown field 'seq_len'",
            "seq_lens",
        ),
        ('[invariants.i]\nholds = "eval(B)"\n', 15, "eval", ""),
        ('[invariants.i]\nnote = "n"\n', 14, "needs the key 'holds'", "expression"),
        ('[[invariants]]\nid = "i"\nholds = "B"\n', 14, "a table of tables", "[invariants.ID]"),
        ('[functions.f]\nnote = "n"\n', 14, "needs the key 'symbol'", "module:Qual"),
        ('[functions.f]\nsymbol = "no symbol"\n', 15, "'no symbol' is no symbol", "module:Qual"),
        ('[fields."Pool.x"]\n', 14, "unknown class 'Pool'", ""),
        ('[methods.m]\nparameters = ["a b"]\n', 15, "'a b' is no parameter", "name="),
        ("[flags.tp-size]\n", 14, "'tp-size' is no flag", "--tp-size"),
        (
            '[behaviours.b]\nsglang = ">=0.5"\nnow = "n"\n'
            'on = { symbol = "sglang.srt.m:C.f", role = "overidder" }\n',
            17,
            "unknown role 'overidder'",
            "overrider",
        ),
        (
            '[behaviours.b]\nsglang = ">=0.5"\nnow = "n"\n'
            'on = { symbol = "sglang.srt.m:C.f", role = "overrider", position = 1 }\n',
            17,
            "'position' needs 'argument'",
            "",
        ),
        ("[fields.x]\n[methods.x]\n", 15, "'batch/x' stands already in line 14", "id of its own"),
        ('[fields.x]\nreplaced_by = { usee = "y" }\n', 15, "unknown key 'usee'", "use"),
        ('[fields.x]\ndtype = [{ value = "a" }]\n', 15, "needs the keys 'sglang'", ""),
        ('[layouts]\nmine = ["slot", "haed"]\n', 15, "unknown axis 'haed'", ""),
    ],
)
def test_what_is_wrong_is_named_with_its_line_and_the_nearest_valid_spelling(
    body, line, text, hint
):
    error = failure(body)
    assert error.message.startswith(f"batch.toml:{line}: ")
    assert text in error.message
    assert hint in error.hint


@pytest.mark.parametrize(
    ("body", "line", "hint"),
    [
        ("[fields.x]\nsglang = >=0.5.3\n", 15, 'sglang = ">=0.5.3"'),
        ('[fields.x]\ndtype = "int64\n', 15, "quotes"),
        ("[fields.x]\n[fields.x]\n", 15, "twice"),
        ('[fields.x]\ndtype = ["a"\n', 15, "closing"),
    ],
)
def test_broken_toml_is_named_with_line_and_hint(body, line, hint):
    error = failure(body)
    assert "broken TOML" in error.message
    number = int(error.message.split(":")[1])
    assert abs(number - line) <= 1
    assert hint in error.hint


def test_the_id_must_be_the_name_of_the_file():
    error = failure("", HEAD.replace('id = "batch"', 'id = "bath"'))
    assert error.message.startswith("batch.toml:2: ")
    assert 'id = "batch"' in error.hint


def test_a_file_without_its_head_says_so():
    assert "no [contract] table" in failure("", "").message


def test_toml_nested_without_end_is_an_error_and_not_a_crash():
    assert "batch.toml" in failure("x = " + "[" * 20_000 + "\n").message
