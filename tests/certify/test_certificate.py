import contextlib
import importlib
import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sglang_contracts.certify import canonical, junit, load_certificate, page, verify
from sglang_contracts.certify.certificate import (
    digest_of,
    schema,
    sealed,
    write_certificate,
)
from sglang_contracts.cli import main
from sglang_contracts.errors import ContractsError

PUBLISHED = Path(__file__).parents[2] / "docs" / "schemas" / "certificate.schema.json"


def test_whatever_a_plugin_raises_can_be_written_and_read(certificate, outcome, tmp_path):
    text = "bad \udcff name \x00 \x1b[31m ]]> " + "x" * 20_000_000
    checks = (*certificate.checks[:1], outcome("a.c", 1, "fail", message=text))
    found = sealed(msgspec.structs.replace(certificate, checks=checks, not_run=("a.d",)))
    path = tmp_path / "certificate.json"
    write_certificate(found, path)
    assert load_certificate(path)[0] == found
    assert path.stat().st_size < 100_000
    assert len(page.render(found).encode()) < 200_000
    assert len(junit.render(found).encode()) < 200_000
    message = found.checks[1].message
    assert message.startswith("bad \\udcff name")
    assert "characters more" in message


@pytest.fixture
def file(certificate, tmp_path):
    path = tmp_path / "certificate.json"
    write_certificate(certificate, path)
    return path


def test_what_was_written_is_read_back(certificate, file):
    found, data = load_certificate(file)
    assert found == certificate
    assert data == canonical(msgspec.to_builtins(certificate))
    assert verify(file, installed=False).faults == ()


def test_changing_any_one_byte_is_noticed(file):
    data = file.read_bytes()
    for index in range(0, len(data), 7):
        changed = bytearray(data)
        changed[index] ^= 1
        file.write_bytes(bytes(changed))
        try:
            faults = verify(file, installed=False).faults
        except ContractsError:
            continue
        assert faults, f"byte {index} may be changed"


@pytest.mark.parametrize(
    "form",
    [
        lambda content: json.dumps(content),
        lambda content: json.dumps(content, indent=1, sort_keys=True),  # no newline at the end
        lambda content: json.dumps(content, indent=2, sort_keys=True) + "\n",
        lambda content: "\ufeff" + json.dumps(content, indent=1, sort_keys=True) + "\n",
    ],
)
def test_another_form_of_the_same_content_is_rejected(file, form):
    file.write_text(form(json.loads(file.read_text())), encoding="utf-8")
    try:
        faults = verify(file, installed=False).faults
    except ContractsError:
        return
    assert any("canonical" in fault for fault in faults)


def test_a_key_given_twice_is_rejected(file):
    text = file.read_text()
    file.write_text(text.replace(' "profile"', ' "profile": "full",\n "profile"', 1))
    assert verify(file, installed=False).faults


def test_a_forged_digest_still_belongs_to_its_content(certificate, tmp_path):
    forged = msgspec.structs.replace(certificate, level_reached=4, verdict="passed")
    path = tmp_path / "forged.json"
    write_certificate(forged, path)
    assert any("digest" in fault for fault in verify(path, installed=False).faults)
    assert digest_of(forged) != certificate.digest


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is no certificate"),
        ("[]", "is no certificate"),
        ('{"kind": "other"}', "is no certificate"),
        ('{"kind": "sglang-contracts certificate", "schema": 99}', "schema 99"),
        ('{"kind": "sglang-contracts certificate", "schema": 1}', "schema 1;"),
        ('{"kind": "sglang-contracts certificate", "schema": 2}', "is no certificate"),
        ("[" * 100_000, "is no certificate"),
        ("{} \x00", "is no certificate"),
    ],
)
def test_what_is_no_certificate_is_refused(tmp_path, text, words):
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(ContractsError, match=words):
        load_certificate(path)
    with pytest.raises(ContractsError, match="cannot read"):
        load_certificate(tmp_path / "nowhere.json")


@pytest.mark.parametrize("value", ["NaN", "Infinity", "[" * 5000 + "]" * 5000])
def test_what_has_no_canonical_form_is_refused(file, value):
    text = file.read_text().replace('"graph-capture": false', f'"graph-capture": {value}')
    file.write_text(text)
    with pytest.raises(ContractsError, match="is no certificate"):
        verify(file, installed=False)


