"""Your own phone: a device or an emulator behind `adb`, as the ground truth."""

from agentworld_gym.domains.android.live.engine import PhoneEngine, open_live

__all__ = ["PhoneEngine", "open_live"]
