"""Shape features (Forman, Scholz and Rajaram, KDD 2009)."""

from filterkit.plugin import offer

from .stage import Shape

filterkit_stages = offer(Shape)
