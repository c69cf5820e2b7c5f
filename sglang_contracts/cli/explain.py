"""``explain``: a symbol, a clause, a rule."""

from __future__ import annotations

import click

from sglang_contracts.cli import options


@click.command(
    name="explain",
    epilog=options.examples(
        "sglang-contracts explain ForwardBatch.token_to_kv_pool",
        "sglang-contracts explain flag:--attention-backend",
        "sglang-contracts explain forward-batch/seq_lens",
        "sglang-contracts explain field-removed",
        "sglang-contracts explain supplied",
    ),
)
@click.argument("what", metavar="SYMBOL|CLAUSE|RULE|REASON", required=False)
@click.option(
    "--list",
    "listing",
    is_flag=True,
    help="List the rules, the reasons for silence and the contracts.",
)
@options.output_options(options.SHORT_FORMATS)
def command(what: str | None, listing: bool, output: options.Output) -> int:
    """The life of a symbol, what a clause says, what a rule or a reason for silence means.

    A symbol is written module:Class.member, a flag flag:--name, a variable env:NAME, a clause
    contract/clause. A name that does not exist is answered with the nearest ones.
    """
    from sglang_contracts.contract import load_contracts
    from sglang_contracts.report.rules import rule_page, rule_pages, silence_page, silence_pages
    from sglang_contracts.verify.clauses.explain import explain
    from sglang_contracts.verify.findings.finding import Report

    pages = rule_pages()
    if listing or what is None:
        facts: dict[str, object] = {
            "kind": "list",
            "rules": [{"name": name, "title": page["title"]} for name, page in pages.items()],
            "silences": [
                {"name": name, "title": page["title"]} for name, page in silence_pages().items()
            ],
            "contracts": [{"name": each.id, "title": each.title} for each in load_contracts()],
        }
        output.emit(Report("explain", facts=facts))
        return 0
    reason = silence_page(what)
    if reason is not None:
        output.emit(Report("explain", facts={"kind": "silence", **reason}))
        return 0
    page = rule_page(what)
    if page is not None:
        output.emit(Report("explain", facts={"kind": "rule", **page}))
        return 0
    output.emit(explain(what, options.catalog(), load_contracts(), [*pages, *silence_pages()]))
    return 0
