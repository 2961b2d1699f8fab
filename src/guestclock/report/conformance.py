"""What vectors showed of a target: for people, and as TAP and JUnit for what collects test results."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from rich.console import Console
from rich.table import Table
from rich.text import Text

from guestclock.verdict.quantities import count

Document = Mapping[str, Any]

_FAULT = "bold red"
SHOWN = 12
"""Of the vectors that failed, so many are shown in full."""

COLUMNS = ("passed", "failed", "broke", "contested", "not_applicable")
BAD = ("failed", "broke")


def show(console: Console, document: Document) -> None:
    """Print a table by feature, the failures, and a sentence."""
    console.print(Text(f"{document['target']}, {document['variant']} 6522", style="bold"), soft_wrap=True)
    console.print(_features(document))
    if "deviations" in document:
        _show_deviations(console, document)
    bad = [vector for vector in document["vectors"] if vector["outcome"] in BAD]
    for vector in bad[:SHOWN]:
        console.print()
        for line in _failure(vector):
            console.print(line, soft_wrap=True)
    if len(bad) > SHOWN:
        console.print(
            f"\n… and {count(len(bad) - SHOWN, 'more vector')} that failed (--format tap names all)."
        )
    if bad:
        console.print()
    for sentence in _sentences(document):
        console.print(Text(sentence, style=_FAULT if bad else "bold green"), soft_wrap=True)


def _features(document: Document) -> Table:
    used = [column for column in COLUMNS if column == "passed" or document["total"][column]]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("", no_wrap=True)
    for column in ("vectors", *used):
        table.add_column(column.replace("_", " "), justify="right", no_wrap=True)
    rows = [*document["features"], {"feature": "all"} | document["total"]]
    for row in rows:
        cells = [Text(count(row[column]), _FAULT if column in BAD and row[column] else "") for column in used]
        table.add_row(row["feature"], count(row["vectors"]), *cells)
    return table


def _show_deviations(console: Console, document: Document) -> None:
    """Print which of QEMU's deviations are behind the failures."""
    alike = document["behaves_as"]
    console.print(
        f"\nIts answers are those of our model {', '.join(alike['sets'])} in {count(alike['agreeing'])} of"
        f" {count(alike['vectors'], 'vector')}. Behind the first differences (docs/qemu-via.md):",
        soft_wrap=True,
    )
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("", no_wrap=True)
    table.add_column("vectors", justify="right", no_wrap=True)
    table.add_column("of them")
    table.add_column("deviation")
    for row in document["deviations"]:
        features = ", ".join(f"{feature} {number}" for feature, number in row["features"].items())
        table.add_row(row["number"], count(row["vectors"]), features, row["meaning"])
    if document["unexplained"]:
        table.add_row("?", count(len(document["unexplained"])), "", "none that the model knows")
    console.print(table)


def _blame(alternatives: Sequence[Sequence[Document]]) -> str:
    """Return deviations in words: ``or`` between alternatives, ``with`` between those that go together."""
    if not alternatives:
        return "no deviation that the model knows"
    return " or ".join(" with ".join(each["number"] for each in some) for some in alternatives)


def _failure(vector: Document) -> Iterator[Text]:
    yield Text.assemble((vector["name"], _FAULT), f": {vector['claim']}" if vector["claim"] else "")
    if vector["outcome"] == "broke":
        yield Text(f"  the target {vector['note']}" if vector["note"] else "  the target broke")
    for step in vector.get("neighbourhood", ()):
        yield _step(step, step is vector["difference"])
    if vector["fact"] is not None:
        yield Text(f"  fact {vector['fact']} ({vector['grade']}): {vector['fact_text']}", style="dim")
    if "deviations" in vector:
        yield Text(f"  deviation: {_blame(vector['deviations'])}", style="dim")


def _step(step: Document, first: bool = False) -> Text:
    text = f"  {step['cycle']:>8}  {step['what']:<26}"
    if "expected" not in step:
        return Text(text.rstrip())
    if step["expected"] != "-":
        text += f"  expected {step['expected']}"
    if step["got"] is not None:
        text += f"  got {step['got']}"
    style = _FAULT if first or step["right"] is False else ""
    return Text(f"{text}{'  ← first difference' if first else ''}", style=style)


