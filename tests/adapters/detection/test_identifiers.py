"""Direct identifiers with presidio's recognisers and the real name lists; all names invented."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.adapters.detection.identifiers import Presidio, load_identifier_finder
from tasks.core.detection.identifiers import KINDS
from tasks.core.detection.readings import normalise

FINDER = load_identifier_finder()


def found(text: str) -> list[tuple[str, str]]:
    return [(span.kind, text[span.start : span.end]) for span in FINDER.find(text)]


@pytest.mark.parametrize(
    ("kind", "identifier"),
    [
        ("email", "jane.roe@example.com"),
        ("email", "jane_roe+news@mail.example.co.uk"),
        ("email", "jane@localhost"),
        ("email", "jane@aol"),
        ("email", "jane @ example.com"),
        ("email", "jane @example.com"),
        ("email", "jane@ example.com"),
        ("email", "j\u0430ne@example.com"),
        ("phone", "212-736-5000"),
        ("phone", "(212) 736-5000"),
        ("phone", "212.736.5000"),
        ("phone", "2127365000"),
        ("phone", "1-212-736-5000"),
        ("phone", "+44 20 7946 0958"),
        ("phone", "736-5000"),
        ("phone", "\u0662\u0661\u0662-\u0667\u0663\u0666-5000"),
        ("phone", "212\u2011736\u20115000"),
        ("ssn", "536-22-8726"),
        ("ssn", "536 22 8726"),
        ("ssn", "536228726"),
        ("ssn", "536\u201322\u20138726"),
        ("card", "4111 1111 1111 1111"),
        ("card", "4111.1111.1111.1111"),
        ("card", "4111111111111111"),
        ("card", "378282246310005"),
        ("card", "\u0664111 1111 1111 1111"),
        ("iban", "de89370400440532013000"),
        ("iban", "de89 3704 0044 0532 0130 00"),
        ("iban", "gb82 west 1234 5698 7654 32"),
        ("iban", "d\u043589370400440532013000"),
        ("ip", "192.168.1.1"),
        ("ip", "2001:db8::ff00:42:8329"),
        ("ip", "192.168.\u0661.1"),
        ("url", "http://foo.com/bar?x=1"),
        ("url", "myspace.com/somebody"),
        ("url", "foo.com:8080"),
        ("url", "johnsmith.com"),
        ("url", "www.janedoe.net"),
        ("url", "jane-doe.org"),
        ("url", "jsmith.co.uk"),
        ("url", "smithfamily.com"),
        ("url", "www johnsmith com"),
        ("url", "j\u043ehnsmith.com"),
        ("url", "5550100.com"),
        ("address", "123 main street"),
        ("address", "12 n. oak dr apt 4b"),
        ("address", "p.o. box 123"),
        ("address", "1\u066223 main street"),
        ("zip", "90210"),
        ("zip", "9021\u0660"),
        ("zip", "sw1a 1aa"),
        ("zip", "m1 1ae"),
        ("zip", "k1a 0b1"),
        ("zip", "sw1\u0430 1aa"),
        ("ip", "192.168.1.1:8080"),
        ("address", "12 rue de rivoli"),
        ("address", "bahnhofstrasse 7"),
        ("address", "330 e 57th"),
        ("address", "2250 highway 17 south"),
        ("address", "apt 4b"),
        ("address", "apartment 12"),
        ("address", "apt. #305"),
        ("address", "apartment number b12"),
        ("address", "unit 305"),
        ("address", "unit 4b"),
        ("account", "hx-2209841"),
        ("name", "john doe"),
        ("name", "nguyen thi minh khai"),
        ("name", "hoang thi lan"),
        ("name", "vo van kiet"),
        ("name", "zhang wei"),
        ("name", "zhang xiaoming"),
        ("name", "adebayo oluwaseun"),
        ("name", "olamide adeyemi"),
        ("name", "nguyen van minh"),
        ("name", "j\u00fcrgen schr\u00f6der"),
        ("name", "juergen schroeder"),
        ("account", "1234567"),
        ("account", "1hgcm82633a004352"),
        ("account", "\u0661\u0662\u06634567"),
        ("date_of_birth", "12/03/1961"),
        ("date_of_birth", "march 12 1961"),
        ("date_of_birth", "12 mar 61"),
        ("date_of_birth", "12\u201103\u20111961"),
        ("name", "john smith"),
        ("name", "jos\u00e9 garc\u00eda"),
        ("name", "j\u043ehn smith"),
        ("name", "jo\u200bhn smith"),
    ],
)
def test_each_kind_is_found_between_words(kind: str, identifier: str) -> None:
    assert kind in KINDS
    assert found(identifier) == [(kind, identifier)]
    assert (kind, identifier) in found(f"about, {identifier}, please")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "weather",
        "meet me @ noon",
        "windows 2000",
        "1040 form",
        "bmw 325 2001",
        "1024 768 wallpaper",
        "3.14159265",
        "10.4.6",
        "vol.2 no.1",
        "st.louis",
        "u.s.a",
        "mp3 4gb",
        "version 2.0.0.9",
        "isbn 0-439-78454-2",
        "part number 5304475102",
        "1024x768",
        "10:30:45",
        "9/11",
        "may 2006",
        "\u0662\u0660\u0660\u0666",
        "\u4e2d\u6587 \u0440\u0443\u0441\u0441\u043a\u0438\u0439",
    ],
)
def test_everyday_texts_hold_no_identifier(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("label", "plate"),
    [
        ("license plate", "7abc123"),
        ("licence plate", "kx51 abc"),
        ("license plate number", "abc 1234"),
        ("license plate lookup", "abc-1234"),
        ("ny plate", "fgh 4821"),
        ("plate no", "6trj244"),
        ("car tag", "abc1234"),
        ("tag number", "abc1234"),
        ("registration", "ab12 cde"),
        ("vehicle registration", "ab12cde"),
    ],
)
def test_a_plate_is_known_by_the_word_before_it(label: str, plate: str) -> None:
    assert found(f"{label} {plate}") == [("account", plate)]
    assert found(f"who has {label} {plate} in ohio") == [("account", plate)]
    assert found(plate) == found(f"camera {plate}") == [], "a model may be called so"


@pytest.mark.parametrize(
    "text",
    [
        "apt get",
        "apt get install",
        "apt to be 12",
        "apartment guide",
        "apartment 2 bedroom",
        "apartment 12 month lease",
        "apartments 2006",
        "apartment 2006",
        "unit test",
        "unit 5 study guide",
        "unit 101 vocabulary",
        "unit 731",
        "unit 12",
        "license plate frames",
        "license plate for 2006",
        "license plate 1957 chevy",
        "license plate law 2005",
        "custom license plate",
        "plate tectonics",
        "plate 12 inch",
        "tag heuer 2000",
        "registration cs101",
        "course registration fall 06",
    ],
)
def test_numbers_of_flats_and_plates_are_not_all_numbers(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    "text",
    [
        *("li xiaoming", "li xiao ming", "li na", "chen jing", "wang fang obituary"),
        *("le van tam", "dang thuy tram", "tran thi mai", "nguyen van anh phone number"),
        *("babatunde adewale", "temitope adeola", "adeyemi olamide", "jane doe obituary"),
    ],
)
def test_people_whose_family_comes_first_and_people_who_are_not_named(text: str) -> None:
    ((kind, name),) = found(text)
    assert kind == "name"
    assert text.removeprefix(name) in ("", " obituary", " phone number")


@pytest.mark.parametrize(
    "text",
    [
        *("tai chi", "feng shui", "kung fu panda", "ho chi minh city", "hong kong", "han dynasty"),
        *("song lyrics", "long island", "li ion battery", "dim sum", "yin yang", "tang soo do"),
        *("prairie du chien", "lagos nigeria", "abu dhabi", "le mans", "le van", "ming vase"),
        *("deer and doe", "doe run", "john deere", "department of energy doe", "fan manga"),
        *("sun tan lotion", "long song", "song of solomon", "pan fan", "banana panda", "vo tech"),
    ],
)
def test_words_that_are_names_elsewhere_are_nobody(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        ("078-05-1120", "ssn"),
        ("078051120", "ssn"),
        ("000-12-3456", "ssn"),
        ("555-123-4567", "phone"),
        ("4111111111111112", "account"),
        ("de89370400440532013001", "account"),
    ],
)
def test_what_validators_refuse_is_still_hidden(number: str, kind: str) -> None:
    assert found(number) == [(kind, number)]


@pytest.mark.parametrize(
    "text",
    [
        "rose baker",
        "will price",
        "john long",
        "mary hill",
        "robert young",
        "john q smith",
        "j. smith",
        "dr jones",
        "mrs. baker",
        "smith, john",
        "john smith's",
        "jennifer kowalczykowa",
        "karen o'connor",
        "maria de la cruz",
        "katarzyna wisniewska",
    ],
)
def test_people(text: str) -> None:
    assert found(text) == [("name", text)]


@pytest.mark.parametrize(
    "text",
    [
        "new park",
        "long day",
        "baker street",
        "rose hill",
        "may day",
        "price list",
        "green tea",
        "white house",
        "paris hotels",
        "virginia beach",
        "jackson hole",
        "houston texans",
        "madison county",
        "jennifer",
        "johnson",
        "in the",
        "san jose",
        "savannah georgia",
        "paris, france",
        "christian music",
        "harley davidson",
        "mark twain",
        "victoria's secret",
        "harry potter",
        "lara croft",
        "mrs fields cookies",
        "charlotte north carolina",
        "what will baker do",
    ],
)
def test_words_and_places_are_nobody(text: str) -> None:
    assert found(text) == []


def test_kinds_side_by_side() -> None:
    assert found("john smith 123 oak lane 90210 555-123-4567 john@roe.com") == [
        ("name", "john smith"),
        ("address", "123 oak lane"),
        ("zip", "90210"),
        ("phone", "555-123-4567"),
        ("email", "john@roe.com"),
    ]


def test_no_name_reaches_into_an_address() -> None:
    assert found("5370 main dr austin tx") == [("address", "5370 main dr")]


def test_what_is_left_of_a_name_before_a_mail_address_is_hidden() -> None:
    assert found("john smith@example.com") == [("name", "john"), ("email", "smith@example.com")]


def test_a_link_is_hidden_whole_whatever_it_holds() -> None:
    assert (
        "".join(part for _, part in found("http://192.168.1.1/admin")) == "http://192.168.1.1/admin"
    )


ALPHABETS = ("0123456789-. ()/+", "a@. ", "jo hn.,'-@1", "1:f.", "\u0661\u200b\u0301a1 ")
HOSTILE = st.one_of(st.text(), *(st.text(alphabet=alphabet) for alphabet in ALPHABETS))


@given(HOSTILE)
@settings(deadline=None)
def test_any_text_gives_ordered_spans_inside_it(text: str) -> None:
    spans = FINDER.find(text)
    assert spans == FINDER.find(text)
    borders = [border for span in spans for border in (span.start, span.end)]
    assert borders == sorted(borders)
    assert all(0 <= span.start < span.end <= len(text) and span.kind in KINDS for span in spans)


@given(st.text(alphabet="0123456789- .", max_size=30))
@settings(deadline=None)
def test_whatever_presidio_takes_for_ssn_or_card_is_hidden(text: str) -> None:
    from presidio_analyzer import predefined_recognizers as presidio

    recognisers: list[Any] = [presidio.UsSsnRecognizer(), presidio.CreditCardRecognizer()]
    covered = {at for span in FINDER.find(text) for at in range(span.start, span.end)}
    for recogniser in recognisers:
        for result in recogniser.analyze(text, recogniser.supported_entities, None):
            places = range(result.start, result.end)
            assert covered.issuperset(at for at in places if text[at].isdigit())


@pytest.mark.parametrize(
    "text", ["janedoe.com", "janedoe.co.uk", "jane-doe.info", "http://x.org/y", "janedoe.museum"]
)
def test_whatever_presidio_takes_for_a_url_and_points_to_somebody_is_hidden(text: str) -> None:
    from presidio_analyzer.predefined_recognizers import UrlRecognizer

    recogniser: Any = UrlRecognizer()
    assert recogniser.analyze(text, ["URL"], None)
    assert found(text) == [("url", text)]


@pytest.mark.parametrize(
    "unit",
    [
        *("1", "1 ", "12 ", "90210 ", "@", "a@", "@ ", ".", "a.", "1.", "a. ", ":", "1:", "(", "-"),
        *("john ", "john smith ", "dr ", "j. ", "smith, ", "mary-", "van de la "),
        *("1 main ", "1 a ", "jan 1 ", "1/1/", "aa11 ", "www ", "x dot ", "a'", "ab." * 33 + "q "),
        *("\u00e9", "\u0661", "j\u0336"),
    ],
)
def test_ten_kilobytes_finish(unit: str) -> None:
    text = (unit * 10_000)[:10_000]
    assert all(span.end <= len(text) for span in FINDER.find(text))


OFFLINE = """
import socket

