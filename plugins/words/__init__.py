"""Turn texts into counts of words."""

from filterkit.plugin import offer

from .stage import CountWords

filterkit_stages = offer(CountWords)
