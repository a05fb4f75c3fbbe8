"""Templates in Liquid: compiled once, strict about what is missing, bounded in what they may do."""

import re
from functools import lru_cache
from typing import Any

from liquid import BoundTemplate, Environment, FalsyStrictUndefined
from liquid.exceptions import LiquidError, UndefinedError

from streams.rendering.bad_template import BadTemplate
from streams.rendering.filters import filters_of

# A complete output or tag, across lines. Whatever brace remains is one that nobody closed.
_PLACEHOLDER = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_STRAY_BRACE = re.compile(r".{0,12}[{}].{0,12}")
# Errors of filters on values they cannot work with; Liquid wraps only some of them.
_VALUE_ERRORS = (ArithmeticError, LookupError, RecursionError, TypeError, ValueError)


class _Bounded(Environment):
    """Liquid without a clock, and with an end to what a template may use."""

    loop_iteration_limit = 1_000
    local_namespace_limit = 65_536
    output_stream_limit = 65_536


@lru_cache(maxsize=256)
def _environment(language: str, escaped: bool) -> _Bounded:
    environment = _Bounded(undefined=FalsyStrictUndefined, autoescape=escaped)
    del environment.filters["date"]  # it knows "now"; `day` prints a date of the event
    environment.filters.update(filters_of(language))
    for loading in ("include", "render"):  # a message is one text; nothing else is loaded into it
        del environment.tags[loading]
    return environment


@lru_cache(maxsize=4096)
def compiled(source: str, language: str, escaped: bool = False) -> BoundTemplate | BadTemplate:
    """Return the source ready to be filled, or why it cannot be.

    `language` ("bn") chooses how filters print numbers and dates; `escaped` is for HTML only:
    a subject, a text message and a push title are never escaped (TPL-02). Kept by content, so
    that every version, locale and channel has its own and none can be stale.
    """
    if stray := _STRAY_BRACE.search(_PLACEHOLDER.sub("", source)):
        return BadTemplate(f'unclosed placeholder in "{stray.group()}"')
    environment = _environment(language, escaped)
    try:
        template = environment.from_string(source)
    except LiquidError as error:
        return BadTemplate(str(error.message))
    unknown = set(template.filter_names()) - environment.filters.keys()
    return BadTemplate(f"unknown filter {min(unknown)}") if unknown else template


def filled(template: BoundTemplate, data: dict[str, Any]) -> str | BadTemplate:
    """Return the template's text for this data; a missing parameter is an error, never a blank (R-092)."""
    try:
        return template.render(data)
    except UndefinedError as error:
        return BadTemplate(f'missing parameter "{_name(error)}"')
    except LiquidError as error:
        return BadTemplate(type(error).__name__)  # its text may quote a value
    except _VALUE_ERRORS as error:
        return BadTemplate(f"a filter raised {type(error).__name__}")


def variables(source: str) -> frozenset[str] | BadTemplate:
    """Return the names of the data fields a template reads, for the check at publication (R-097)."""
    match compiled(source, ""):
        case BadTemplate() as bad:
            return bad
        case template:
            return frozenset(template.global_variables())


def _name(error: UndefinedError) -> str:
    """Return the missing variable's path as the template spells it."""
    return str(error.message).removesuffix(" is undefined").strip("'")
