"""``privet study template|new|preview|show``: declare a study in one file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from privet.cli.app import BadOption, examples
from privet.cli.options import parse_settings
from privet.cli.study import Folder, study

Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="A value in place of the file's, such as budgets.features=2 (default: none); repeatable.",
    ),
]


@study.command(epilog=examples("privet study template", "privet study template commuting --out bus.toml"))
def template(
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", help="A real study to begin with; --list names them (default: a blank).")
    ] = "blank",
    out: Annotated[
        Path | None, typer.Option(help="The file to write (default: NAME.toml; of a blank, study.toml).")
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="Name the real studies (default: write a file).")] = False,
) -> None:
    """Write a study's file with comments: a real one, or a blank."""
    from privet.collection.study.study_file import template as text
    from privet.collection.study.study_file import templates
    from privet.data.files import atomic_file

    if list_:
        for each, sentence in templates().items():
            typer.echo(f"{each:<12}{sentence}")
        return
    written = text(name)
    out = Path("study.toml" if name == "blank" else f"{name}.toml") if out is None else out
    if out.exists():
        raise BadOption(f"{out} exists already. Name another file with --out.")
    with atomic_file(out) as file:
        file.write_text(written, encoding="utf-8")
    fill = 'Fill in every "..."' if name == "blank" else "Change the words that do not fit"
    typer.echo(f"Wrote {out}. {fill}, then: privet study new {out}")


@study.command(
    epilog=examples("privet study new study.toml", "privet study new study.toml --out pilot --set people.nodes=50")
)
def new(
    file: Annotated[Path, typer.Argument(metavar="STUDY.TOML", help="The study's file; 'template' writes one.")],
    out: Annotated[
        Path | None, typer.Option(help="The directory to make (default: the file's name without .toml).")
    ] = None,
    changes: Changes = None,
) -> None:
    """Make a study from its file.

    The directory has the manifest, keys, and a token for each person. Reports go to SQLite in the study's
    directory, or to the PostgreSQL database whose URL is in PRIVET_STORE or in the file that PRIVET_STORE_FILE
    names. Keys can be given in the same way (PRIVET_SIGNING_KEY, PRIVET_OPERATOR_KEY). None of them is an option,
    because every user of a machine can read the arguments of its processes.
    """
    from privet.collection.device.consent import retention_in_words
    from privet.collection.operator.keys import VARIABLES
    from privet.collection.operator.new_study import make_study, price_of, unnamed
    from privet.collection.operator.prospects import prospects_in_words
    from privet.collection.study.chain import Chain
    from privet.collection.study.manifest import DEFAULT_LIMIT
    from privet.collection.study.study_file import StudyFile
    from privet.privacy.rounding import at_most

    folder = file.with_suffix("") if out is None else out
    if folder == file:
        raise BadOption(f"Name the directory to make with --out: {file} has no ending to leave out.")
    declared = StudyFile.read(file, parse_settings(changes or []))
    written = make_study(declared, folder)
    made = written.study
    price, where = price_of(made), escape(str(folder))
    out_ = Console(highlight=False, soft_wrap=True)
    out_.print(f"[bold]{escape(made.title)}[/], study {made.id}")
    out_.print(made.guarantee().in_words())
    out_.print(f"It costs a participant {at_most(made.price.epsilon)} of their lifetime epsilon.")
    out_.print(retention_in_words(made).replace("your report", "reports"))
    if Chain((made,)).planned:
        out_.print(f"All rounds together cost at most {at_most(price)}. The next one: privet study next {where}")
    for line in (*prospects_in_words(made), *unnamed(made)):
        out_.print(escape(line))
    if price > DEFAULT_LIMIT:
        out_.print(f"That is more than their default limit of {DEFAULT_LIMIT:g}: most devices will refuse it.")
    out_.print(f"\nWritten to {where}: study.json (public), study.toml, tokens.csv and keys.json (secret).")
    out_.print(f"Serve it:             privet study serve {where}")
    out_.print(f"Personal links:       privet study links {where} --url https://HOST")
    place = f'{folder}/keys.json, under "operator"'
    if "operator" in written.keys.places:
        place = str(written.keys.places["operator"] or VARIABLES["operator"])
    out_.print(f"The operator's page:  http://HOST:8000/operator; its key is in {escape(place)}")


@study.command(epilog=examples("privet study preview study.toml", "privet study preview study.toml --port 8080"))
def preview(
    file: Annotated[Path, typer.Argument(metavar="STUDY.TOML", help="The study's file.")],
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port of this machine to listen on.")] = 8000,
    changes: Changes = None,
) -> None:
    """Show the participants' page before the study exists.

    It is open now whatever the file says, on this machine only, and all that is sent is thrown away at Ctrl-C.
    """
    from privet.cli.study.running import check_port
    from privet.collection.operator.new_study import unnamed
    from privet.collection.operator.preview import preview_of
    from privet.collection.operator.prospects import prospects_in_words
    from privet.collection.server.http.app import Limits
    from privet.collection.serving import serve
    from privet.collection.study.study_file import StudyFile

    check_port("127.0.0.1", port)
    out = Console(highlight=False, soft_wrap=True, markup=False)
    with preview_of(file, StudyFile.read(file, parse_settings(changes or []))) as shown:
        for line in (*prospects_in_words(shown.folder.study), *unnamed(shown.folder.study)):
            out.print(line)
        for who, path in shown.links():
            out.print(f"{who}: http://localhost:{port}/{path}")
        out.print("Nothing that is sent here is kept. Ctrl-C ends the preview.")
        serve(shown.folder, "127.0.0.1", port, Limits())


@study.command()
def show(folder: Folder) -> None:
    """Print the file that a study was made from."""
    from privet.collection.operator.folder import StudyFolder

    declared = StudyFolder.open(folder).declared
    if declared is None:
        raise BadOption(f"{folder} has no study.toml; 'privet study status' tells what was declared.")
    typer.echo(declared.text, nl=False)