def refuse(*_, **__):
    raise AssertionError("network")

socket.socket.connect = socket.getaddrinfo = refuse
from tasks.adapters.detection.identifiers import load_identifier_finder
assert len(load_identifier_finder().find("jane@roe.com foo.biz/x 192.168.1.1 212-736-5000")) == 4
"""


def test_neither_network_nor_disk_is_used(tmp_path: Path) -> None:
    # In a process of its own: what presidio looks up once, it keeps for the life of a process.
    homes = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", OFFLINE], check=True, env={**os.environ, **homes})
    assert list(tmp_path.iterdir()) == []


def test_presidio_writes_no_text_to_logs(caplog: pytest.LogCaptureFixture) -> None:
    Presidio()
    with caplog.at_level(logging.DEBUG):
        logging.getLogger("presidio-analyzer").error("536-22-8726")
    assert caplog.records == []


def test_presidio_is_imported_only_when_needed() -> None:
    code = (
        "import sys; from tasks.adapters.detection import identifiers; "
        "identifiers.load_identifier_finder().find('john smith windows 2000'); "
        "sys.exit('presidio_analyzer' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("myspace.com", "myspace"),
        ("www.google.com", "google"),
        ("http://www.ebay.com/", "ebay"),
        ("https://mail.yahoo.com", "yahoo"),
        ("bbc.co.uk", "bbc"),
        ("www myspace com", "myspace"),
        ("www.msn com", "msn"),
        ("foo .com", "foo"),
        ("foo dot com", "foo"),
        ("www.myspace", "myspace"),
        ("f\u043e\u043e.com", "f\u043e\u043e"),
        ("bed-bath.com", "bed-bath"),
    ],
)
def test_a_domain_that_points_to_nobody_is_its_label(text: str, label: str) -> None:
    for before, after in (("", ""), ("about ", " please"), ("\u200bsee ", ", now")):
        typed = f"{before}{text}{after}"
        spans, (domain,) = FINDER.read(typed)
        assert spans == FINDER.find(typed) == ()
        assert typed[domain.label_start : domain.label_end] == label


@given(st.text(max_size=40), st.sampled_from(["foo.com", "www.a.org/x", "janedoe.net", "a@b.com"]))
def test_domains_lie_beside_identifiers_and_hold_their_labels(noise: str, address: str) -> None:
    text = normalise(f"{noise} {address} {noise}")
    spans, domains = FINDER.read(text)
    taken = [
        at for span in (*spans, *(d.span for d in domains)) for at in range(span.start, span.end)
    ]
    assert len(taken) == len(set(taken))
    assert all(d.span.start <= d.label_start < d.label_end <= d.span.end for d in domains)
