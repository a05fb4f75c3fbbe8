"""`harkara catalog`: whether the types and texts of the service can be used."""

from pathlib import Path

import click

from connectors.catalog_files import check_catalog
from connectors.providers.registry import PROVIDERS
from harkara.catalog_check import Checked, checked
from harkara.catalogs import catalog_folder
from harkara.cli.options import json_option, with_settings
from harkara.cli.output import print_json, print_table
from harkara.settings import Settings
from streams.catalog import Catalog


@click.group(name="catalog", short_help="Check the types and texts of the service.")
def command() -> None:
    """Check the types and texts of the service."""


@command.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False), required=False)
@json_option
@with_settings
def check(settings: Settings, folder: Path | None, as_json: bool) -> None:
    """Make every text of the catalog from examples; exit 2 with each mistake if something is wrong.

    FOLDER is the catalog to check, else the one in force.
    """
    catalog = check_catalog(folder or catalog_folder(settings))
    found = _checked(catalog)
    if as_json:
        print_json(
            {
                "fingerprint": catalog.fingerprint if isinstance(catalog, Catalog) else None,
                "problems": found.problems,
                "notes": found.notes,
                "texts": found.texts,
            }
        )
    else:
        for problem in found.problems:
            click.echo(str(problem), err=True)
        if found.texts:
            rows = [(t.type, t.version, t.locale, t.channel, t.characters, t.parts) for t in found.texts]
            print_table("Texts", ("type", "version", "locale", "channel", "characters", "SMS parts"), rows)
        for note in found.notes:
            click.echo(f"note: {note}", err=True)
        if not found.problems:
            click.echo("Every text can be made from what its type's data holds.")
    if found.problems:
        click.get_current_context().exit(2)


def _checked(catalog: object) -> Checked:
    if isinstance(catalog, Catalog):
        return checked(catalog, [kind.name for kind in PROVIDERS])
    return Checked((), tuple(catalog) if isinstance(catalog, tuple) else (), ())
