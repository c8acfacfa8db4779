"""Finds the packages of the code; all else stands in setup.cfg."""

from setuptools import find_packages, setup

# The two data folders lie at the top level of the checkout and become packages of the wheel.
DATA = ["agentworld_gym.domain_specs", "agentworld_gym.prompts"]

setup(packages=[*find_packages(include=["agentworld_gym", "agentworld_gym.*"]), *DATA])
