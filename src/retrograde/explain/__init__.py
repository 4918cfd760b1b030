"""Seeing a backward pass: the story and the ledger are data; text, pictures and pages read them."""

from .reading import story as story
from .story import Story as Story
