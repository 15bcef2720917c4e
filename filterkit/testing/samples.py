"""Small relations with every kind of attribute and every edge case, on which the kit tries plugins."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from filterkit.api import read
from filterkit.data.batch import Batch

SAMPLES: dict[str, str] = {
    "dense-two-classes": """@relation s
@attribute a numeric
@attribute b numeric
@attribute same numeric
@attribute class {no,yes}
@data
1,0.5,3,no
2,-0.5,3,no
2,0.25,3,yes
4,-1.5,3,yes
0,0,3,no
7,2.5,3,yes
1,-0.5,3,no
""",
    "dense-three-classes": """@relation s
@attribute class {x,y,z}
@attribute a numeric
@attribute b numeric
@data
x,1,10
y,2,20
z,3,10
x,1,30
y,5,20
z,3,0
""",
    "sparse-two-classes": """@relation s
@attribute u numeric
@attribute v numeric
@attribute w numeric
@attribute every numeric
@attribute never numeric
@attribute class {no,yes}
@data
{0 1,3 2}
{0 2,1 1,3 1,5 yes}
{3 4,5 yes}
{2 3,3 1}
{1 2,2 1,3 1,5 yes}
{0 1,3 3,5 ?}
""",
    "sparse-many-classes": """@relation s
@attribute u numeric
@attribute v numeric
@attribute w numeric
@attribute class {a,b,c,unused}
@data
{0 1,1 2}
{1 1,3 b}
{0 3,2 -1.5,3 c}
{2 1,3 b}
{}
{0 1,2 2,3 c}
""",
    "all-kinds": """@relation s
@attribute n numeric
@attribute c {red,'dark green',blue}
@attribute s string
@attribute d date yyyy-MM-dd
@attribute bag relational
  @attribute k numeric
@end bag
@attribute empty numeric
@attribute class {no,yes}
@data
1,red,'a text',2001-02-03,'1\\n2',?,no
?,'dark green',?,?,?,?,yes
3,?,b,2001-02-04,'3',?,yes,{2.5}
3,red,'c,d',2002-01-01,'',?,no,{0.1}
-2,blue,e,1999-12-31,'4',?,?,{3}
8,red,f,1970-01-01,'5',?,yes,{0}
""",
    "all-kinds-sparse": """@relation s
@attribute n numeric
@attribute c {red,green,blue}
@attribute s string
@attribute class {no,yes}
@data
{0 1,2 first}
{1 green,2 'a text',3 yes}
{0 ?,1 ?,2 ?},{2.5}
{0 4,2 b,3 yes},{0.1}
{}
""",
    "many-digits": """@relation s
@attribute p numeric
@attribute q numeric
@attribute r numeric
@attribute s numeric
@attribute t numeric
@attribute class {no,yes}
@data
0.30000000000000004,-1.4142135623730951,2.718281828459045,0.3333333333333333,-1.5e-07,no
1.1,1.7320508075688772,-0.5772156649015329,0.1,3.3000000000000003,yes
-0.7000000000000001,2.23606797749979,1.618033988749895,0.6666666666666666,1e-05,no
2.2,-2.6457513110645907,0.6931471805599453,-0.14285714285714285,12345.678901234567,yes
0.9999999999999999,3.3166247903554,-1.2020569031595942,0.09090909090909091,0.2,yes
-3.3,3.605551275463989,0.915965594177219,-0.07692307692307693,-98.76543210987654,no
""",
    "zeros-and-ones": """@relation s
@attribute u numeric
@attribute v numeric
@attribute w numeric
@attribute class {no,yes}
@data
{0 1,2 1}
{1 1,3 yes},{2}
{0 1,1 1,3 yes}
{2 1}
{}
{1 1,2 1,3 yes},{0.5}
""",
    "constant": """@relation s
@attribute same numeric
@attribute missing numeric
@attribute label {p,q}
@attribute class {no,yes}
@data
3,?,q,no
3,?,q,yes
3,?,q,no
""",
    "multi-label": """@relation 's: -C 2'
@attribute sport {0,1}
@attribute trade {0,1}
@attribute ball numeric
@attribute bank numeric
@data
{0 1,2 3}
{1 1,3 1}
{0 1,1 1,2 1,3 2}
{}
{0 1,2 1}
""",
    "no-rows": """@relation s
@attribute a numeric
@attribute class {no,yes}
@data
""",
    "one-row": """@relation s
@attribute a numeric
@attribute b numeric
@attribute class {no,yes}
@data
1,0,yes
""",
    "one-class": """@relation s
@attribute a numeric
@attribute b {p,q}
@attribute class {no,yes}
@data
1,p,yes
2,q,yes
2,p,yes
""",
    "no-class": """@relation s
@attribute a numeric
@attribute b numeric
@data
1,2
3,4
0,-1
""",
    "no-features": """@relation s
@attribute s string
@attribute class {no,yes}
@data
x,yes
y,no
""",
}


def sample(name: str) -> Batch:
    """Return the sample `name` of `SAMPLES` as a batch."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name + ".arff")
        Path(path).write_text(SAMPLES[name], "utf-8")
        return read(path, class_="first" if name == "dense-three-classes" else None)
