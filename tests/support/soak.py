"""Whether tests run in their long form (`make soak`, BARNABAS_SOAK=1) or in the short one (CI).

The short form has fewer seeds, rounds and kills; it checks the same properties.
"""

import os

SOAK = bool(os.environ.get("BARNABAS_SOAK"))
