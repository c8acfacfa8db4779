"""`agentworld eval bench`: predictions of recorded turns, with a judge and without."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from agentworld_gym.base.errors import AgentWorldError, SpecError
from agentworld_gym.cli.common import (
    FAILED,
    SamplingOption,
    SeedOption,
    TensorBoardOption,
    WandbOption,
    complain,
    examples,
    pair,
    stderr,
    stdout,
)
from agentworld_gym.cli.eval.output import token_prices
from agentworld_gym.cli.outputs import writable

if TYPE_CHECKING:
    from agentworld_gym.core.domain.sampling import Sampling
    from agentworld_gym.evaluation.bench.aggregate import TokenPrices
    from agentworld_gym.evaluation.bench.runner import BenchRun, Progress
    from agentworld_gym.evaluation.results.bench import Averages, BenchResult
    from agentworld_gym.llm.generators.handles import Lease
    from agentworld_gym.llm.prompting.official import OfficialPrompts

PAGE = "result.html"
MEASURES = ("valid", "exact", "deterministic", "similarity", "tree")
FAILED_ROWS = 0.05
"""The share of failed rows above which a run ends as a failed one."""

UNASKED = {"top_p": "top_p", "thinking": "chat_template_kwargs"}
"""Fields of a request that the official run does not send, with the name in `--sampling` that asks for them."""


def bench(
    rows: Annotated[
        list[Path],
        typer.Argument(
            metavar="ROWS...",
            help="Files of AgentWorldBench or of `agentworld collect`, or folders that hold some; of a "
            "folder its *_test.jsonl, if there are any.",
        ),
    ],
    model: Annotated[
        str, typer.Option("--model", help="Who predicts: a server's URL, vllm:MODEL, transformers:DIR or tiny-search.")
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            file_okay=False,
            help="The folder of the run, which belongs to one model, one sampling and these rows; an old one goes on.",
        ),
    ],
    judge: Annotated[
        str,
        typer.Option(
            "--judge",
            help="Who scores: none, same (the model itself), or a model as in --model. Another judge "
            "scores the same predictions.",
        ),
    ] = "none",
    turns: Annotated[
        Literal["last", "all", "drawn"],
        typer.Option(
            "--turns",
            help="Which turns of a recorded session: the last one, all, or one that is drawn. A row of "
            "AgentWorldBench stands for its own turn.",
        ),
    ] = "last",
    domains: Annotated[
        list[str] | None, typer.Option("--domain", help="Only rows of this domain; may be given several times.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="At most so many turns of each domain, the first ones.")
    ] = None,
    seed: SeedOption = 0,
    concurrency: Annotated[
        int, typer.Option("--concurrency", min=1, help="Requests open at once, for the model and for the judge.")
    ] = 256,
    deadline: Annotated[
        float, typer.Option("--deadline", min=1, help="Seconds after which a server's answer is a failure.")
    ] = 3600.0,
    retry_failed: Annotated[
        bool,
        typer.Option(
            "--retry-failed",
            help="Ask again for the rows that failed, under other seeds. With more than 5 % failed the exit code is 1.",
        ),
    ] = False,
    sampling: SamplingOption = None,
    judge_sampling: Annotated[
        list[str] | None,
        typer.Option("--judge-sampling", metavar="KEY=VALUE", help="How the judge samples; repeatable."),
    ] = None,
    judge_prompts: Annotated[
        str | None,
        typer.Option(
            "--judge-prompts",
            metavar="official:DIR",
            help="The judge prompts of Qwen-AgentWorld, `official` from the cache or `official:DIR` from "
            "their folder; without a judge they are refused.",
        ),
    ] = None,
    generator: Annotated[
        list[str] | None,
        typer.Option(
            "--generator",
            metavar="KEY=VALUE",
            help="An option of the model's engine or of the server's client, such as max_model_len=8192, "
            'or extra_body={"seed":null} for servers that refuse that field; repeatable. With --judge '
            "same it is for both.",
        ),
    ] = None,
    judge_generator: Annotated[
        list[str] | None,
        typer.Option(
            "--judge-generator",
            metavar="KEY=VALUE",
            help="An option of the judge's engine or client, such as api_key_env=JUDGE_KEY; repeatable.",
        ),
    ] = None,
    price: Annotated[
        str | None,
        typer.Option(
            "--price", metavar="IN,OUT", help="Dollars for a million tokens of the prompt and of the completion."
        ),
    ] = None,
    judge_price: Annotated[
        str | None,
        typer.Option(
            "--judge-price", metavar="IN,OUT", help="Dollars for a million tokens of the judge's prompt and completion."
        ),
    ] = None,
    tensorboard: TensorBoardOption = None,
    wandb: WandbOption = None,
) -> None:
    """Let a model predict recorded turns: AgentWorldBench's files, or what `collect` wrote.

    It prints a table, and writes result.json, its page and all answers. The same command goes on after a stop, a kill
    included. Every run has the track without a judge; another judge can
    score the same predictions later.
    """
    from agentworld_gym.evaluation.bench.runner import RESULT, BenchRun, Model, check_folder
    from agentworld_gym.evaluation.report import write_page
    from agentworld_gym.llm.bundled_models import TINY, named_model
    from agentworld_gym.llm.judging.bench_rows import BenchRows, files_of
    from agentworld_gym.llm.judging.judge import Judge

    only = frozenset(domains) if domains else None
    chosen = BenchRows(files_of(rows), turns, only, limit, seed)
    total = sum(chosen.counts.values())
    if model == TINY:
        model = _writer(chosen.counts)
    if (bundled := named_model(model)) is not None:
        chosen = replace(chosen, tiny=bundled)
    if bundled is not None and chosen.rendered:
        said = f"{chosen.rendered} sessions rendered anew in {bundled.profile} prompts, which {bundled.name} reads"
        stderr().print(said, markup=False, highlight=False, soft_wrap=True)
    prices = {
        who: token_prices(text, option)
        for who, text, option in (("model", price, "--price"), ("judge", judge_price, "--judge-price"))
        if text
    }
    if judge == "same" and price and not judge_price:
        prices["judge"] = prices["model"]
    sampled = _sampling(sampling, "--sampling", {} if bundled is None else bundled.sampling)
    check_folder(out, chosen, sampled)
    official = _official(judge_prompts, judge, chosen.counts)
    for name in (RESULT, PAGE):
        writable(out / name, "--out")
    with ExitStack() as stack:
        open_with = partial(_open, concurrency=concurrency, deadline=deadline)
        engine = stack.enter_context(closing(open_with(model, ("--model", "--generator"), generator, sampling)))
        predictor = Model(engine, sampled, model, _overlaps(model))
        scorer = None
        if judge != "none":
            named = model if judge == "same" else judge
            # A judge that is the model shares its engine, because equal handles and options open one engine.
            own = generator if judge == "same" else judge_generator
            judging = stack.enter_context(
                closing(open_with(named, ("--judge", "--judge-generator"), own, judge_sampling))
            )
            verdicts = _sampling(judge_sampling, "--judge-sampling")
            scorer = Judge(judging, verdicts, handle=named, official=official)
        run = BenchRun(
            chosen,
            predictor,
            scorer,
            out,
            concurrency=concurrency,
            retry_failed=retry_failed,
            judge_overlap=scorer is None or _overlaps(scorer.handle),
            prices=prices,  # type: ignore[arg-type]
        )
        stack.enter_context(closing(run))
        result = _run(run, total, prices, tensorboard, wandb)
    _tables(result)
    found, page = out / RESULT, out / PAGE
    write_page(page, [result])
    stdout().print(f"{found}, {page}", markup=False, highlight=False, soft_wrap=True)
    failed, count = sum(_failures(result).values()), result.rows.count
    if failed > FAILED_ROWS * count:
        again = "the means say little; --retry-failed asks again for those that did"
        complain(AgentWorldError(f"{failed} of {count} rows failed, more than {FAILED_ROWS:.0%}: {again}"))
        raise typer.Exit(FAILED)


def _failures(result: BenchResult) -> dict[str, int]:
    """Say how many rows failed, by stage and kind."""
    if result.judged is not None:
        return result.judged.failures
    return {f"prediction/{kind}": number for kind, number in result.rows.failures.items()}


def _run(
    run: BenchRun, total: int, prices: dict[str, TokenPrices], tensorboard: Path | None, wandb: str | None
) -> BenchResult:
    """Run the benchmark and show what it costs; rows that were over before do not enter the time left."""
    from agentworld_gym.agents.progress import live

    with live("predicting", total, tensorboard=tensorboard, wandb=wandb) as tally:
        tally.unit = "rows"

        def show(state: Progress) -> None:
            used = {"model": state.model, "judge": state.judge}
            tokens = (state.model + state.judge).total
            cost = sum(prices[who].of(usage) for who, usage in used.items() if who in prices)
            if tokens is None:
                tally.note = "tokens unknown"
            else:
                tally.note = f"{tokens / 1e6:.2f}M tokens" + (f", ${cost:.2f}" if prices else "")
            tally.reached(state.done, tokens or 0, {"failed": state.failed})

        return run.run(show)


def _open(
    handle: str,
    named: tuple[str, str],
    given: list[str] | None,
    sampling: list[str] | None,
    *,
    concurrency: int,
    deadline: float,
) -> Lease:
    """Open a party's generator; `named` are the options that its handle and `given` came from.

    A server is sent what the official run sends, a seed, and whatever else `sampling` asks for.
    """
    from agentworld_gym.llm.generators import open_generator

    chosen = dict(pair(text, named[1]) for text in given or ())
    if _overlaps(handle):
        extra = chosen.get("extra_body") or {}
        if not isinstance(extra, dict):
            raise SpecError("command line", f"{named[1]} extra_body", extra, 'an object, such as {"user":"me"}')
        asked = {text.partition("=")[0] for text in sampling or ()}
        unasked = {field: None for key, field in UNASKED.items() if key not in asked}
        chosen = {"concurrency": concurrency, "deadline_s": deadline, **chosen, "extra_body": {**unasked, **extra}}
    return open_generator(_address(handle, named[0]), **chosen)


def _address(handle: str, option: str) -> str:
    """Return the handle of a generator; bundled models have names."""
    from agentworld_gym.llm.bundled_models import TINY, bundled_models

    models = bundled_models()
    if handle == TINY:
        raise SpecError("command line", option, handle, "a model; no small one was trained to judge")
    return f"transformers:{models[handle].folder}" if handle in models else handle


def _writer(domains: Iterable[str]) -> str:
    """Return the name of the bundled model that writes observations in full in some domains, as rows hold them.

    Raises:
        SpecError: There is none; most small models write the change of a structured state, which rows do not hold.
    """
    from agentworld_gym.llm.bundled_models import TINY, bundled_models

    writers = [model for model in bundled_models().values() if "state" not in model.forms.values()]
    for model in writers:
        if set(domains) <= set(model.domains):
            return model.name
    known = ", ".join(f"{model.name} for {', '.join(model.domains)}" for model in writers) or "none"
    expected = f"a model that writes the observations of {', '.join(domains)} in full; of the bundled ones do: {known}"
    raise SpecError("command line", "--model", TINY, expected)


def _overlaps(handle: str) -> bool:
    """Whether requests may be sent while others are open: to servers they may; engines in this process want a whole
    wave.
    """
    return handle.startswith(("http://", "https://"))


def _sampling(given: list[str] | None, option: str, preferred: Mapping[str, Any] = MappingProxyType({})) -> Sampling:
    """Merge the official run's sampling, what the model prefers, and over both what the user asks for."""
    from agentworld_gym.base.documents.strict import validated
    from agentworld_gym.core.domain.spec import SamplingSpec
    from agentworld_gym.llm.judging.judge import BENCH_SAMPLING

    fields = {key: value for key, value in BENCH_SAMPLING.as_dict().items() if key in SamplingSpec.model_fields}
    fields |= {**preferred, **dict(pair(text, option) for text in given or ())}
    return validated(SamplingSpec, fields, f"command line {option}").sampling()


