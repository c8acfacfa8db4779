from .agents.policies.playing import (
    FunctionPolicy as FunctionPolicy,
    play as play,
)
from .core.contracts import (
    Action as Action,
    ChatRequest as ChatRequest,
    Completion as Completion,
    Failure as Failure,
    FailureKind as FailureKind,
    Generator as Generator,
    Observation as Observation,
    Session as Session,
    Usage as Usage,
    World as World,
)
from .core.domain.sampling import (
    Sampling as Sampling,
)
from .core.domain.spec import (
    DomainSpec as DomainSpec,
    load_spec as load_spec,
)
from .core.domain.task import (
    Check as Check,
    Expect as Expect,
    Task as Task,
)
from .base.errors import (
    AgentWorldError as AgentWorldError,
    ClosedError as ClosedError,
    FingerprintMismatch as FingerprintMismatch,
    GeneratorError as GeneratorError,
    RecordingError as RecordingError,
    SpecError as SpecError,
    TraceError as TraceError,
    UnknownOption as UnknownOption,
    WorldNotConfigured as WorldNotConfigured,
)
from .base.fingerprint import (
    Fingerprint as Fingerprint,
    Part as Part,
)
from .envs.options import (
    EnvOptions as EnvOptions,
)
from .llm.judging.rubric import (
    JudgedEpisode as JudgedEpisode,
)
from .llm.prompting.agent_prompt import (
    agent_prompt as agent_prompt,
)
from .core.registration import (
    ENV_IDS as ENV_IDS,
    Domain as Domain,
    register_domain as register_domain,
)
from .worlds.options import (
    LanguageOptions as LanguageOptions,
)
from .worlds.registry import (
    register_world as register_world,
)
from .worlds.scripted import (
    ScriptedWorld as ScriptedWorld,
)

__version__: str
