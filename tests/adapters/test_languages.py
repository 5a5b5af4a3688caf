"""The language of a log is measured by its words."""

from __future__ import annotations

from pathlib import Path

import pytest

from flows.run import main
from tasks.adapters.languages import MOST_QUERIES, measure_languages
from tasks.core.languages import LIMIT, Languages, words_of
from tasks.core.texts import TextColumn
from tasks.synthetic.log import synthetic_log
from tasks.synthetic.vocabulary import load_vocabulary

OTHERS = {
    "German": """\
wetter berlin morgen
rezept apfelkuchen mit streusel
günstige flüge nach mallorca
zahnarzt in der nähe
öffnungszeiten rewe
symptome grippe
was hilft gegen kopfschmerzen
bahn fahrplan hamburg münchen
gebrauchtwagen kaufen
stellenangebote krankenschwester köln
kindergeld antrag
fußball bundesliga ergebnisse
wohnung mieten leipzig
steuererklärung frist
schwangerschaft übelkeit
hotel hamburg hafen
scheidung kosten
depression selbsthilfe
handyvertrag vergleich
schuhe damen stiefel
gedicht zum geburtstag
nachrichten aktuell
rückenschmerzen übungen
rezept kartoffelsalat
krankenkasse wechseln
arbeitslosengeld berechnen
urlaub ostsee mit hund
krebs früherkennung
kleider größe 42
telefonbuch
führerschein umtauschen
hausarzt dresden
bewerbung schreiben muster
wie alt werden katzen
blumen verschicken""",
    "Spanish": """\
tiempo en madrid
recetas de cocina faciles
vuelos baratos a barcelona
síntomas de la diabetes
como ganar dinero rapido
letras de canciones
noticias de hoy
hoteles en cancun
trabajo desde casa
dolor de cabeza remedios
dentista cerca de mi
traductor ingles español
partidos de futbol hoy
significado de los sueños
descargar musica gratis
embarazo semana 12
abogado divorcio precio
pisos de alquiler en valencia
coches de segunda mano
frases de amor
horario de trenes
cancer de mama sintomas
colegios en sevilla
farmacia de guardia
peliculas gratis online
como hacer una carta de renuncia
oposiciones enfermeria
mapa de carreteras
que es la ansiedad
zapatos de mujer""",
    "French": """\
météo paris demain
recette gâteau au chocolat
vol pas cher
horaires train sncf
symptômes grippe
mal de tête que faire
appartement à louer lyon
pages jaunes
offre emploi infirmière
voiture occasion
comment maigrir vite
divorce procédure
résultats ligue 1
cancer du sein
programme télé ce soir
traduction anglais français
médecin de garde
dépression nerveuse
location vacances bretagne
impôts déclaration en ligne
prénom garçon
paroles chanson
chaussures femme
école maternelle inscription
carte grise changement adresse
pharmacie ouverte dimanche
mots croisés
jeux gratuits
caf aide au logement
banque postale mon compte""",
    "Dutch": """\
weer amsterdam morgen
recept appeltaart
goedkope vliegtickets
huisarts in de buurt
griep symptomen
tweedehands auto kopen
vacatures verpleegkundige
huis te huur utrecht
hoofdpijn wat te doen
zorgverzekering vergelijken
openingstijden supermarkt
kinderdagverblijf""",
    "Italian": """\
meteo roma domani
ricetta tiramisù
voli economici per londra
sintomi influenza
case in affitto milano
orari treni
mal di testa rimedi
offerte di lavoro
auto usate
come perdere peso
dentista vicino a me
significato dei sogni""",
    "Portuguese": """\
previsão do tempo são paulo
receita de bolo de chocolate
passagens aéreas baratas
sintomas da gripe
vagas de emprego
casas para alugar
dor de cabeça
como emagrecer rapido
carros usados
resultado do jogo
significado dos sonhos
traduzir ingles""",
    "Polish": """\
pogoda warszawa
przepis na szarlotkę
tanie loty
objawy grypy
praca dla pielęgniarki
mieszkanie do wynajęcia kraków
ból głowy
rozkład jazdy pkp
samochody używane
jak schudnąć szybko""",
    "Turkish": """\
hava durumu istanbul
ucuz uçak bileti
grip belirtileri
kiralık daire ankara
iş ilanları
baş ağrısı nasıl geçer
ikinci el araba
rüya tabirleri""",
    "cyrillic script": """\
погода в москве
рецепт борща
симптомы гриппа
купить машину
расписание поездов
скачать музыку бесплатно
работа в санкт-петербурге
новости сегодня""",
    "cjk script": """\
北京天气
感冒症状
火车票查询
怎么做红烧肉
招聘信息
二手车
糖尿病 饮食
旅游攻略""",
}
"""Queries as people type them, some without accents."""
TRAPS = """\
google
yahoo mail
myspace
mapquest
el paso texas weather
la times
las vegas hotels
san diego zoo
taco bell
louis vuitton
de niro
britney spears
www.ebay.com
facebook login
craigslist
ebay
target
pizza hut menu
jfk
lyrics
home depot
volkswagen jetta
ikea
adidas
restaurante los angeles
casa blanca
wells fargo
chicken enchilada recipe
berlin wall
paris hilton
nokia 6101
yu gi oh
dr phil
kelly blue book
dog breeders nj
recpie chiken
wether chigaco
restaraunt
pokemon
hotmail
chilis
nissan altima 2002
hp 5650
ritz carlton
cartier
flu symptoms
cheap flights
how to get rid of ants
bmw
toyota corolla parts
jobs in nyc
nfl
msn
walmart
ups
american idol
maria lopez
jose garcia attorney
hannah montana
sudoku
naruto
yoga
kia sorento
jennifer lopez
juan carlos
santa fe new mexico
baton rouge
des moines iowa
feliz navidad lyrics
cinco de mayo
buenos aires
costa rica
puerto vallarta
casino
hyundai
mitsubishi
honda accord
tommy hilfiger
vera bradley
mercedes benz
ferrari
lamborghini
chevrolet silverado
peugeot
renault"""
"""English ones that look otherwise: short, brands, names, places, slips, addresses."""