def _official(given: str | None, judge: str, domains: Iterable[str]) -> OfficialPrompts | None:
    """Return the official prompts that the user named, which have a judge prompt for each domain of the rows."""
    from agentworld_gym.llm.prompting.official import OfficialPrompts

    official = OfficialPrompts.named(given)
    if given is not None and official is None:
        raise SpecError("command line", "--judge-prompts", given, "official:DIR, or official")
    if official is not None and judge == "none":
        raise SpecError("command line", "--judge-prompts", given, "--judge too: there is no judge to read them")
    if official is not None:
        for domain in domains:
            official.judge(domain)
    return official


def _tables(result: BenchResult) -> None:
    from rich.box import SIMPLE
    from rich.table import Table

    table = Table(box=SIMPLE, pad_edge=False)
    table.add_column("domain")
    judged = result.judged
    names = [name for name in MEASURES if name in result.matched.micro.measures]
    for name in ("turns", *(["score"] if judged else []), *names):
        table.add_column(name, justify="right")
    counts = {**result.rows.domains, "micro": result.rows.count, "macro": result.rows.count}
    for domain, count in counts.items():
        part = getattr(result.matched, domain) if domain in ("micro", "macro") else result.matched.domains[domain]
        cells = [domain, str(count)]
        if judged:
            scores = getattr(judged, domain) if domain in ("micro", "macro") else judged.domains[domain]
            cells.append(_cell(scores, 1))
        cells += [_cell(part.measures[name], 3) if name in part.measures else "-" for name in names]
        table.add_row(*cells, end_section=domain == list(result.rows.domains)[-1])
    stdout().print(table)
    scores = judged.domains if judged else {name: one.measures["valid"] for name, one in result.matched.domains.items()}
    if lost := [domain for domain, one in scores.items() if one.excluded is None]:
        said = f"{len(scores) - len(lost)} of {len(scores)} domains; every row of {', '.join(lost)} failed"
        stdout().print(f"macro is the mean of {said}.", markup=False)
    if failures := _failures(result):
        said = ", ".join(f"{count} {kind}" for kind, count in failures.items())
        stdout().print(f"Failed: {said}. In brackets: with these as zero. --retry-failed asks again.", markup=False)


def _cell(averages: Averages, digits: int) -> str:
    """Write a mean without failed rows, and in brackets with these as zero where that differs."""
    zero = f"{averages.as_zero.share:.{digits}f}"
    if averages.excluded is None:
        return f"- ({zero})"
    share = f"{averages.excluded.share:.{digits}f}"
    return share if averages.excluded.count == averages.as_zero.count else f"{share} ({zero})"


def register(group: typer.Typer) -> None:
    """Add the command to `agentworld eval`."""
    group.command(
        epilog=examples(
            "agentworld eval bench data/test.jsonl --model tiny-search --domain search --turns all --out runs/bench",
            "agentworld eval bench AgentWorldBench --model http://localhost:8000/v1 --judge http://localhost:8001/v1 "
            "--price 0.3,1.2 --out runs/official",
        )
    )(bench)
