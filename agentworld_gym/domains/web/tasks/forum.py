"""Tasks in the forum: the agent likes, answers and reports posts, and as a moderator puts threads in order."""

from __future__ import annotations

from typing import NamedTuple

from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.domains.web.tasks.actions import ACCEPT, BACK, DISMISS, choose, click, go, press, write
from agentworld_gym.domains.web.tasks.scene import Person, WebScene, family, in_article

BOARDS = {
    "vegetables": ("Vegetables", "What we eat"),
    "flowers": ("Flowers", "What we look at"),
    "tools": ("Tools", "Spades, sheds and machines"),
    "seed-swap": ("Seed swap", "Give and take"),
}


class Plant(NamedTuple):
    """A plant that members ask about, and the board it belongs to."""

    name: str
    board: str


PLANTS = (
    Plant("Onions", "vegetables"),
    Plant("Leeks", "vegetables"),
    Plant("Beans", "vegetables"),
    Plant("Pumpkins", "vegetables"),
    Plant("Carrots", "vegetables"),
    Plant("Tulips", "flowers"),
    Plant("Dahlias", "flowers"),
    Plant("Lilies", "flowers"),
    Plant("Crocuses", "flowers"),
    Plant("Peonies", "flowers"),
)
DEPTHS = range(2, 25)
PLACES = ("behind the shed", "under the old pear tree", "along the south wall", "next to the pond", "in the big tub")
ADVERTS = (
    "Cheap hoses and sprinklers, only today, write to me for the price list!",
    "I sell greenhouses at half price. Call me before Sunday!",
    "Buy my fertiliser, it beats all others, ten euros a bag!",
)
INSULTS = (
    "Only a fool would ask such a thing. Leave the garden to others.",
    "You have no idea of plants at all, go and buy plastic ones.",
    "What a stupid question, as all of yours are.",
)
HARMLESS = (
    "I water mine in the morning and never in the evening.",
    "Mine did well on the balcony last year, in a deep box.",
    "We had so many that the neighbours got a basket each.",
)


class Garden:
    """The forum of a task while it is being filled; posts are numbered in the order in which they are added."""

    def __init__(self, scene: WebScene, moderator: bool = False) -> None:
        self.scene = scene
        self.members = scene.people(4)
        (self.warden,) = scene.people(1)
        scene.site("forum", self.members, "moderator" if moderator else None, [self.warden])
        for slug, (name, about) in BOARDS.items():
            scene.add("forum", "boards", slug=slug, name=name, description=about)
        self.posts = scene.rng.randint(40, 70)
        self.threads = scene.rng.randint(10, 20)

    def thread(self, board: str, title: str, *posts: tuple[Person, str]) -> tuple[int, list[int]]:
        """Add a thread; return its number and the numbers of its posts."""
        self.threads += 1
        start = self.scene.rng.randint(5, 40)
        at = [self.scene.moment(start - place / 4) for place in range(len(posts))]
        self.scene.add("forum", "threads", thread_id=self.threads, board=board, title=title,
                       username=posts[0][0].username, opened_at=at[0])  # fmt: skip
        numbers = []
        for (person, text), moment in zip(posts, at, strict=True):
            self.posts += 1
            numbers.append(self.posts)
            self.scene.add("forum", "posts", post_id=self.posts, thread_id=self.threads, username=person.username,
                           text=text, written_at=moment)  # fmt: skip
        return self.threads, numbers