def _sentences(document: Document) -> Iterator[str]:
    shift = document["placement_error_cycles"]
    if shift:
        yield (
            f"All counts are off by {count(abs(shift), 'cycle')}: accesses come too"
            f" {'late' if shift > 0 else 'early'}. Mend that first, it explains most of the rest."
        )
    total = document["total"]
    bad = sum(total[column] for column in BAD)
    counted = total["passed"] + bad
    if bad:
        weak = sum(vector.get("grade") == "model" for vector in document["vectors"])
        rest = f"; {count(weak)} of them rest on our model alone" if weak else ""
        yield f"{count(bad)} of {count(counted, 'vector')} failed{rest}."
    else:
        yield f"{count(counted, 'vector')} passed, none failed."


def show_explanation(console: Console, explained: Document) -> None:
    """Print one vector with its steps, what it rests on, and our chip's cycles around the fault."""
    console.print(Text(explained["name"], style="bold"), soft_wrap=True)
    for word in ("claim", "grade", "source", "hardware_run", "outcome", "note"):
        if explained[word]:
            console.print(Text(f"  {word.replace('_', ' ')}: {explained[word]}"), soft_wrap=True)
    if explained["fact"] is not None:
        console.print(Text(f"  fact {explained['fact']}: {explained['fact_text']}"), soft_wrap=True)
    if explained["deviations"]:
        console.print(Text(f"  deviation: {_blame(explained['deviations'])}"))
    console.print()
    wrong = next((step for step in explained["steps"] if step.get("right") is False), None)
    for step in explained["steps"]:
        console.print(_step(step, step is wrong), soft_wrap=True)
    console.print("\nOur chip there:")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 2), header_style="dim")
    for column in ("cycle", "t1", "t2", "ifr", "sr", "irq", "pb", "ca", "cb"):
        table.add_column(column.upper() if column != "cycle" else column, justify="right", no_wrap=True)
    for moment in explained["our_chip"]:
        table.add_row(*(str(value) for value in moment.values()))
    console.print(table)


def tap(document: Document) -> str:
    """Return the results in the Test Anything Protocol, version 14."""
    lines = ["TAP version 14", f"1..{len(document['vectors'])}"]
    for number, vector in enumerate(document["vectors"], 1):
        bad = vector["outcome"] in BAD
        skipped = {"not-applicable": vector["note"], "contested": f"contested: {vector['note']}"}
        directive = f" # SKIP {skipped[vector['outcome']]}" if vector["outcome"] in skipped else ""
        lines.append(f"{'not ok' if bad else 'ok'} {number} - {vector['name']}{directive}")
        if bad:
            lines += ["  ---", f"  message: {_quoted(_message(vector))}"]
            if vector["fact"] is not None:
                lines.append(f"  fact: {_quoted(str(vector['fact']) + ': ' + vector['fact_text'])}")
            if "deviations" in vector:
                lines.append(f"  deviation: {_quoted(_blame(vector['deviations']))}")
            lines.append("  ...")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _message(vector: Document) -> str:
    if "difference" not in vector:
        return str(vector["note"])
    step = vector["difference"]
    return f"cycle {step['cycle']}: {step['what']}: expected {step['expected']}, got {step['got']}"


def junit(document: Document) -> str:
    """Return the results as JUnit's XML: a suite a feature."""
    root = ElementTree.Element("testsuites", name=document["target"])
    for feature in document["features"]:
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=feature["feature"],
            tests=str(feature["vectors"]),
            failures=str(feature["failed"]),
            errors=str(feature["broke"]),
            skipped=str(feature["not_applicable"] + feature["contested"]),
        )
        for vector in document["vectors"]:
            if vector["feature"] == feature["feature"]:
                _junit_case(suite, vector)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _junit_case(suite: ElementTree.Element, vector: Document) -> None:
    case = ElementTree.SubElement(suite, "testcase", classname=vector["feature"], name=vector["name"])
    kind = {"failed": "failure", "broke": "error", "not-applicable": "skipped", "contested": "skipped"}.get(
        vector["outcome"]
    )
    if kind is None:
        return
    bad = vector["outcome"] in BAD
    note = ElementTree.SubElement(case, kind, message=_message(vector) if bad else vector["note"])
    if bad and vector["fact"] is not None:
        note.text = f"fact {vector['fact']}: {vector['fact_text']}"
