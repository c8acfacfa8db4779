"""What an agent gets for a step: its reward and its info, from what the world answered and the checks found."""

from __future__ import annotations

from agentworld_gym.core.checks.checks import score
from agentworld_gym.core.checks.collateral import score_with_collateral
from agentworld_gym.core.checks.probes import ASKED
from agentworld_gym.core.contracts import ActionKind, Failure, Observation, Usage
from agentworld_gym.core.domain.spec import RewardSpec
from agentworld_gym.envs.episodes.checking import is_solved
from agentworld_gym.envs.episodes.episode import Info, no_tokens
from agentworld_gym.envs.episodes.step import EpisodeStep, Moment, Transition

FREE_PLAY = "free play: the task tests nothing"
"""Why there is no success."""


def transition_of(step: EpisodeStep, weights: RewardSpec, fingerprint: str) -> Transition:
    """Return what the agent gets, and note in the episode what was paid and whether it is over.

    Args:
        step: The step, with what the world answered and the checks found.
        weights: The weights of the parts of a reward.
        fingerprint: The digest of the world's fingerprint.
    """
    episode, answer, results = step.episode, step.answer, step.results
    info = Info(task_id=episode.task.id, fingerprint=fingerprint, steps=episode.steps, tokens=no_tokens())
    answered = isinstance(answer, Observation) or step.action.kind is ActionKind.ASK
    if (spent := step.said or answer) is not None:
        info["tokens"] = spent.spent.as_dict()
    if isinstance(answer, Observation):
        if answer.offers is not None:
            info["admissible"] = list(answer.offers)
        if answer.repairs:
            info["repairs"] = answer.repairs
        if answer.confidence is not None:
            info["confidence"] = answer.confidence
        if answer.source is not None:
            info["source"] = answer.source.value
    if step.action.error is not None:
        info["action_error"] = step.action.error
    if step.action.written is not None:
        info["written"] = step.action.written
    if episode.tolerated:
        info["tolerated"] = episode.tolerated
    if results is not None and results.usage != Usage():
        info["check_tokens"] = results.usage.as_dict()
    if results is not None and results.answers.keys() - {ASKED}:
        info["probes"] = {ASKED: 0, **results.answers}
    failure = answer if isinstance(answer, Failure) else results.failure if results else None
    if failure is not None:
        info["failure"] = failure.as_dict()
        episode.over = step.moment in (Moment.FINISH, Moment.END)
        return Transition(episode.observation, 0.0, False, True, info, answered)
    parts = {"step_cost": 0.0 - weights.step_cost / episode.agents}  # It is never -0.0.
    solved = False
    verdict = answer.verdict if isinstance(answer, Observation) else None
    if verdict is not None:
        parts["environment"] = verdict.reward
        episode.won = episode.won if verdict.success is None else verdict.success
    if results is not None:
        reached = score(episode.task, results.passed)
        if results.collateral is not None:
            info["collateral"] = list(results.collateral)
            reached = min(reached, score_with_collateral(episode.task)) if results.collateral else reached
        parts["checks"] = weights.checks * (reached - episode.paid)
        episode.paid = reached
        solved = is_solved(episode.task, reached) and not results.collateral
        if results.rubric is not None:
            parts["rubric"] = weights.rubric * results.rubric
        info["score"] = reached
        if solved or step.moment is not Moment.STEP:
            info["success"] = solved
    if not episode.task.success:
        if episode.won is not None and (episode.won or step.moment is not Moment.STEP):
            info["success"] = episode.won
        elif step.moment is not Moment.STEP:
            info["untested"] = FREE_PLAY
    info["reward_parts"] = parts
    terminated = step.moment is Moment.FINISH or (solved and step.moment is Moment.STEP)
    truncated = step.moment is Moment.END
    episode.over = terminated or truncated
    return Transition(episode.observation, sum(parts.values()), terminated, truncated, info, answered)