@family
def join_thread(scene: WebScene, level: int) -> TaskDraft:
    """The agent likes a post, or answers a question with what the moderator said elsewhere and reports wrong advice."""
    garden = Garden(scene)
    asker, *others = garden.members
    plants = scene.some([plant for plant in PLANTS if plant.board == "vegetables"], 2)
    plants += scene.some([plant for plant in PLANTS if plant.board == "flowers"], 1)
    plant, second, _ = plants
    depths = [f"{depth} cm" for depth in scene.some(DEPTHS, 6)]
    title = f"{plant.name} in spring"
    if level == 1:
        speakers = scene.mixed(others)
        said = [(person, f"I plant mine {depth} deep.") for person, depth in zip(speakers, depths, strict=False)]
        thread, _ = garden.thread(plant.board, title, (asker, f"How deep do your {plant.name.lower()} go?"), *said)
        garden.thread(second.board, f"{second.name} in spring", (others[0], f"My {second.name.lower()} are out."))
        scene.start("forum/")
        place = scene.rng.randrange(3)
        liked = speakers[place]
        goal = scene.say(f"In the thread '{title}', like the post of {liked.name}.",
                         f"{liked.name} has answered in the thread '{title}': like that post.")  # fmt: skip
        expert = [click(BOARDS[plant.board][0]), click(title), press(f"Like post {place + 2}"), press("Watch thread")]
        page = go(f"forum/threads/{thread}")
        likes = in_article(liked.name, depths[place]) + r"(?:(?!- article\b).)*: 1 like\b"
        checks = [scene.shows(page, likes, 'button "Stop watching"')]
        turns = [press(f"Like post {other + 2}") for other in range(3) if other != place]
        turns[1:1] = [click(f"{second.name} in spring"), click("Watched"), click("Reply"), BACK]
        instruction = f"{goal} Watch the thread too. Finish with the depth that {liked.first} names, such as '30 cm'."
        return scene.draft(instruction, expert, turns, checks, depths[place], depths[:3], 13)
    warden = garden.warden
    right, false, stray = depths[:3]
    advice = f"In our soil {right} is the right depth for {plant.name.lower()}."
    answers = scene.mixed([(others[1], f"Mine are {false} deep and look fine."), (warden, advice)])
    source = f"{plant.name}, how deep?"
    asking = (asker, f"It is my first year. How deep do I plant {plant.name.lower()}? And {second.name.lower()}?")
    noise = (others[2], f"{second.name} want {stray}, so much I know.")
    garden.thread(plant.board, source, (others[0], "Last year mine froze."), *answers)
    thread, _ = garden.thread("seed-swap" if level == 3 else plant.board, "A beginner asks", asking, noise)
    garden.thread(
        plant.board, f"{second.name}, how deep?", (others[1], "What do you do?"), (warden, f"Take {depths[3]}.")
    )
    scene.start("forum/boards/vegetables")
    page = go(f"forum/threads/{thread}")
    text = f"Plant your {plant.name.lower()} {right} deep"
    answer = [click("Reply"), write("Text", text), press("Publish reply")]
    checks = [scene.shows(page, in_article(scene.me.name, text))]
    wrongs = [write("Text", f"Plant your {plant.name.lower()} {depth} deep") for depth in (false, stray, depths[3])]
    if level == 2:
        expert = [click(source), BACK, click("A beginner asks"), *answer, click(asker.name)]
        city = next(row["city"] for row in scene.rows("forum", "users") if row["username"] == asker.username)
        cities = {row["city"] for row in scene.rows("forum", "users")} - {city}
        instruction = (
            f"In the thread 'A beginner asks', {asker.first} wants to know how deep {plant.name.lower()} are planted."
            f" Reply 'Plant your {plant.name.lower()} N cm deep' with the depth that the moderator {warden.name} names"
            f" in another thread of the board. Finish with the city that {asker.first}'s profile names."
        )
        turns = [
            *wrongs[:2],
            click(f"{second.name}, how deep?"),
            wrongs[2],
            click(others[2].name),
            press("Watch thread"),
        ]
        return scene.draft(instruction, expert, turns, checks, city, scene.mixed(sorted(cities)), 14)
    bad = (others[2], f"Your {plant.name.lower()} need {false}, everybody knows that.")
    garden.posts += 1
    scene.add("forum", "posts", post_id=garden.posts, thread_id=thread, username=bad[0].username, text=bad[1],
              written_at=scene.moment(1))  # fmt: skip
    expert = [
        click(source),
        click("Boards"),
        click("Seed swap"),
        click("A beginner asks"),
        click("Report post 3"),
        choose("Reason", "Wrong or dangerous advice"),
        press("Send report"),
        *answer,
        press("Watch thread"),
    ]
    instruction = (
        f"In the seed swap, {asker.name} asks in 'A beginner asks' how deep {plant.name.lower()} are planted. The"
        f" moderator {warden.name} has named the right depth among the vegetables, in '{source}'. Report the post in"
        f" {asker.first}'s thread that names another depth for {plant.name.lower()} as wrong advice, reply 'Plant your"
        f" {plant.name.lower()} N cm deep' with the right one, and watch the thread. Finish with the right depth."
    )
    checks[0] = scene.shows(page, in_article(scene.me.name, text), 'button "Stop watching"')
    password = scene.rows("forum", "users")[-1]["password"]
    enter = [write("User name", warden.username), write("Password", password), press("Sign in")]
    seen = [page, press(f"Sign out {scene.me.name}"), go("forum/login?next=/moderation"), *enter]
    reported = rf"Report \d+: wrong advice(?:(?!- listitem\b).)*{bad[0].name} in(?:(?!- listitem\b).)*{false}"
    checks.append(scene.shows(seen, reported, lacking=[r"Report \d+(?:(?!- heading\b).)*Report \d+"]))
    turns = [wrongs[0], click("Report post 2"), choose("Reason", "Off topic"), wrongs[1], wrongs[2]]
    return scene.draft(instruction, expert, turns, checks, right, [false, stray, depths[3]], 16)


