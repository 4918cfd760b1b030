"""Seeing a backward pass: the story and the ledger are data; text, pictures and pages read them."""

from .following import following as following
from .ledger import Ledger as Ledger
from .ledger import ledger as ledger
from .notebook import value_bundle as value_bundle
from .printing import explain as explain
from .reading import story as story
from .story import Story as Story
from .thermometer import Thermometer as Thermometer
from .thermometer import thermometer as thermometer
