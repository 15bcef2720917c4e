"""Turn texts into counts of words."""

from filterkit.plugin import offer

from .stage import Words

filterkit_stages = offer(Words)