@family
def moderate(scene: WebScene, level: int) -> TaskDraft:
    """The agent judges reports by what the posts say, and closes and moves threads."""
    garden = Garden(scene, moderator=True)
    plants = scene.some(PLANTS, 3)
    people = scene.mixed(garden.members)
    advert, insult, harmless = scene.pick(ADVERTS), scene.pick(INSULTS), scene.pick(HARMLESS)
    bodies = [("spam", advert), ("insult", insult), ("insult", harmless)]
    number = scene.rng.randint(20, 60)
    reports: dict[str, int] = {}
    authors: dict[str, Person] = {}
    titles: dict[str, str] = {}
    threads: dict[str, int] = {}
    for place, (index, plant) in enumerate(zip(scene.mixed(range(3)), plants, strict=True)):
        reason, text = bodies[index]
        key = ("advert", "insult", "harmless")[index]
        titles[key] = f"{plant.name} and where they go"
        authors[key] = people[place]
        board = "tools" if key == "harmless" and level > 1 else plant.board
        threads[key], posts = garden.thread(
            board, titles[key], (people[3], f"Mine stand {scene.pick(PLACES)}."), (people[place], text)
        )
        reports[key] = number + place
        scene.add("forum", "reports", report_id=number + place, post_id=posts[1], username=people[3].username,
                  reason=reason if level == 1 else "off topic", opened_at=scene.moment(2 - place / 4))  # fmt: skip
    remove = {key: press(f"Remove post of report {report}") for key, report in reports.items()}
    dismiss = {key: press(f"Dismiss report {report}") for key, report in reports.items()}
    scene.start("forum/")
    gone, kept = go("forum/moderation?status=removed"), go("forum/moderation?status=dismissed")
    mark = {key: f"Report {report}: " for key, report in reports.items()}
    if level == 1:
        key = scene.pick(("advert", "insult"))
        others = [other for other in reports if other != key]
        what = {"advert": "advertises something", "insult": "insults somebody"}[key]
        expert = [click("Moderation"), remove[key], ACCEPT]
        goal = scene.say(f"You are a moderator. Of the reported posts, remove the one that {what}, and no other.",
                         f"One of the reported posts {what}: remove it. The others can wait.")  # fmt: skip
        checks = [scene.shows(gone, mark[key], lacking=[mark[other] for other in others])]
        turns = [remove[others[0]], DISMISS, dismiss[key], click("Rules"), remove[others[1]], BACK]
        names = [authors[other].name for other in others]
        return scene.draft(f"{goal} Finish with the name of its author.", expert, turns, checks, authors[key].name,
                           [*names, people[3].name], 13)  # fmt: skip
    judge = [remove["advert"], ACCEPT, remove["insult"], ACCEPT, dismiss["harmless"]]
    checks = [
        scene.shows(gone, mark["advert"], mark["insult"], lacking=[mark["harmless"]]),
        scene.shows(kept, mark["harmless"], lacking=[mark["advert"], mark["insult"]]),
    ]
    turns = [dismiss["advert"], remove["harmless"], dismiss["insult"]]
    author = authors["advert"]
    rules = "Remove advertising and insults, and dismiss the report of what is neither."
    row = next(row for row in scene.rows("forum", "users") if row["username"] == author.username)
    cities = [r["city"] for r in scene.rows("forum", "users") if r["city"] != row["city"]]
    if level == 2:
        expert = [click("Moderation"), *judge, click("Members"), click(author.name)]
        instruction = (
            f"You are a moderator with three reports to handle. {rules} Finish with the city of the member whose"
            " advertising you removed, which stands in the profile."
        )
        scene.need(len(set(cities)) > 2)
        turns += [click(authors["insult"].name), DISMISS]
        return scene.draft(instruction, expert, turns, checks, row["city"], scene.mixed(sorted(set(cities))), 14)
    title = titles["harmless"]
    board = next(BOARDS[plant.board][0] for plant in plants if title.startswith(plant.name))
    wrong_board = scene.pick([name for name, _ in BOARDS.values() if name not in (board, "Tools")])
    expert = [
        click("Moderation"),
        *judge,
        click("Boards"),
        click("Tools"),
        click(title),
        choose("Move to", board),
        press("Move thread"),
        press("Close thread"),
    ]
    slug = next(slug for slug, (name, _) in BOARDS.items() if name == board)
    checks.append(scene.shows(go(f"forum/boards/{slug}"), rf'link "{title}"[^\n]*\n(?:(?!- cell\b).)*\(closed\)'))
    instruction = (
        f"You are a moderator with three reports to handle. {rules} The thread of the harmless post stands on a board"
        " where it does not belong: move it to the board of what it is about, and close it. Finish with the name of the"
        " member who advertised."
    )
    turns += [choose("Move to", wrong_board), press("Pin thread")]
    return scene.draft(instruction, expert, turns, checks, author.name,
                       [authors["insult"].name, authors["harmless"].name, people[3].name], 16)  # fmt: skip
