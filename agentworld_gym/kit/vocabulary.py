"""The words that generated tasks draw from: they are short and lowercase, and no content word is part of another.

That no word is part of another keeps `grep WORD` and `sed s/WORD/…/` unambiguous. The words are few and come often,
which keeps the language of generated worlds small enough for a small model. Each split has words of its own, so that a
model meets names and contents in a test that no training task holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType

from agentworld_gym.core.domain.task import Split
from agentworld_gym.kit.tables.word_lists import common_words, held_out_words


class WordPool(tuple[str, ...]):
    """The words that tasks of the training split draw from, with others for the other splits.

    >>> pool = WordPool(["amber", "jade"], validation=["opal"], test=["topaz"])
    >>> pool, pool.of("train"), pool.of("test")
    (('amber', 'jade'), ('amber', 'jade'), ('topaz',))
    """

    held_out: Mapping[Split, tuple[str, ...]]
    """The words of the splits that no model learns from."""

    def __new__(cls, train: Iterable[str], validation: Iterable[str], test: Iterable[str]) -> WordPool:
        """Make a pool of the words of each split."""
        pool = super().__new__(cls, train)
        pool.held_out = MappingProxyType({"validation": tuple(validation), "test": tuple(test)})
        return pool

    @classmethod
    def of_words(cls, train: str, validation: str, test: str) -> WordPool:
        """Make a pool of the words of three texts."""
        return cls(train.split(), validation.split(), test.split())

    def of(self, split: Split) -> tuple[str, ...]:
        """Return the words of a split."""
        return self.held_out.get(split, self)


@lru_cache(maxsize=32)
def common_pool(kind: str) -> WordPool:
    """Return the pool of a kind of common words, such as `people` or `cities`.

    >>> sorted(set(common_pool("people").of("train")) & set(common_pool("people").of("test")))
    []
    """
    train, held_out = common_words()[kind], held_out_words()
    if kind == "people":  # Rows that a scenario makes of a seed take all; two in six are in no training task.
        train = tuple(name for place, name in enumerate(train) if place % 6 < 4)
    return WordPool(train, held_out["validation"][kind], held_out["test"][kind])


WORDS = WordPool.of_words(
    """
        acorn amber apple autumn badge baker banjo basil beacon bench berry birch blanket bottle branch bread bridge
        bronze brush bucket butter button cabin candle canoe carpet castle cedar chalk cherry circle clay cliff cloud
        clover cobalt comet copper coral cotton crayon cricket crystal curtain daisy desert diamond dolphin dragon drum
        eagle ember engine falcon fabric feather fence fiddle finch flute forest fossil fountain fox frost garden ginger
        glacier globe granite grape guitar hammer harbor hazel helmet heron honey hotel igloo indigo island ivory jacket
        jasmine jewel jungle kettle kitten ladder lagoon lantern lemon lilac lizard lotus magnet mango maple marble
        meadow melon mirror monkey mosaic muffin nectar needle nickel nutmeg oasis olive onion orchid otter oyster
        paddle panda paper parrot peach pebble pencil pepper pigeon pillow planet plum pocket poppy puzzle quartz quill
        rabbit radish raven ribbon river rocket saddle saffron salmon scarf shadow silver spider spruce squash storm
        sugar summit sunset sweater tiger timber tomato trumpet tulip tunnel turtle umbrella velvet violin walnut
        whistle willow window winter yogurt zebra
    """,
    validation="""
        bonnet boulder bugle bunny canary cannon caramel carbon cavern cinder clarinet coconut cougar cymbal daffodil
        dormouse drizzle elbow fiber flounder fresco gazelle geyser goblet gopher hamlet hatchet hippo kiwi knapsack
        lasso lava leopard mallard mimosa molasses narwhal nugget papaya parsley pasture peacock pelican pinecone pollen
        prism pudding pumice raccoon sardine satchel scallop shamrock shawl shuttle skillet sponge starling sulfur
        tadpole tapir tartan thistle topaz trolley turbine turnip waffle wagon wallaby whale wigwam wombat
    """,
    test="""
        almond apricot aspen bagel ballad bayou beaver beetle bellows candy cello chariot chimney cornet coyote crater
        crocus dahlia denim dove easel emerald fennel fern ferret flagon flint folklore fridge galaxy gallop gecko
        giraffe griffin gull gypsum harp hedge hermit hickory hornet jackal jaguar jigsaw kayak lacquer larch latch
        lavender lichen lobster locket locust lullaby lupine mammoth mantle mastiff mitten moose mussel mustard nebula
        nutshell oatmeal obsidian ostrich palette patio penguin petal pheasant piston plaza poncho porch possum pretzel
        puffin quail raisin rapids reef rhubarb rosemary sandal sapphire sequoia snail sparrow squid stork swallow swan
        toffee toucan trellis trout tundra twig vanilla vessel viola vulture warbler wasp wicker zinnia
    """,
)
"""The words that files contain."""

NAMES = WordPool.of_words(
    "alice boris carla david elena felix greta henry irene jonas karen louis mario nadia oscar petra",
    validation="anton clara dora ivan lotte nils paul rosa stefan tilda vera walter",
    test="bruno edith frida gustav hanna jakob leonie magnus noemi otto pia ruben sonja theo viktor yara",
)
"""The first names of people in tables."""

STEMS = WordPool.of_words(
    "alpha base chart daily entry final guide index jobs list memo notes orders queue report stock team",
    validation="brief draft figures ideas lines matters paper quotes results stats topics update",
    test="""
        account budget catalog census digest ledger letter minutes plan profile roster schedule survey tally ticket
        timeline
    """,
)
"""File names without their extensions."""

FOLDERS = WordPool.of_words(
    "archive backup docs inbox keep logs media old outbox pack parts ready safe shelf spare store",
    validation="attic box crate depot drawer heap history imports locker misc sent trays",
    test="bundle cabinet cellar done exports hold library past pile rack records reserve saved vault stash",
)
"""The names of folders."""

KEYS = WordPool.of_words(
    "depth limit pause level retry size slots speed width zoom",
    validation="angle buffer delay height offset quota scale steps timeout weight",
    test="batch burst factor gain length margin period ratio step threads",
)
"""The keys of configuration files."""


def content_words() -> list[str]:
    """Return the names and words that tasks draw from lists."""
    return [*NAMES, *WORDS]
