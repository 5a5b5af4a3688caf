"""What is known about words that may be names: census shares, dictionary, closed word sets.

The word sets are small and reviewed by hand; they hold no name of a person.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from tasks.core.detection.name_shapes import SHORTEST, shape_of


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
    """ave avenue bay beach blvd bluff boulevard bridge canyon castle center church coast
    college county court cove creek dam farm farms forest garden gardens grove harbor
    heights hill hills hospital house inn island lake lakes lane mall meadows mountain park
    point ranch ridge river road school shore spring springs square station store street
    town valley view villa village"""
)
# What is named after people and follows their whole name: prince william county.
NAMED_THINGS = word_set("airport bridge county expressway parkway stadium")
# What companies are called, and nobody else.
LEGAL_FORMS = word_set(
    "corp corporation gmbh holdings inc incorporated limited llc llp ltd plc pvt"
)
# What stands before that, and is not the name itself.
COMPANY_HEADS = word_set(
    "brothers co companies company group industries international partners sons"
)
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

LIKELY_SHAPE, CLEAR_SHAPE = 1.0, 2.5
"""What the spelling of a word in no list must say for it to be a name; to be a first name.

Families' names are more various than first names, and stand behind those: less will do there.
"""

LONGEST_TOWN = 3
"""Words."""

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
        shapes: what letters in a row say for a name.
        look_alikes: what is spelt like a name, and a usual word of this or of another language.
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
    shapes: Mapping[str, float] = field(default_factory=dict, repr=False)
    look_alikes: AbstractSet[str] = field(default=frozenset(), repr=False)

    def first_odds(self, word: str) -> float:
        """How much more often the word is a first name than anything else."""
        odds = self._odds(self.first_share(word), word, RAREST_FIRST_NAME)
        return odds / PLACE_DISCOUNT if word in self.places else odds

    def last_odds(self, word: str) -> float:
        """How much more often the word is a surname than anything else."""
        return self._odds(self.last_share(word), word, RAREST_SURNAME)

    def first_share(self, word: str) -> float:
        """Percent of people who bear the first name; of one in no list, if spelt like one, few."""
        share = self.first.get(word)
        if share is None:
            share = RAREST_FIRST_NAME if self.is_spelt_like_name(word, CLEAR_SHAPE) else 0.0
        return share

    def last_share(self, word: str) -> float:
        """Percent of people who bear the surname; of one in no list, if spelt like one, few."""
        share = self.last.get(word)
        if share is None:
            share = RAREST_SURNAME if self.is_spelt_like_name(word) else 0.0
        return share

    def is_name(self, word: str) -> bool:
        """Whether anybody is called by the word, or may be by how it is spelt."""
        return self.is_listed(word) or self.is_spelt_like_name(word)

    def is_listed(self, word: str) -> bool:
        """Whether anybody is known to be called by the word."""
        return word in self.first or word in self.last

    def is_spelt_like_name(self, word: str, least: float = LIKELY_SHAPE) -> bool:
        """Whether a word that is nothing else is in no list of names, and looks like one."""
        if len(word) < SHORTEST or not word.isascii() or self.is_listed(word) or not self.shapes:
            return False
        if word in self.look_alikes or word in WEB_WORDS or self.is_word(word):
            return False
        if word in self.towns or word in self.abroad:
            return False
        return shape_of(word, self.shapes) > least

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
