"""filterkit: a streaming ARFF filter chain.

>>> import filterkit
>>> data = filterkit.read("arff_samples/iris.arff")
>>> chain = filterkit.chain("shape bns l2").fit(data)
>>> chain.transform(data).X.shape
(150, 12)
"""

from filterkit._lazy import make_lazy_attributes
from filterkit._version import __version__ as __version__

__getattr__, __dir__, __all__ = make_lazy_attributes(__name__, __file__)