def test_keys_in_another_order_are_rejected(file):
    content = json.loads(file.read_text())
    turned = dict(reversed(content.items()))
    file.write_text(json.dumps(turned, indent=1) + "\n")
    assert any("canonical" in fault for fault in verify(file, installed=False).faults)


def test_a_link_is_followed_and_what_has_no_end_is_not_read(file, tmp_path):
    link = tmp_path / "link.json"
    link.symlink_to(file)
    assert verify(link, installed=False).faults == ()
    with pytest.raises(ContractsError, match="no regular file"):
        load_certificate(Path("/dev/zero"))
    large = tmp_path / "large.json"
    with large.open("wb") as stream:
        stream.truncate(64 << 20)
    with pytest.raises(ContractsError, match="larger than"):
        load_certificate(large)


def test_a_level_that_was_mostly_skipped_is_named_on_the_page(certificate):
    thin = msgspec.structs.replace(certificate, level_reached=1, mostly_skipped=(1,))
    assert "Of level 1, 1 of 2 checks were skipped" in page.render(thin)
    assert "little evidence" not in page.render(certificate)


def test_the_published_schema_is_what_is_written(file):
    assert json.loads(PUBLISHED.read_text()) == schema()
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(json.loads(file.read_text()), schema())


def test_junit_has_every_outcome(certificate):
    import xml.etree.ElementTree as ET

    root = ET.fromstring(junit.render(certificate))
    counts = {key: int(root.get(key)) for key in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": 6, "failures": 1, "errors": 2, "skipped": 2}
    failure = next(iter(root.iter("failure")))
    assert failure.get("type") == "violated"
    assert "reproduce()" in failure.text
    assert [case.get("name") for case in root.iter("testcase")][-1] == "a.g"


def test_the_page_is_self_contained_and_says_everything(certificate):
    text = page.render(certificate)
    for words in (
        "Failed",
        "someone &lt;at&gt; a lab",
        "integrity, not a signature",
        "It &lt;holds&gt;",
        "reproduce()",
        "it has none",
        "Declared and not exercised: forward mode mixed",
        "Planned, and did not run",
        certificate.digest,
        certificate.plugin.digest,
        certificate.suite.digest,
    ):
        assert words in text, words
    assert "http" not in text
    assert "<script" not in text
    assert "<holds>" not in text


@pytest.fixture
def suite(monkeypatch):
    """Nothing of the suite is digested: that takes long, and is another test's."""
    module = importlib.import_module("sglang_contracts.certify.verify")
    monkeypatch.setattr(module, "suite_files", dict)


@pytest.mark.parametrize("bit", range(8))
def test_no_flipped_bit_is_taken_for_the_certificate(file, suite, bit):
    """One bit of every byte: what is read is another certificate, or none at all."""
    whole = file.read_bytes()
    assert verify(file, installed=False).faults == ()
    for at in range(len(whole)):
        changed = bytearray(whole)
        changed[at] ^= 1 << bit
        file.write_bytes(changed)
        try:
            found = verify(file, installed=False)
        except ContractsError:
            continue
        assert found.faults, f"byte {at}: {whole[at : at + 1]!r} became {changed[at : at + 1]!r}"


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("flip"), st.integers(0, 1 << 16), st.integers(0, 255)),
            st.tuples(st.just("cut"), st.integers(0, 1 << 16), st.integers(0, 200)),
            st.tuples(st.just("put"), st.integers(0, 1 << 16), st.binary(max_size=9)),
        ),
        min_size=1,
        max_size=4,
    )
)
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_is_done_to_a_file_ends_in_a_fault_or_a_clear_line(file, suite, edits):
    path = file.with_name("changed.json")
    whole = data = file.read_bytes()
    for kind, at, more in edits:
        at = at % len(data) if data else 0
        if kind == "flip":
            data = data[:at] + bytes([data[at] ^ more]) + data[at + 1 :] if data else data
        elif kind == "cut":
            data = data[:at] + data[at + more :]
        else:
            data = data[:at] + more + data[at:]
    path.write_bytes(data)
    code = main(["certify", "--verify", str(path)])
    assert code in (1, 2)
    if data != whole:
        with contextlib.suppress(ContractsError):
            assert verify(path, installed=False).faults
