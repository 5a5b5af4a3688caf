"""Direct identifiers in queries: presidio's recognisers, shapes and names (the door to presidio).

Presidio needs no trained model for these recognisers. It is given candidates, never whole texts:
its patterns can take quadratic time, and after a minute it gives up with no more than a log line.
It decides the kind of a candidate; what it refuses by check digit is still an identifier by shape.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from tasks.adapters.detection.name_lists import load_name_lists
from tasks.core.detection.domains import Domain, host_alone, may_be_told, typed_label
from tasks.core.detection.identifiers import (
    Span,
    addresses,
    dates,
    disjoint,
    fold,
    numbers,
    typed_hosts,
    unfold,
)
from tasks.core.detection.name_lists import NameLists
from tasks.core.detection.names import find_names

LONGEST_CANDIDATE = 100
LONGEST_NUMBER = 40

_MAY_HOLD_CODE = re.compile(r"[0-9@.]|www |http| dot ")
_TOKEN = re.compile(r"\S+")
_EDGES = "\"'`()[]{}<>,;:!?*.…"
_DOTTED = re.compile(r"[^\W_]\.[^\W\d_]{2}")
_HOST_LIKE = re.compile(r"[\w-]+(?:\.[\w-]+)+")
_IP_LIKE = re.compile(r"[0-9]\.[0-9]+\.[0-9]+\.[0-9]|:[0-9a-f]*:")
_VERSION = re.compile(r"(?<![a-z])(?:version|ver|v) $")
_PORT = re.compile(r":[0-9]{1,5}$")
_IBAN_LIKE = re.compile(r"(?<![a-z0-9])[a-z]{2}[0-9]{2}(?:[ -]?[a-z0-9]){11,32}")


@dataclass(frozen=True)
class IdentifierFinder:
    """Finds direct identifiers in one query."""

    names: NameLists = field(repr=False)

    def find(self, text: str) -> tuple[Span, ...]:
        """Direct identifiers of a text, in order, without overlap.

        Args:
            text: one query: NFKC-normalised, lower case, single blanks.
        """
        return self.read(text)[0]

    def read(self, text: str) -> tuple[tuple[Span, ...], tuple[Domain, ...]]:
        """Direct identifiers, and domains that are words: their labels point to nobody."""
        plain, offsets = fold(text)
        codes = list(self._codes(plain)) if _MAY_HOLD_CODE.search(plain) else []
        codes = list(disjoint(plain, codes))
        domains = [domain for span in codes for domain in self._domain(plain, span)]
        hosts = [domain.span for domain in domains]
        names = find_names(_without(plain, codes), self.names)
        spans = [code for code in codes if code not in hosts]
        spans += [Span(start, end, "name") for start, end in names]
        return unfold(disjoint(plain, spans), offsets), tuple(_unfolded(domains, offsets))

    def _domain(self, text: str, span: Span) -> Iterator[Domain]:
        """The domain that a web address is, if it points to nobody."""
        label = self._label(text[span.start : span.end]) if span.kind == "url" else None
        if label is not None and may_be_told(text[span.start :][slice(*label)], self.names):
            yield Domain(span, span.start + label[0], span.start + label[1])

    def _label(self, address: str) -> tuple[int, int] | None:
        """Where the label that was registered stands in a web address without a path."""
        if " " in address:
            return typed_label(address)
        host = host_alone(address)
        if host is None or len(address) > LONGEST_CANDIDATE:
            return None
        start, end = self._presidio.registered_label(address[slice(*host)])
        return (host[0] + start, host[0] + end) if end > start else typed_label(address)

    @cached_property
    def _presidio(self) -> Presidio:
        # Importing presidio takes a second, most of it spaCy: only once something asks for it.
        return Presidio()

    def _codes(self, text: str) -> Iterator[Span]:
        """Everything but names; of spans that overlap the first counts."""
        yield from self._web(text)
        if any(map(str.isdigit, text)):
            for match in _IBAN_LIKE.finditer(text):
                yield from _moved(self._presidio.ibans(match.group()), match.start())
            yield from dates(text)
            yield from addresses(text)
            for span in numbers(text):
                yield self._with_checked_kind(text, span)

    def _web(self, text: str) -> Iterator[Span]:
        """Mail, IP and web addresses, token by token, and host names typed with blanks."""
        tokens = [_trimmed_token(match) for match in _TOKEN.finditer(text)]
        yield from _spaced_mail(text, tokens)
        for start, end in tokens:
            token = text[start:end]
            if "@" in token:
                yield from _moved(self._presidio.mail(token), start)
            elif _IP_LIKE.search(token) and not _VERSION.search(text, max(0, start - 9), start):
                # With the port or the path behind it.
                yield from (Span(start, end, "ip") for _ in self._presidio.ips(token)[:1])
            if _is_link(token) or self._holds_host(token):
                yield Span(start, end, "url")
        yield from typed_hosts(text)

    def _holds_host(self, token: str) -> bool:
        dotted = "@" not in token and _DOTTED.search(token)
        return bool(dotted) and self._presidio.holds_host(token)

    def _with_checked_kind(self, text: str, span: Span) -> Span:
        number = text[span.start : span.end]
        if span.kind == "zip" or len(number) > LONGEST_NUMBER:
            return span
        return Span(span.start, span.end, self._presidio.number_kind(number, span.kind))


class Presidio:
    """Presidio's recognisers, each given what looks like its business."""

    def __init__(self) -> None:
        from presidio_analyzer import predefined_recognizers as presidio
        from tldextract import TLDExtract

        # An error line of presidio's IBAN check holds the text it stumbled over.
        logging.getLogger("presidio-analyzer").disabled = True
        # With a list of URLs or a cache folder it would use the network and the disk.
        self._suffix = TLDExtract(suffix_list_urls=(), cache_dir=None)
        mail: Any = presidio.EmailRecognizer()
        mail.validate_result = self._has_public_suffix
        self._mail = mail
        self._ip, self._iban = presidio.IpRecognizer(), presidio.IbanRecognizer()
        self._numbers: Mapping[str, Any] = {
            "card": presidio.CreditCardRecognizer(),
            "ssn": presidio.UsSsnRecognizer(),
            "phone": presidio.PhoneRecognizer(),
        }

    def mail(self, token: str) -> list[Span]:
        """Mail addresses in a token with an @; the whole token if that leaves an @ over."""
        found = _results(self._mail, token, "email")
        covered = sum(token[span.start : span.end].count("@") for span in found)
        if covered == token.count("@"):
            return found
        return [Span(0, len(token), "email")] if len(token) > 1 else []

    def ips(self, token: str) -> list[Span]:
        """IP addresses of both versions, the older also with a port behind it."""
        host = _PORT.sub("", token) if "." in token else token
        return _results(self._ip, host, "ip")

    def ibans(self, candidate: str) -> list[Span]:
        """Bank account numbers with valid check digits, in groups or not."""
        found = _results(self._iban, candidate.upper(), "iban")
        # Words after the number can look like its last group: try without them, too.
        return found or _results(self._iban, candidate.split(" ")[0].upper(), "iban")

    def holds_host(self, token: str) -> bool:
        """Whether a token holds a host name, that is one under a public suffix.

        Presidio's own recogniser of URLs is not used: it takes *dr.phil* for a host under .ph,
        does not know .biz, and spends 25 ms on a hundred dots.
        """
        parts = _HOST_LIKE.findall(token)
        return any(self._has_public_suffix(part[-LONGEST_CANDIDATE:]) for part in parts)

    def registered_label(self, host: str) -> tuple[int, int]:
        """Where the label under the public suffix stands in a host; an empty place if nowhere."""
        found = self._suffix(host)
        if not found.suffix or not found.domain:
            return 0, 0
        start = host.rindex(f"{found.domain}.{found.suffix}")
        return start, start + len(found.domain)

    def _has_public_suffix(self, host: str) -> bool:
        return bool(self._suffix(host).suffix)

    def number_kind(self, number: str, guess: str) -> str:
        """Card, SSN or phone if check digits and ranges say so, else the guess by shape."""
        dashed = re.sub(r"[./]", "-", number)
        for kind, recogniser in self._numbers.items():
            # What has the shape of an SSN that was never issued is no phone number, either.
            if (kind, guess) != ("phone", "ssn") and _results(recogniser, dashed, kind):
                return kind
        return guess