def measured(queries: list[str]) -> Languages:
    return measure_languages(TextColumn.of(queries))


def sample(seed: int, count: int = 2000) -> list[str]:
    rows = synthetic_log(load_vocabulary(), queries=count, users=200, seed=seed)
    return [row.query for row in rows]


@pytest.mark.parametrize("language", OTHERS)
def test_other_languages_are_told_by_their_words(language: str) -> None:
    found = measured(OTHERS[language].split("\n"))
    assert not found.is_english
    assert found.not_understood > 0.9
    assert next(iter(found.shown())) == language


@pytest.mark.parametrize("seed", [1, 7, 23])
def test_english_logs_are_far_from_the_limit(seed: int) -> None:
    found = measured(sample(seed))
    assert found.is_english
    assert found.not_understood < LIMIT / 3
    assert found.shown() == {}


def test_names_brands_slips_and_addresses_do_not_make_a_log_foreign() -> None:
    found = measured(TRAPS.split("\n"))
    assert found.is_english
    assert found.not_understood < LIMIT / 2


@pytest.mark.parametrize(("part", "accepted"), [(0.1, True), (0.25, False), (0.5, False)])
@pytest.mark.parametrize("language", ["German", "Spanish", "cyrillic script"])
def test_a_part_of_a_log(language: str, part: float, accepted: bool) -> None:
    english, other = sample(7), OTHERS[language].split("\n")
    count = round(len(english) * part / (1 - part))
    found = measured([*english, *(other[place % len(other)] for place in range(count))])
    assert found.is_english is accepted
    assert abs(found.not_understood - part) < 0.06


def test_words_that_no_list_knows_are_not_understood() -> None:
    found = measured([f"zzyqx{'qw' * n} vvkrt" for n in range(1, 30)])
    assert found.not_understood == 1.0
    assert found.shown() == {"unknown": 1.0}
    assert not found.is_english


def test_queries_without_words_say_nothing() -> None:
    found = measured(["1040", "www.example.com", "555-1234", "a@b.com", "x", "-"])
    assert found == Languages(0, {}, 0)
    assert found.is_english
    assert measured([]).is_english


def test_few_queries_are_no_proof() -> None:
    assert Languages(4, {"German": 1}, 0).is_english
    assert not Languages(4, {"German": 3}, 0).is_english
    assert not Languages(1000, {"German": 230}, 0).is_english
    assert Languages(1000, {"German": 190}, 0).is_english


def test_a_language_of_few_is_not_named() -> None:
    assert Languages(1000, {"German": 300, "Finnish": 3}, 4).shown() == {"German": 0.3}


def test_a_long_log_is_judged_by_a_part_of_it() -> None:
    found = measured(["weather chicago"] * (3 * MOST_QUERIES))
    assert 0 < found.queries <= MOST_QUERIES


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("What's the WEATHER", ["what's", "the", "weather"]),
        ("www.ebay.com log in", ["log", "in"]),
        ("iphone 5 x", ["iphone"]),
        ("ＡＢＣ größe", ["abc", "größe"]),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert words_of(text) == words


def german_log(path: Path) -> Path:
    queries = OTHERS["German"].split("\n")
    rows = [f"{1 + n % 9}\t{queries[n % len(queries)]}\t2006-03-01 10:00:00\n" for n in range(90)]
    path.write_text("AnonID\tQuery\tQueryTime\n" + "".join(rows))
    return path


def test_a_log_that_is_not_english_is_refused(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, out = german_log(tmp_path / "log.tsv"), tmp_path / "out"
    common = [str(log), "--bare", "--store", str(store), "--out"]
    assert main([*common, str(out)]) == 2
    told = capsys.readouterr().err
    assert "German 9" in told
    assert "--language en" in told
    assert "--any-language" in told
    assert "apfelkuchen" not in told
    assert not out.exists()
    assert main([*common, str(out), "--any-language"]) == 0
    assert "of the queries are not understood" in (out / "report.html").read_text()
    # What was accepted once must be said again.
    assert main([*common, str(out)]) == 2
    assert main([*common, str(tmp_path / "said"), "--language", "en"]) == 0
