"""What is known about words that may be names: census shares, dictionary, closed word sets.

The word sets are small and reviewed by hand; they hold no name of a person.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


FUNCTION_WORDS = word_set(
    """a about after all also am an and another any are as at back be because been before being
    both but by call can could de do does each else even ever every few first for from get go had
    has have he her here him his how i if in into is it its just last less like make many me more
    most much must my never next no none noone not now of off on one only or other our ours out
    over own per please rather re same say see she should show so some still such ten than that
    the their them then there these they this those to too top un under up us use used very via
    was we well were what when where which while who whose why with would yes you your arent cant
    couldnt didnt doesnt dont hadnt hasnt havent isnt shouldnt wasnt werent wont wouldnt"""
)
# Verbs that are also first names; they are names only where no subject stands before them.
MODALS = frozenset({"will", "may"})
BEFORE_MODAL_NAMES = word_set("about and by for from is of or starring to vs was who with")
STRONG_TITLES = word_set("dr mr mrs prof professor rev reverend")
WEAK_TITLES = word_set(
    """attorney capt captain coach col corporal deputy detective judge lieutenant lt mayor miss ms
    officer pastor principal sen senator sergeant sgt sheriff"""
)
TITLES = STRONG_TITLES | WEAK_TITLES
GENERATIONS = frozenset({"jr", "sr", "ii", "iii"})
PARTICLES = word_set(
    "abu al ben bin da das de del della den der di dos du el ibn la le los mac mc st ter van von zu"
)
# A first name after one of these is part of a place: santa barbara, st john, rue jean jaures.
PLACE_PREFIXES = word_set(
    """avenida calle camp cape east el fort ft glen lake las los mount mt new north piazza plaza
    point port rua rue saint san santa south st strada via vila west"""
)
# What a word pair ends with if it is a place or an institution: rose hill, grace church.
PLACE_HEADS = word_set(
    """bay beach bluff bridge canyon castle center church coast college county court cove creek
    dam farm farms forest garden gardens grove harbor heights hill hills hospital house inn island
    lake lakes lane mall meadows mountain park point ranch ridge river road school shore spring
    springs square station store street town valley view villa village"""
)
# What is named after people and follows their whole name: prince william county.
NAMED_THINGS = word_set("airport bridge county expressway parkway stadium")
# Words that are asked about people, and hardly about anything else.
TELLING = word_set(
    """arrest arrested attorney biography dds dentist facebook funeral genealogy lawyer married md
    mugshot myspace obituaries obituary phd phone realtor wedding"""
)
# Words that often stand beside a name, or beside anything.
COMPANY = TELLING | word_set(
    """address age agent arrest artist author baseball basketball bio birthday blog born class coach
    college construction death died divorce divorced doctor email engagement family find football
    golf high hockey homecoming husband in insurance is jail marriage missing murder musician number
    pastor photographer photos pics pictures plumbing prison registry resume reunion school search
    soccer teacher trial university was wife who wrestling"""
)
# Well known, in no dictionary, and no surname.
WEB_WORDS = word_set(
    """adsense amazon aol app apps autotrader blog blogs cnn corp craigslist disneyland dvd dvds
    ebay email espn expedia facebook fanfic flickr gmail gmbh google hotmail imdb inc ipod
    itunes llc llp ltd mapquest men msn myspace netflix online orkut paypal playlist plc podcast
    ringtone ringtones screensaver screensavers spyware toyota verizon walmart website websites
    webcam webcams wikipedia women xanga xbox yahoo youtube"""
)

PLACE_DISCOUNT = 4.0
"""How much less a first name counts that is also a place: *virginia*, *dallas*."""

RAREST_FIRST_NAME, RAREST_SURNAME = 0.01, 0.02
"""Percent of people that a name in no dictionary counts for, however rare it is."""

LONGEST_TOWN = 3
"""Words."""

# How family names end: Slavic and Baltic, Georgian and Armenian, Nordic and Finnish, Dutch and
# German, Turkish, Greek, Romanian, Italian, French, Portuguese, Spanish, Japanese ones. Of unknown
# words of English queries one in fifty ends so, of surnames in no list of ours one in two.
SURNAME_ENDINGS = tuple(
    word_set(
        """adze aitis akis ardi bach bauer berg cek chuk cik cka cki cky czak czuk czyk dahl dijk
        dottir dsen eanu eau ecic eira eiro elli ello enko escu etti ev eva ez feld gaard
        gawa gren guchi hara haug horst hoven huis icic idze kawa ksen lsen lund maier
        mann mayer meier meyer moto mura nen nsen ocic oglu otti ov ova poulos poulou rsen
        saki sek shita shuk shvili ska skaya ski sky ssen sson stad stein stra stroem
        strom tsen ucci ucic uskas veld vic vich vicz vist wicz yama yan zaki"""
    )
)
SHORTEST_BUILT = 6

_SUFFIXES = (
    *(("ies", "y"), ("ied", "y"), ("es", ""), ("s", "")),
    *(("ed", ""), ("ed", "e"), ("ing", ""), ("ing", "e")),
)


@dataclass(frozen=True, slots=True)
class NameLists:
    """What is known about words.

    Attributes:
        first, last: percent of people who bear the word as first name and as surname.
        common_words: how often a dictionary word was seen in a corpus; 0: in the dictionary only.
        name_only: dictionary words that mean nothing but persons.
        places: dictionary words that are the name of a place.
        towns: towns, counties, states and countries, of one or more words.
        phrases: fixed expressions of two words, with a blank, that are no private person's name.
        other_words: words in use that the dictionary lacks and nobody is called by.
        abroad: the same of other languages.
        chinese_last, chinese_first: family and given names in Latin letters.
        pinyin: the syllables of Chinese.
        vietnamese_last: family names.
        yoruba: names, first and last; yoruba_elements: the beginnings that many of them share.
    """

    first: Mapping[str, float] = field(repr=False)
    last: Mapping[str, float] = field(repr=False)
    common_words: Mapping[str, int] = field(repr=False)
    name_only: AbstractSet[str] = field(default=frozenset(), repr=False)
    places: AbstractSet[str] = field(default=frozenset(), repr=False)
    towns: AbstractSet[str] = field(default=frozenset(), repr=False)
    phrases: AbstractSet[str] = field(default=frozenset(), repr=False)
    other_words: AbstractSet[str] = field(default=frozenset(), repr=False)
    abroad: AbstractSet[str] = field(default=frozenset(), repr=False)
    chinese_last: AbstractSet[str] = field(default=frozenset(), repr=False)
    chinese_first: AbstractSet[str] = field(default=frozenset(), repr=False)
    pinyin: AbstractSet[str] = field(default=frozenset(), repr=False)
    vietnamese_last: AbstractSet[str] = field(default=frozenset(), repr=False)
    yoruba: AbstractSet[str] = field(default=frozenset(), repr=False)
    yoruba_elements: AbstractSet[str] = field(default=frozenset(), repr=False)

    def first_odds(self, word: str) -> float:
        """How much more often the word is a first name than anything else."""
        odds = self._odds(self.first.get(word, 0.0), word, RAREST_FIRST_NAME)
        return odds / PLACE_DISCOUNT if word in self.places else odds

    def last_odds(self, word: str) -> float:
        """How much more often the word is a surname than anything else."""
        return self._odds(self.last_share(word), word, RAREST_SURNAME)

    def last_share(self, word: str) -> float:
        """Percent of people who bear the surname; of one in no list, if built like one, few."""
        share = self.last.get(word)
        if share is None:
            share = RAREST_SURNAME if self._is_built(word) else 0.0
        return share

    def is_name(self, word: str) -> bool:
        """Whether anybody is called by the word, or by one built so."""
        return word in self.first or word in self.last or self._is_built(word)

    def _is_built(self, word: str) -> bool:
        """Whether a word in no list ends like a family name and is nothing else."""
        if len(word) < SHORTEST_BUILT or not word.endswith(SURNAME_ENDINGS):
            return False
        return word not in self.towns and not self.is_word(word)

    def town_length(self, words: Sequence[str]) -> int:
        """How many of these words are a town and its state, with which they begin; 0 if none."""
        lengths = range(min(LONGEST_TOWN, len(words)), 0, -1)
        town = next((end for end in lengths if " ".join(words[:end]) in self.towns), 0)
        return town + self.town_length(words[town:]) if town else 0

    def is_word(self, word: str) -> bool:
        """Whether the dictionary has the word or its base form, or people use it otherwise."""
        if word in FUNCTION_WORDS or word in self.other_words:
            return True
        return self._corpus_count(word) is not None

    def is_phrase(self, first: str, second: str) -> bool:
        """Whether the two words are a fixed expression or a brand, hence no person."""
        return f"{first} {second}" in self.phrases

    def _odds(self, share: float, word: str, rarest: float) -> float:
        if not share or word in FUNCTION_WORDS or word in WEB_WORDS:
            return 0.0
        count = self._corpus_count(word)
        if count is None:
            # A word that is nothing but a name is one, however rare; short ones are abbreviations.
            return 1000 * (max(share, rarest) if len(word) > 3 else share)
        # The corpus is small: a word it never saw may still be an everyday one.
        return 1000 * share / (1 + count + (0 if word in self.name_only else 5))

    def _corpus_count(self, word: str) -> int | None:
        if word in self.common_words:
            return self.common_words[word]
        bases = (word[: -len(old)] + new for old, new in _SUFFIXES if word.endswith(old))
        words = [base for base in bases if base in self.common_words and base not in self.name_only]
        return max((self.common_words[base] for base in words), default=None)