def _without(text: str, spans: Sequence[Span]) -> str:
    """The text with gaps for what has been found, so that no name reaches into an address.

    Mail addresses stay: *jane roe@example.com* begins with a name.
    """
    if not spans:
        return text
    characters = list(text)
    for span in spans:
        if span.kind != "email":
            characters[span.start : span.end] = "\n" * (span.end - span.start)
    return "".join(characters)


def _unfolded(domains: Iterable[Domain], offsets: Sequence[int]) -> Iterator[Domain]:
    for domain in domains:
        (span,) = unfold((domain.span,), offsets)
        yield Domain(span, offsets[domain.label_start], offsets[domain.label_end])


def _results(recogniser: Any, text: str, kind: str) -> list[Span]:
    if len(text) > LONGEST_CANDIDATE:
        return []
    found = recogniser.analyze(text, recogniser.supported_entities, None)
    return sorted((Span(r.start, r.end, kind) for r in found), key=lambda span: span.start)


def _moved(spans: Iterable[Span], by: int) -> Iterator[Span]:
    return (Span(span.start + by, span.end + by, span.kind) for span in spans)


def _trimmed_token(match: re.Match[str]) -> tuple[int, int]:
    token = match.group()
    start = match.start() + len(token) - len(token.lstrip(_EDGES))
    return start, max(start, match.start() + len(token.rstrip(_EDGES)))


def _is_link(token: str) -> bool:
    return "://" in token or (token.startswith("www.") and len(token) > 4)


def _spaced_mail(text: str, tokens: Sequence[tuple[int, int]]) -> Iterator[Span]:
    """Mail addresses typed with blanks: *jane @ example.com*, *jane @example.com*."""
    for place, (start, end) in enumerate(tokens[:-1]):
        following, after = text[slice(*tokens[place + 1])], tokens[min(place + 2, len(tokens) - 1)]
        if following == "@" and "." in text[slice(*after)]:
            yield Span(start, after[1], "email")
        elif "." in following and (following[0] == "@" or text[start:end][-1:] == "@"):
            yield Span(start, tokens[place + 1][1], "email")


@lru_cache(maxsize=1)
def load_identifier_finder(store: Path | None = None) -> IdentifierFinder:
    """A finder with the name lists and the dictionary of the installed packages, made once."""
    return IdentifierFinder(load_name_lists(store))
